// The potentials of a model as a linear function of the encoded columns, in the units of the data.
#pragma once

#include <string>
#include <vector>

#include "covshift/model/model.hpp"

namespace covshift {

/// psi(x)[y] = coef[y] . x + intercept[y].
struct LinearForm {
  std::size_t columns = 0;
  std::vector<double> coef;       ///< K x columns, row-major
  std::vector<double> intercept;  ///< K
};

/// Why the potentials are not linear in x, in words; empty if they are: one component, linear
/// features and r = 1.
std::string not_linear(const Model& model);

/// For a model whose potentials are linear, where no value is cut by the scaling. Throws Error
/// otherwise.
LinearForm linear_form(const Model& model);

}  // namespace covshift
