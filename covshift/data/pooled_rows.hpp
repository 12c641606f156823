// Two samples as one matrix.
#pragma once

#include <optional>
#include <utility>

#include "covshift/data/rows.hpp"

namespace covshift {

/// Some rows of one matrix, then some of another, through the same columns; dense ones less a
/// centre. They stay where they are and are read when they are needed.
class PooledRows {
 public:
  /// Rows of a matrix; `taken`: their numbers, ascending (none: all).
  struct Part {
    Rows rows;
    std::optional<std::vector<std::size_t>> taken;

    [[nodiscard]] std::size_t size() const { return taken ? taken->size() : rows.size(); }
    [[nodiscard]] std::size_t row(std::size_t k) const { return taken ? (*taken)[k] : k; }
  };
  PooledRows(Part first, Part second)
      : first_(std::move(first)), second_(std::move(second)), centre_(first_.rows.dims()) {}

  [[nodiscard]] const Part& first() const { return first_; }
  [[nodiscard]] const Part& second() const { return second_; }
  [[nodiscard]] std::size_t size() const { return first_.size() + second_.size(); }
  [[nodiscard]] std::size_t dims() const { return centre_.size(); }
  /// What copy() subtracts from every row: 0 at first.
  [[nodiscard]] const std::vector<double>& centre() const { return centre_; }
  void set_centre(std::vector<double> centre) { centre_ = std::move(centre); }

  /// The matrix that row i is in, and its number there.
  struct Place {
    const Rows* rows;
    std::size_t row;
  };
  [[nodiscard]] Place at(std::size_t i) const {
    const bool second = i >= first_.size();
    const Part& part = second ? second_ : first_;
    const std::size_t k = second ? i - first_.size() : i;
    return {&part.rows, part.row(k)};
  }
  /// Row i less the centre, as dims() numbers.
  void copy(std::size_t i, double* to) const;

 private:
  Part first_;
  Part second_;
  std::vector<double> centre_;
};

}  // namespace covshift
