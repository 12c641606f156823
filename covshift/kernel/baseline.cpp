#define COVSHIFT_VECTOR 2
#include "covshift/kernel/loops.hpp"

namespace covshift {

extern const Kernels baseline_kernels;
const Kernels baseline_kernels = table("baseline");

}  // namespace covshift
