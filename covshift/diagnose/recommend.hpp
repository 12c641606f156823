// What to do about it; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// Verdict, words and reasons from the numbers of the diagnosis (docs/diagnose.md has the rules).
/// The rows to label are the caller's to add.
Recommendation recommend(const Diagnosis& diagnosis, const std::string& views);

}  // namespace covshift
