// U'U = H for symmetric positive definite matrices, through the kernels.
#pragma once

#include <cstddef>

#include "covshift/base/large_vector.hpp"

namespace covshift {

/// An n x n matrix that can be filled and factored repeatedly.
class Cholesky {
 public:
  explicit Cholesky(std::size_t n);
  [[nodiscard]] std::size_t size() const { return n_; }
  /// Row i of H; only the upper triangle is used.
  double* row(std::size_t i) { return h_.data() + i * pitch_; }
  [[nodiscard]] const double* row(std::size_t i) const { return h_.data() + i * pitch_; }
  /// Replaces H by U; false if it is not numerically positive definite. The result does not depend
  /// on the number of threads.
  bool factor(int threads);
  /// x = H^-1 x
  void solve(double* x) const;

 private:
  std::size_t n_;
  std::size_t pitch_;
  LargeVector h_;
};

}  // namespace covshift
