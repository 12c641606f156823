// Vectors of COVSHIFT_VECTOR doubles, for the loops behind kernels.hpp.
#pragma once

#include "covshift/kernel/kernels.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): one copy per instruction set
namespace covshift {
namespace {

constexpr std::size_t width = COVSHIFT_VECTOR;
// NOLINTBEGIN(modernize-use-using): attributes that depend on a constant
typedef double Vector __attribute__((vector_size(width * sizeof(double))));
typedef double Unaligned
    __attribute__((vector_size(width * sizeof(double)), aligned(8), may_alias));
typedef float Floats __attribute__((vector_size(width * sizeof(float)), aligned(4), may_alias));
typedef double Vector4 __attribute__((vector_size(4 * sizeof(double))));
typedef std::int64_t Bits __attribute__((vector_size(width * sizeof(std::int64_t))));
// NOLINTEND(modernize-use-using)
static_assert(sizeof(std::int64_t) == sizeof(double));

// The sums of a tile fit into the registers: 32 with vectors of 8, otherwise 16.
constexpr std::size_t tile_rows = width == 8 ? 4 : 2;
constexpr std::size_t tile_vectors = width == 8 ? 4 : 2;

inline Vector load(const double* from) { return *reinterpret_cast<const Unaligned*>(from); }
/// The first n numbers, then 0.
inline Vector load_part(const double* from, std::size_t n) {
  Vector x = {};
  for (std::size_t l = 0; l < n; ++l) x[l] = from[l];
  return x;
}
inline void store(double* to, Vector x) { *reinterpret_cast<Unaligned*>(to) = x; }
inline Vector all(double x) { return x - Vector{}; }
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
/// a where the mask's bits are set, 0 elsewhere.
inline Vector where(Bits mask, Vector a) {
  return reinterpret_cast<Vector>(mask & reinterpret_cast<Bits>(a));
}

#if COVSHIFT_VECTOR == 8
inline Vector4 folded(const Vector& x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
}
#endif

/// The sum of the elements, in the same order as in store_totals.
inline double total(const Vector& x) {
#if COVSHIFT_VECTOR == 8
  const Vector4 f = folded(x);
#elif COVSHIFT_VECTOR == 4
  const Vector4& f = x;
#endif
#if COVSHIFT_VECTOR >= 4
  return (f[0] + f[1]) + (f[2] + f[3]);
#else
  return x[0] + x[1];
#endif
}

/// The sums of `RowCount` vectors.
template <std::size_t RowCount>
inline void store_totals(const Vector* x, double* out) {
#if COVSHIFT_VECTOR == 8
  if constexpr (RowCount == 4) {
    Vector4 f[4];
    for (std::size_t b = 0; b < 4; ++b) f[b] = folded(x[b]);
    const Vector4 low = __builtin_shufflevector(f[0], f[1], 0, 4, 2, 6) +
                        __builtin_shufflevector(f[0], f[1], 1, 5, 3, 7);
    const Vector4 high = __builtin_shufflevector(f[2], f[3], 0, 4, 2, 6) +
                         __builtin_shufflevector(f[2], f[3], 1, 5, 3, 7);
    const Vector4 sums = __builtin_shufflevector(low, high, 0, 1, 4, 5) +
                         __builtin_shufflevector(low, high, 2, 3, 6, 7);
    __builtin_memcpy(out, &sums, sizeof sums);
    return;
  }
#endif
  for (std::size_t b = 0; b < RowCount; ++b) out[b] = total(x[b]);
}

/// Calls f with min(n, 4) as a template argument.
template <typename F>
void up_to_4(std::size_t n, F f) {
  switch (n) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    default:
      return f.template operator()<4>();
  }
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
