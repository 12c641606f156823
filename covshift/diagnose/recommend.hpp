// What to do about the shift; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// Verdict, summary and reasons from the numbers of the diagnosis, by the rules in
/// docs/diagnose.md. The caller adds the rows to label.
Recommendation recommend(const Diagnosis& diagnosis);

}  // namespace covshift
