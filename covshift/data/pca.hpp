// Principal components.
#pragma once

#include <cstddef>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Projection on the directions of largest variance. Exact: an eigendecomposition of the smaller of
/// the columns' and the rows' inner products, so that the smaller side should not exceed some
/// thousands. Data are centred on the way, never as a copy; sparse data stay sparse.
class Pca {
 public:
  /// `components` at most min(rows, cols). The sign of a direction is such that its entry of
  /// largest magnitude is positive.
  static Pca fit(const MatrixView& data, std::size_t components);

  /// Dense: a column for each component.
  [[nodiscard]] Matrix transform(const MatrixView& data) const;

  [[nodiscard]] std::size_t cols() const { return mean_.size(); }
  [[nodiscard]] std::size_t components() const { return variances_.size(); }
  [[nodiscard]] const std::vector<double>& mean() const { return mean_; }
  /// Of the training data along each component (division by rows - 1), descending.
  [[nodiscard]] const std::vector<double>& variances() const { return variances_; }
  /// Row-major: a row of cols() for each component, of length 1 and orthogonal to the others.
  [[nodiscard]] const std::vector<double>& directions() const { return directions_; }

 private:
  std::vector<double> mean_;
  std::vector<double> variances_;
  std::vector<double> directions_;
};

}  // namespace covshift
