// Principal components.
#pragma once

#include <cstddef>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Projection on the directions of largest variance. Exact, by an eigendecomposition of the inner
/// products of the columns or the rows, whichever are fewer (at most some thousands). Data are
/// centred row by row, without a copy; sparse data stay sparse.
class Pca {
 public:
  /// `components` is at most min(rows, cols). The largest entry of each direction by magnitude is
  /// positive.
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
