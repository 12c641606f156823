#define COVSHIFT_VECTOR 8
#include "covshift/kernel/loops.hpp"

namespace covshift {

extern const Kernels avx512_kernels;
const Kernels avx512_kernels = table("avx512");

}  // namespace covshift
