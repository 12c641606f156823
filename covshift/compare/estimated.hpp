// How good a classifier is on the target, beside a diagnosis of the same rows: what the page of an
// estimate shows, with one answer.
#pragma once

#include "covshift/data/preparation.hpp"
#include "covshift/diagnose/diagnose.hpp"
#include "covshift/promise/estimate.hpp"

namespace covshift {

/// The shift between labelled and target rows; whether the model can be trusted is answered for the
/// classifier whose predictions are in `data`, by what was `found` about it.
Diagnosis diagnose_estimate(const Preparation& preparation, const PreparedRows& labelled,
                            const PreparedRows& target, const EstimateData& data,
                            const TargetPerformance& found, const EstimateOptions& options);

}  // namespace covshift
