// The contents of a data file, before encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Strings numbered 0, 1, ... in the order in which they first appear.
class Dictionary {
 public:
  std::int32_t code(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  [[nodiscard]] std::vector<std::string> take_levels();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> codes_;
  std::vector<std::string> levels_;
};

/// The line at which each row starts. Most rows are on consecutive lines, so only the exceptions
/// are stored.
class LineMap {
 public:
  struct Break {
    std::size_t row;
    std::size_t line;
  };
  /// Rows must come in ascending order.
  void note(std::size_t row, std::size_t line) {
    if (breaks_.empty() || line - breaks_.back().line != row - breaks_.back().row) {
      breaks_.push_back({row, line});
    }
  }
  [[nodiscard]] std::size_t line_of(std::size_t row) const;
  [[nodiscard]] const std::vector<Break>& breaks() const { return breaks_; }

 private:
  std::vector<Break> breaks_;
};

/// One named column: numbers (NaN where missing), or categories (code -1 where missing).
struct Column {
  std::string name;
  bool categorical = false;
  std::vector<double> numbers;      ///< numeric only
  std::vector<std::int32_t> codes;  ///< categorical only: positions in `levels`
  std::vector<std::string> levels;  ///< categorical only

  [[nodiscard]] bool missing(std::size_t row) const {
    return categorical ? codes[row] < 0 : numbers[row] != numbers[row];
  }
  /// The field as text, a number in its shortest spelling; empty if missing.
  [[nodiscard]] std::string text(std::size_t row) const;
};

/// The name of the label column of a format that does not name its columns (svmlight).
inline constexpr std::string_view unnamed_label = "label";

struct Table {
  std::string source;  ///< the file, for messages
  std::size_t rows = 0;
  std::vector<Column> columns;     ///< as in the file; for svmlight only the label
  std::optional<Matrix> sparse;    ///< svmlight only: the features, columns ascending in each row
  int index_base = 1;              ///< svmlight only: the index of the first feature
  LineMap lines;                   ///< empty for a binary format
  std::vector<std::string> notes;  ///< what the reader had to assume, to be shown to the user

  [[nodiscard]] const Column* find(std::string_view name) const;
  /// The column of that name. Throws Error, listing the columns, if there is none.
  [[nodiscard]] const Column& at(std::string_view name) const;
  /// "file:line:field", both from 1 (row and column of a binary file), for messages.
  [[nodiscard]] std::string where(std::size_t row, const Column& column) const;
  /// "file:line".
  [[nodiscard]] std::string where(std::size_t row) const;
};

/// The numbers of a column; throws Error, naming the first that is not finite, or nearly so.
/// `what` describes them in the message: "weight".
const std::vector<double>& finite_numbers(const Table& table, const Column& column,
                                          std::string_view what);

}  // namespace covshift
