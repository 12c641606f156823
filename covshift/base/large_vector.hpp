// Vectors for large amounts of data with random access.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace covshift {

/// Aligned to cache lines. From 4 MB on mapped directly, in huge pages if available: small pages
/// cost TLB misses, and an allocator would not return freed memory to the system.
template <typename T>
struct LargeAllocator {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21U;

  LargeAllocator() = default;
  template <typename U>
  explicit LargeAllocator(const LargeAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= 2 * page) return static_cast<T*>(map(n * sizeof(T)));
#endif
    return static_cast<T*>(::operator new(n * sizeof(T), line));
  }
  void deallocate(T* memory, std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= 2 * page) {
      static_cast<void>(munmap(memory, whole_pages(n * sizeof(T))));
      return;
    }
#endif
    ::operator delete(memory, line);
  }
  bool operator==(const LargeAllocator& /*other*/) const { return true; }

 private:
  static constexpr std::align_val_t line{64};
#if defined(__linux__)
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }
  /// Memory aligned to a huge page: maps one page more and unmaps the excess on both sides.
  static void* map(std::size_t bytes) {
    const std::size_t wanted = whole_pages(bytes);
    void* all =
        mmap(nullptr, wanted + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<char*>(all);
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(all) % page) % page;
    if (before > 0) static_cast<void>(munmap(begin, before));
    if (before < page) static_cast<void>(munmap(begin + before + wanted, page - before));
    // Only advice: failure affects nothing but speed.
    static_cast<void>(madvise(begin + before, wanted, MADV_HUGEPAGE));
    return begin + before;
  }
#endif
};

using LargeVector = std::vector<double, LargeAllocator<double>>;

}  // namespace covshift
