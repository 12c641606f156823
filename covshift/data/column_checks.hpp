// What looks wrong with the columns of a training table, in words and with a remedy.
#pragma once

#include <string>
#include <vector>

#include "covshift/data/encoder.hpp"
#include "covshift/data/summary.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

/// One sentence for each kind of doubt, about the columns that became features of `encoder` and the
/// label: identifiers, row numbers, dates and numbers that were read as text, columns
/// without values, categories that need much memory, a label that is a quantity or whose classes
/// differ in capitals only. Remedies name the program's flags.
std::vector<std::string> column_warnings(const Summary& train, const Encoder& encoder);
/// The same about classes that are not a column of the table.
std::vector<std::string> class_warnings(const Summary& train, const std::string& label,
                                        const std::vector<std::string>& classes);

/// Features with the same value in every training row: nothing can be learnt about them.
struct ConstantColumns {
  struct Column {
    std::string name;
    std::size_t place = 0;  ///< among the columns
    bool is_text = false;
    double number = 0;
    std::string text;
  };
  /// Those of them that have other values in some rows, and in how many of these.
  struct Varying {
    std::vector<std::string> columns;
    std::size_t rows = 0;
    /// Of the rows that follow.
    void append(const Varying& next);
    /// `all`: the number of rows.
    [[nodiscard]] std::string warning(const std::string& file, std::size_t all) const;
  };

  ConstantColumns() = default;
  explicit ConstantColumns(const Summary& train);
  [[nodiscard]] Varying varying_in(const Table& table) const;
  /// Of a matrix with the columns of training.
  [[nodiscard]] Varying varying_in(const MatrixView& x) const;
  /// About those that a target (null: none) does not vary; empty if there are none. A column that
  /// varies there should not be left out, for its rows are unlike those of training. A meeting of
  /// all holders.
  [[nodiscard]] std::string warning(const Varying* target, const Reducer& reducer) const;

  std::string source;  ///< of the training rows
  std::vector<Column> columns;
};

}  // namespace covshift
