// An experiment beyond the paper: where each method beats or loses to plain logistic regression, by
// the severity of the shift and by the choices that the paper does not specify.
#pragma once

#include "covshift/lab/experiment.hpp"
#include "covshift/lab/result.hpp"

namespace covshift {

LabResult run_sweep(const std::string& folder, const ExperimentOptions& options);

}  // namespace covshift
