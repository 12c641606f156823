#define COVSHIFT_VECTOR 4
#include "covshift/kernel/loops.hpp"

namespace covshift {

extern const Kernels avx2_kernels;
const Kernels avx2_kernels = table("avx2");

}  // namespace covshift
