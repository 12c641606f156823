#include "covshift/kernel/kernels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"

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
  static const Kernels& chosen = kernels_named(std::getenv("COVSHIFT_KERNELS"));
  return chosen;
}

const Kernels& kernels_named(const char* name) {
  if (name == nullptr || *name == '\0') return *runnable_kernels().back();
  std::string known;
  for (const Kernels* k : runnable_kernels()) {
    if (k->name == name) return *k;
    known += (known.empty() ? "" : ", ") + std::string(k->name);
  }
  fail_input("COVSHIFT_KERNELS is '{}'; this processor runs {}", name, known);
}

}  // namespace covshift
