// The table of a comparison, for `compare` and `demo`.
#pragma once

#include "covshift/compare/compare.hpp"

namespace covshift::cli {

void print_comparison(const Comparison& comparison);

}  // namespace covshift::cli
