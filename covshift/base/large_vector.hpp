// Vectors for large amounts of data with random access.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace covshift {

/// From now on large vectors are kept in files of this folder, which have no names and vanish with
/// the process; the system holds as much of them in memory as there is. Empty: in memory. Throws
/// Error (file) if no file can be made there.
void keep_large_vectors_in(const std::string& folder);

namespace detail {
/// Memory from the system, aligned to huge pages and in such pages if available.
void* map_large(std::size_t bytes);
void unmap_large(void* memory, std::size_t bytes);
}  // namespace detail

/// Aligned to cache lines. From 4 MB on mapped directly, in huge pages if available: small pages
/// cost TLB misses, and an allocator would not return freed memory to the system.
template <typename T>
struct LargeAllocator {
  using value_type = T;
  static constexpr std::size_t large = std::size_t{1} << 22U;

  LargeAllocator() = default;
  template <typename U>
  explicit LargeAllocator(const LargeAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= large) return static_cast<T*>(detail::map_large(n * sizeof(T)));
#endif
    return static_cast<T*>(::operator new(n * sizeof(T), line));
  }
  void deallocate(T* memory, std::size_t n) {
#if defined(__linux__)
    if (n * sizeof(T) >= large) return detail::unmap_large(memory, n * sizeof(T));
#endif
    ::operator delete(memory, line);
  }
  bool operator==(const LargeAllocator& /*other*/) const { return true; }

 private:
  static constexpr std::align_val_t line{64};
};

using LargeVector = std::vector<double, LargeAllocator<double>>;

}  // namespace covshift
