// What a fit would predict for an example that it had not seen, without fitting again.
#pragma once

#include <span>
#include <vector>

#include "covshift/learn/examples.hpp"

namespace covshift {

/// Log odds of class 1 for each example by a fit without it, approximately: one Newton step from
/// the fit of all (Rad and Maleki 2020),
///     eta_i + g_i q_i / (1 - h_i q_i),   q_i = z_i' H^-1 z_i,
/// g and h the example's own gradient and curvature, H the Hessian of the objective at `log_odds`,
/// those of the fit of all. For log loss of two classes. Empty if H is singular. The examples keep
/// the curvature, so that a fit with another lambda starts with a good preconditioner.
std::vector<double> leave_one_out(Examples& examples, std::span<const double> log_odds);

}  // namespace covshift
