// Conjugate gradients, the inner solver of Newton's method.
#pragma once

#include <functional>

#include "covshift/learn/function.hpp"

namespace covshift {

struct GradientLimits {
  /// The norm sqrt(r'P r) of the residual to stop at, given that of the right-hand side.
  std::function<double(double)> enough;
  std::size_t products = 500;
  std::function<bool()> interrupted;  ///< asked before every product
};

/// step = H^-1 residual, about; `residual` is what is left. False if the products did not suffice.
bool conjugate_gradients(Function& function, const Preconditioner& preconditioner,
                         const GradientLimits& limits, RowMatrix& residual, RowMatrix& step);

}  // namespace covshift
