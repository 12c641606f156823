// The rows and points that a diagnosis shows; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// Sets shown, scatter, unsupported_values and label_values. `detail`: the position among
/// samples.features of each of d.features; `unsupported`: of every target row.
void illustrate(Diagnosis& d, const DiagnoseData& samples, const std::vector<std::size_t>& detail,
                const std::vector<bool>& unsupported, std::uint64_t seed);

}  // namespace covshift
