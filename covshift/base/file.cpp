#include "covshift/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

/// A temporary file that is gone unless it was put in place.
class Draft {
 public:
  explicit Draft(const std::string& path) : target_(path), name_(path + ".XXXXXX") {
    // Pipes and devices cannot be replaced by a rename, only written to.
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) fail("it is a directory");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      name_ = path;
      in_place_ = true;
      file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      file_ = ::mkstemp(name_.data());
    }
    if (file_ < 0) fail(std::strerror(errno));
  }
  ~Draft() {
    if (file_ >= 0) ::close(file_);
    if (!done_ && !in_place_ && file_ >= 0) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t n = ::write(file_, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(std::strerror(errno));
      content.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void put_in_place() {
    if (!in_place_) {
      const mode_t mask = ::umask(0);
      ::umask(mask);
      if (::fchmod(file_, 0666 & ~mask) != 0 || ::fsync(file_) != 0) fail(std::strerror(errno));
      if (::rename(name_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
    }
    done_ = true;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    fail_file("cannot write {}: {}; nothing was written", target_, why);
  }

  std::string target_;
  std::string name_;
  int file_ = -1;
  bool in_place_ = false;
  bool done_ = false;
};

}  // namespace

void write_whole(const std::string& path, std::string_view content) {
  Draft draft(path);
  draft.write(content);
  draft.put_in_place();
}

std::string read_whole(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail_file("cannot read {}: it is a directory", path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_file("cannot read {}: {}", path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace covshift
