#include "covshift/kernel/kernels.hpp"

#include <cstdlib>
#include <vector>

namespace covshift {

extern const Kernels baseline_kernels;
#if defined(COVSHIFT_X86_KERNELS)
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

std::span<const Kernels* const> runnable_kernels() {
  static const std::vector<const Kernels*> list = [] {
    std::vector<const Kernels*> runnable = {&baseline_kernels};
#if defined(COVSHIFT_X86_KERNELS)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      runnable.push_back(&avx2_kernels);
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        runnable.push_back(&avx512_kernels);
      }
    }
#endif
    return runnable;
  }();
  return list;
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    const char* wanted = std::getenv("COVSHIFT_KERNELS");
    for (const Kernels* k : runnable_kernels()) {
      if (wanted != nullptr && k->name == wanted) return *k;
    }
    return *runnable_kernels().back();
  }();
  return chosen;
}

}  // namespace covshift
