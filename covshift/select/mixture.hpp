// Mixture weights of predictors.
#pragma once

#include <span>
#include <vector>

namespace covshift {

/// The shares pi that maximise the concave
///     sum_i weight_i log sum_k pi_k p_k(y_i|x_i)  +  sum_k prior_k log pi_k,
/// from the probabilities of held-out labels: `likelihood` has a row of examples for each
/// predictor. A prior of 3 counts as 3 rows that only this predictor explains: its share is at
/// least 3 / (sum of weights and priors), whatever the rows say.
std::vector<double> mixture_shares(std::span<const double> likelihood,
                                   std::span<const double> weight, std::span<const double> prior);

}  // namespace covshift
