// The paper's data sets: where they come from, whether a folder has them, and reading them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/data/matrix.hpp"

namespace covshift {

struct DatasetFile {
  std::string path;  ///< within the data folder
  std::string sha256;
};

struct DatasetSource {
  std::string name;     ///< as the program calls it
  std::string title;    ///< as the paper does
  std::string address;  ///< where to get it
  std::string remedy;   ///< how to install it in the data folder
  std::vector<DatasetFile> files;
};
/// Seed, Vertebral, Vehicle, Spam and the multilingual documents.
std::span<const DatasetSource> dataset_sources();

enum class FileState { good, missing, different };
template <>
inline constexpr auto names<FileState> =
    std::to_array<Named<FileState>>({{FileState::good, "good"},
                                     {FileState::missing, "missing"},
                                     {FileState::different, "different"}});
FileState check_file(const std::string& folder, const DatasetFile& file);

struct Dataset {
  std::string name;
  std::string title;
  Matrix features;
  std::vector<int> labels;  ///< 0 .. classes-1, in order of the classes' names
  int classes = 0;
};

/// One of the four UCI sets, every feature brought to [0, 1] over all rows, as the paper does. An
/// Error (file) that says what is missing and where to get it, or what differs.
Dataset load_dataset(const std::string& name, const std::string& folder);

/// The documents in several languages: the same rows in every view.
struct Documents {
  std::vector<std::string> languages;
  std::vector<Matrix> views;  ///< sparse
  std::vector<int> labels;
  int classes = 0;
};
Documents load_documents(const std::string& folder);

}  // namespace covshift
