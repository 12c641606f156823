// The rows and points shown in a diagnosis; private to diagnose/.
#pragma once

#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

/// Sets shown, scatter, unsupported_values and label_values. `detail`: for each of d.features its
/// position in samples.features; `unsupported`: for every target row.
void illustrate(Diagnosis& d, const DiagnoseData& samples, const std::vector<std::size_t>& detail,
                const std::vector<bool>& unsupported, std::uint64_t seed);

}  // namespace covshift
