// Reading data files: delimited text, svmlight, ARFF, NPY, each also packed with gzip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/data/encoding.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

enum class HeaderLine {
  detect,  ///< by comparing the first line with those below it, and with the names expected
  present,
  absent,
};
template <>
inline constexpr auto names<HeaderLine> = std::to_array<Named<HeaderLine>>(
    {{HeaderLine::detect, "auto"}, {HeaderLine::present, "yes"}, {HeaderLine::absent, "no"}});

struct ReadOptions {
  char delimiter = '\0';  ///< delimited text; '\0': detected; ' ': runs of blanks
  HeaderLine header = HeaderLine::detect;
  Encoding encoding = Encoding::detect;
  /// Columns to keep as text even if all their values are numbers, such as class labels.
  std::vector<std::string> text_columns;
  /// Columns that the file should have, if known from another file: with them all, the first line
  /// is a header.
  std::vector<std::string> expected;
  /// svmlight: index of the first feature, 0 or 1; none: 0 if index 0 occurs, otherwise 1.
  std::optional<int> index_base;
  /// Text in memory at a time, per thread. Does not affect the result.
  std::size_t chunk_bytes = std::size_t{4} << 20U;
  int threads = 0;  ///< 0: all cores

  [[nodiscard]] bool is_text(const std::string& column) const {
    return std::find(text_columns.begin(), text_columns.end(), column) != text_columns.end();
  }
};

/// Reads a whole file, or standard input ("-", as delimited text): .svm, .svmlight and .libsvm,
/// .arff, .npy, anything else as delimited text (each also .gz). A column is numeric if all of its
/// fields are numbers or missing (empty, NA, NaN, nan, ?), else categorical. Unquoted fields are
/// trimmed; a quoted field of a categorical column is missing only if empty; blank lines are
/// skipped. Columns without a name are c1, c2, ... Errors name "file:line:field".
Table read_table(const std::string& path, const ReadOptions& options = {});
/// "CSV (.gz), svmlight, ARFF or NPY".
std::string format_names();

}  // namespace covshift
