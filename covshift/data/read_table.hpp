// Reading data files: delimited text, svmlight, ARFF, NPY, each also packed with gzip.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "covshift/data/table.hpp"

namespace covshift {

enum class HeaderLine {
  detect,  ///< a first row without numbers and missing values is one
  present,
  absent,
};

struct ReadOptions {
  char delimiter = '\0';  ///< delimited text; '\0' detects it, ' ' means runs of blanks
  HeaderLine header = HeaderLine::detect;
  /// Columns to keep as text even if they hold numbers only, such as class labels.
  std::vector<std::string> text_columns;
  /// svmlight: 0 or 1 for the first feature; else 0 if that index occurs, otherwise 1.
  std::optional<int> index_base;
  /// How much text is in memory at a time, for each thread. The table never depends on it.
  std::size_t chunk_bytes = std::size_t{4} << 20U;
  int threads = 0;  ///< 0: as many as the machine has
};

/// Reads a whole file: .svm, .svmlight and .libsvm, .arff, .npy, anything else as delimited text
/// (each also .gz). A column is numeric if all of its fields are numbers or missing (empty, NA,
/// NaN, nan, ?), else categorical. Fields keep no blanks around them unless quoted; a quoted field
/// is missing only if empty; blank lines are skipped. Columns without a name are c1, c2, ... Throws
/// Error with "file:line:field" for what cannot be read.
Table read_table(const std::string& path, const ReadOptions& options = {});

}  // namespace covshift
