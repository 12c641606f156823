// Memory for numbers that are read and written here and there.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <new>
#include <vector>

namespace covshift {

/// From the beginning of a cache line on; from a few MB on in large pages, where the system has
/// them to give: with small ones most of the time would go into finding the pages.
template <typename T>
struct LargeAllocator {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21U;

  LargeAllocator() = default;
  template <typename U>
  explicit LargeAllocator(const LargeAllocator<U>& /*other*/) {}

  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= 2 * page ? page : 64};
  }
  T* allocate(std::size_t n) {
    void* memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__)
    // Advice: that it may not be taken changes nothing but speed.
    if (n * sizeof(T) >= 2 * page) static_cast<void>(madvise(memory, n * sizeof(T), MADV_HUGEPAGE));
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n)); }
  bool operator==(const LargeAllocator& /*other*/) const { return true; }
};

using LargeVector = std::vector<double, LargeAllocator<double>>;

}  // namespace covshift
