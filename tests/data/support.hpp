// Files and error messages for the tests of data/.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/data/read_table.hpp"

namespace covshift::testing {

/// A folder that is removed after the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "covshift-data-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, std::string_view text) const {
    // A new file each time: overwriting one makes some file systems wait for the disk.
    std::filesystem::remove(path(name));
    std::ofstream out(path(name), std::ios::binary);
    out << text;
    return path(name);
  }
  std::string write_gz(const std::string& name, std::string_view text) const {
    const gzFile out = gzopen(path(name).c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The message of the Error that `body` throws, with the folder's name removed; empty if none.
template <typename Body>
std::string message_of(const Folder& folder, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string prefix = folder.path("");
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }
  return {};
}

inline std::string read_message(const Folder& folder, const std::string& path,
                                const ReadOptions& options = {}) {
  return message_of(folder, [&] { static_cast<void>(read_table(path, options)); });
}

inline Matrix dense(std::size_t rows, std::size_t cols, const std::vector<double>& values) {
  Matrix m;
  m.rows = rows;
  m.cols = cols;
  m.values.assign(values.begin(), values.end());
  return m;
}

}  // namespace covshift::testing
