// What of the paper holds, claim by claim, from the results of a run.
#pragma once

#include <span>
#include <string>

#include "covshift/lab/result.hpp"

namespace covshift {

/// A Markdown page from the results of table1 to table3, figure1 to figure3 and the sweep. Every
/// number and every verdict on it is computed from them. An Error if one of them is missing.
std::string results_page(std::span<const LabResult> results);

}  // namespace covshift
