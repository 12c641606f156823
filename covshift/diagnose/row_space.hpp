// Rows as points in a few standardised dimensions; private to diagnose/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "covshift/ratio/samples.hpp"

namespace covshift {

/// x becomes (x - mean)/deviation, column by column. More than `most_dims` columns are hashed: each
/// is added, with a random sign, to one of `most_dims` dimensions. Signs and dimensions do not
/// depend on the rows, so a test on the result is as valid as on the columns, only less powerful.
class RowSpace {
 public:
  static constexpr std::size_t most_dims = 256;

  /// A column of deviation 0 becomes 0.
  RowSpace(std::span<const double> mean, std::span<const double> deviation, std::uint64_t seed);

  [[nodiscard]] std::size_t dims() const { return offset_.size(); }
  /// How long a shift in the columns is in the dimensions, on average, in standard deviations: 1
  /// unless columns are hashed.
  [[nodiscard]] double kept() const;
  /// Row i as dims() numbers.
  template <typename T>
  void fill(const Rows& rows, std::size_t i, T* out) const {
    for (std::size_t k = 0; k < offset_.size(); ++k) out[k] = static_cast<T>(offset_[k]);
    rows.each(i, [&](std::size_t j, double value) {
      out[dim_[j]] += static_cast<T>(value * factor_[j]);
    });
  }

 private:
  std::vector<std::size_t> dim_;  // of each column
  std::vector<double> factor_;    // sign / deviation
  std::vector<double> offset_;    // of each dimension: what the means add up to
};

}  // namespace covshift
