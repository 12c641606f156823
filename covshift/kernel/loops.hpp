// The loops behind kernels.hpp, for vectors of COVSHIFT_VECTOR doubles. Each source that includes
// this is compiled with its own instruction set: all here has internal linkage, and nothing of the
// standard library with code of its own is used, since the linker would keep one copy for all and
// that might hold instructions which not every processor knows.
#pragma once

#include "covshift/kernel/kernels.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): each source is to have its own
namespace covshift {
namespace {

constexpr std::size_t width = COVSHIFT_VECTOR;
// NOLINTBEGIN(modernize-use-using): attributes that depend on a constant
typedef double Vector __attribute__((vector_size(width * sizeof(double))));
typedef double Unaligned
    __attribute__((vector_size(width * sizeof(double)), aligned(8), may_alias));
typedef float Floats __attribute__((vector_size(width * sizeof(float)), aligned(4), may_alias));
typedef double Vector4 __attribute__((vector_size(4 * sizeof(double))));
typedef long Bits __attribute__((vector_size(width * sizeof(long))));
// NOLINTEND(modernize-use-using)
static_assert(sizeof(long) == sizeof(double));

// A tile keeps its sums in registers: 32 of them with vectors of 8, 16 otherwise.
constexpr std::size_t tile_rows = width == 8 ? 4 : 2;
constexpr std::size_t tile_vectors = width == 8 ? 4 : 2;

inline Vector load(const double* from) { return *reinterpret_cast<const Unaligned*>(from); }
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

/// The sum of the elements; always added in the same order, here and in store_totals.
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

/// The sums of `Rows` vectors, one after the other.
template <std::size_t Rows>
inline void store_totals(const Vector* x, double* out) {
#if COVSHIFT_VECTOR == 8
  if constexpr (Rows == 4) {
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
  for (std::size_t b = 0; b < Rows; ++b) out[b] = total(x[b]);
}

// --- potentials and gradients ---

/// Has the memory fetch row b of the next block while this one is worked on: one half of it during
/// each of the block's two products, so that memory is busy all the time. Rows beyond a few lines
/// the processor foresees by itself.
inline void fetch_ahead(const DenseBlock& z, std::size_t b, bool second_half) {
  constexpr std::size_t line = 8;
  constexpr std::size_t longest = 32 * line;
  if (z.columns > longest) return;
  const double* row = z.data + (z.rows + b) * z.stride;
  const std::size_t half = z.columns / 2;
  for (std::size_t j = second_half ? half : 0; j < (second_half ? z.columns : half); j += line) {
    __builtin_prefetch(row + j, 0, 2);
  }
}

void widen(const float* from, std::size_t n, double* to) {
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    store(to + j, __builtin_convertvector(*reinterpret_cast<const Floats*>(from + j), Vector));
  }
  for (; j < n; ++j) to[j] = static_cast<double>(from[j]);
}

template <std::size_t Rows, std::size_t Labels>
void times_tile(const double* z, std::size_t stride, std::size_t columns, const double* t,
                double* psi) {
  const std::size_t pitch = padded(columns);
  Vector sum[Labels][Rows] = {};
  std::size_t j = 0;
  do {  // there is a column: known not to end before it begins, the loop keeps sums in registers
    Vector x[Rows];
    for (std::size_t b = 0; b < Rows; ++b) x[b] = load(z + b * stride + j);
    for (std::size_t y = 0; y < Labels; ++y) {
      const Vector weight = load(t + y * pitch + j);
      for (std::size_t b = 0; b < Rows; ++b) sum[y][b] += weight * x[b];
    }
    j += width;
  } while (j < columns);
  for (std::size_t y = 0; y < Labels; ++y) store_totals<Rows>(sum[y], psi + y * block_rows);
}

template <std::size_t Labels>
void times_rows(const DenseBlock& z, const double* t, bool first, double* psi) {
  std::size_t b = 0;
  for (; b + tile_rows <= z.rows; b += tile_rows) {
    for (std::size_t r = 0; r < tile_rows && first; ++r) fetch_ahead(z, b + r, false);
    times_tile<tile_rows, Labels>(z.data + b * z.stride, z.stride, z.columns, t, psi + b);
  }
  for (; b < z.rows; ++b) {
    times_tile<1, Labels>(z.data + b * z.stride, z.stride, z.columns, t, psi + b);
  }
}

template <std::size_t Labels, std::size_t Vectors>
void transposed_tile(const DenseBlock& z, std::size_t j, const double* rows, bool first,
                     double* out) {
  const std::size_t pitch = padded(z.columns);
  Vector sum[Labels][Vectors] = {};
  std::size_t b = 0;
  do {
    if (first) fetch_ahead(z, b, true);
    Vector x[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) x[v] = load(z.data + b * z.stride + j + v * width);
    for (std::size_t y = 0; y < Labels; ++y) {
      const Vector weight = all(rows[y * block_rows + b]);
      for (std::size_t v = 0; v < Vectors; ++v) sum[y][v] += weight * x[v];
    }
    ++b;
  } while (b < z.rows);
  for (std::size_t y = 0; y < Labels; ++y) {
    for (std::size_t v = 0; v < Vectors; ++v) {
      double* to = out + y * pitch + j + v * width;
      store(to, load(to) + sum[y][v]);
    }
  }
}

/// f with min(n, 4) as a constant.
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

template <std::size_t Labels>
void transposed_columns(const DenseBlock& z, const double* rows, bool first, double* out) {
  for (std::size_t j = 0; j < z.columns; j += tile_vectors * width) {
    const std::size_t vectors = (z.columns - j + width - 1) / width;
    up_to_4(vectors < tile_vectors ? vectors : tile_vectors, [&]<std::size_t Vectors>() {
      transposed_tile<Labels, Vectors>(z, j, rows, first && j == 0, out);
    });
  }
}

void times(const DenseBlock& z, const double* t, std::size_t labels, double* psi) {
  if (z.columns == 0) {
    for (std::size_t j = 0; j < labels * block_rows; ++j) psi[j] = 0;
    return;
  }
  for (std::size_t y = 0; y < labels; y += 4) {
    up_to_4(labels - y, [&]<std::size_t Labels>() {
      times_rows<Labels>(z, t + y * padded(z.columns), y == 0, psi + y * block_rows);
    });
  }
}

void times_transposed(const DenseBlock& z, const double* rows, std::size_t labels, double* out) {
  for (std::size_t y = 0; y < labels; y += 4) {
    up_to_4(labels - y, [&]<std::size_t Labels>() {
      transposed_columns<Labels>(z, rows + y * block_rows, y == 0, out + y * padded(z.columns));
    });
  }
}

void weigh(std::size_t rows, std::size_t columns, const double* weight, const double* from,
           double* to) {
  for (std::size_t j = 0; j < columns; ++j, from += block_rows, to += block_rows) {
    for (std::size_t b = 0; b < rows; b += width) store(to + b, load(weight + b) * load(from + b));
  }
}

/// Few labels: one number of each column for every label.
template <std::size_t Labels>
void sparse_times_few(const SparseRow& z, const double* t, double* psi) {
  // Sums apart, so that additions need not wait for each other.
  constexpr std::size_t apart = 4 / Labels > 0 ? 4 / Labels : 1;
  double sum[apart][Labels] = {};
  std::size_t e = 0;
  for (; e + apart <= z.entries; e += apart) {
    for (std::size_t l = 0; l < apart; ++l) {
      const double* from = t + static_cast<std::size_t>(z.columns[e + l]) * Labels;
      for (std::size_t y = 0; y < Labels; ++y) sum[l][y] += z.values[e + l] * from[y];
    }
  }
  for (; e < z.entries; ++e) {
    const double* from = t + static_cast<std::size_t>(z.columns[e]) * Labels;
    for (std::size_t y = 0; y < Labels; ++y) sum[0][y] += z.values[e] * from[y];
  }
  for (std::size_t y = 0; y < Labels; ++y) {
    psi[y * block_rows] = 0;
    for (std::size_t l = 0; l < apart; ++l) psi[y * block_rows] += sum[l][y];
  }
}

template <std::size_t Labels>
void sparse_transposed_few(const SparseRow& z, const double* rows, double* out) {
  double weight[Labels];
  for (std::size_t y = 0; y < Labels; ++y) weight[y] = rows[y * block_rows];
  for (std::size_t e = 0; e < z.entries; ++e) {
    double* to = out + static_cast<std::size_t>(z.columns[e]) * Labels;
    for (std::size_t y = 0; y < Labels; ++y) to[y] += z.values[e] * weight[y];
  }
}

/// Many: `Vectors` vectors of labels from label y on.
template <std::size_t Vectors>
void sparse_times_many(const SparseRow& z, const double* t, std::size_t labels, std::size_t y,
                       double* psi) {
  const std::size_t pitch = sparse_pitch(labels);
  // Even and odd entries apart, so that additions need not wait for each other.
  Vector sum[Vectors] = {};
  Vector odd[Vectors] = {};
  const auto add = [&](std::size_t e, Vector* to) {
    const double* from = t + static_cast<std::size_t>(z.columns[e]) * pitch + y;
    const Vector x = all(z.values[e]);
    for (std::size_t v = 0; v < Vectors; ++v) to[v] += x * load(from + v * width);
  };
  std::size_t e = 0;
  for (; e + 2 <= z.entries; e += 2) {
    add(e, sum);
    add(e + 1, odd);
  }
  if (e < z.entries) add(e, sum);
  for (std::size_t v = 0; v < Vectors; ++v) sum[v] += odd[v];
  for (std::size_t l = 0; l < Vectors * width && y + l < labels; ++l) {
    psi[(y + l) * block_rows] = sum[l / width][l % width];
  }
}

template <std::size_t Vectors>
void sparse_transposed_many(const SparseRow& z, const double* rows, std::size_t labels,
                            std::size_t y, double* out) {
  const std::size_t pitch = sparse_pitch(labels);
  Vector weight[Vectors] = {};
  for (std::size_t l = 0; l < Vectors * width && y + l < labels; ++l) {
    weight[l / width][l % width] = rows[(y + l) * block_rows];
  }
  for (std::size_t e = 0; e < z.entries; ++e) {
    double* to = out + static_cast<std::size_t>(z.columns[e]) * pitch + y;
    const Vector x = all(z.values[e]);
    for (std::size_t v = 0; v < Vectors; ++v) {
      store(to + v * width, load(to + v * width) + x * weight[v]);
    }
  }
}

void sparse_times(const SparseRow& z, const double* t, std::size_t labels, double* psi) {
  if (labels <= 4) {
    return up_to_4(labels, [&]<std::size_t Labels>() { sparse_times_few<Labels>(z, t, psi); });
  }
  const std::size_t vectors = sparse_pitch(labels) / width;
  for (std::size_t v = 0; v < vectors; v += 4) {
    up_to_4(vectors - v, [&]<std::size_t Vectors>() {
      sparse_times_many<Vectors>(z, t, labels, v * width, psi);
    });
  }
}

void sparse_times_transposed(const SparseRow& z, const double* rows, std::size_t labels,
                             double* out) {
  if (labels <= 4) {
    return up_to_4(labels,
                   [&]<std::size_t Labels>() { sparse_transposed_few<Labels>(z, rows, out); });
  }
  const std::size_t vectors = sparse_pitch(labels) / width;
  for (std::size_t v = 0; v < vectors; v += 4) {
    up_to_4(vectors - v, [&]<std::size_t Vectors>() {
      sparse_transposed_many<Vectors>(z, rows, labels, v * width, out);
    });
  }
}

// --- games ---

/// e^x for x <= 0: 2^n e^r with |r| <= log(2) / 2 and Taylor's series, whose next term is below
/// 1e-17 of the sum. 0 below -708, where numbers lose digits.
inline Vector exponential(Vector x) {
  constexpr double log2_high = 6.93147180369123816490e-01;  // log 2 in two parts: n times the first
  constexpr double log2_low = 1.90821492927058770002e-10;   // is exact
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: its last bits are the integer part
  const Bits normal = x > all(-708.0);
  const Vector shifted = x * 1.4426950408889634 + shifter;
  const Vector n = shifted - shifter;
  const Vector r = (x - n * log2_high) - n * log2_low;
  constexpr double inverse_factorial[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
      1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
  Vector sum = all(inverse_factorial[0]);
  for (std::size_t k = 1; k < 12; ++k) sum = sum * r + inverse_factorial[k];
  sum = 1.0 + (r + r * r * sum);
  const Bits power = (reinterpret_cast<Bits>(shifted) + 1023) << 52;
  return where(normal, sum * reinterpret_cast<Vector>(power));
}

/// log(1 + x) for x >= 0 of any size: with 1 + x = 2^n f, f in [1/sqrt 2, sqrt 2],
///     log f = 2 atanh(s),  s = (f - 1) / (f + 1),
/// and what 1 + x rounds off put back.
inline Vector log_of_1_and(Vector x) {
  constexpr double log2_high = 6.93147180369123816490e-01;
  constexpr double log2_low = 1.90821492927058770002e-10;
  constexpr long root_half = 0x3fe6a09e667f3bcd;
  const Vector u = 1.0 + x;
  const Vector lost = (x - (u - 1.0)) / u;
  const Bits bits = reinterpret_cast<Bits>(u);
  const Bits n = (bits - root_half) >> 52;
  const Vector f = reinterpret_cast<Vector>(bits - (n << 52));
  const Vector s = (f - 1.0) / (f + 1.0);
  const Vector s2 = s * s;
  Vector sum = all(2.0 / 23);
  for (long k = 21; k >= 3; k -= 2) sum = sum * s2 + 2.0 / static_cast<double>(k);
  const Vector power = __builtin_convertvector(n, Vector);
  // f - 1 is exact; 2 s = (f - 1) - s (f - 1) keeps its digits.
  const Vector log_f = (f - 1.0) - s * ((f - 1.0) - s2 * sum);
  return power * log2_high + (log_f + (power * log2_low + lost));
}

void log_game(std::size_t rows, std::size_t labels, const double* psi, double* value, double* q) {
  for (std::size_t b = 0; b < rows; b += width) {
    Vector top = load(psi + b);
    for (std::size_t y = 1; y < labels; ++y) top = larger(load(psi + y * block_rows + b), top);
    // The others' share apart from the top's 1, so that the logarithm keeps every digit. Of labels
    // that tie for the top only one is taken out.
    Vector rest = {};
    Bits found = {};
    for (std::size_t y = 0; y < labels; ++y) {
      const Vector below = load(psi + y * block_rows + b) - top;
      const Vector share = exponential(below);
      const Bits first = (below == Vector{}) & ~found;
      found |= first;
      rest += where(~first, share);
      store(q + y * block_rows + b, share);
    }
    const Vector scale = 1.0 / (1.0 + rest);
    for (std::size_t y = 0; y < labels; ++y) {
      store(q + y * block_rows + b, load(q + y * block_rows + b) * scale);
    }
    store(value + b, top + log_of_1_and(rest));
  }
}

/// V is where sum_y max(0, psi_y + 1 - V) = 1. From the set of all labels on, those that would pay
/// less than the value so far leave, which raises it, until none does (Michelot 1986). The
/// adversary is uniform on the set.
void zero_one_game(std::size_t rows, std::size_t labels, const double* psi, double* value,
                   double* q) {
  for (std::size_t b = 0; b < rows; b += width) {
    Vector top = load(psi + b);
    for (std::size_t y = 1; y < labels; ++y) top = larger(load(psi + y * block_rows + b), top);
    Vector gain = {};  // V - top; labels 1 or more below the top never play
    Vector members = {};
    for (Vector before = all(static_cast<double>(labels) + 1);; before = members) {
      Vector sum = all(-1.0);
      members = Vector{};
      for (std::size_t y = 0; y < labels; ++y) {
        const Vector pays = load(psi + y * block_rows + b) - top + 1.0;
        const Bits plays = pays > gain;
        sum += where(plays, pays);
        members += where(plays, all(1.0));
      }
      const Bits left = members < before;
      bool any = false;
      for (std::size_t l = 0; l < width; ++l) any = any || left[l] != 0;
      if (!any) break;
      gain = sum / members;
    }
    const Vector share = 1.0 / members;
    for (std::size_t y = 0; y < labels; ++y) {
      const Vector pays = load(psi + y * block_rows + b) - top + 1.0;
      store(q + y * block_rows + b, where(pays > gain, share));
    }
    store(value + b, top + gain);
  }
}

void from_truth(std::size_t rows, std::size_t labels, const int* label, double* psi) {
  double own[block_rows] = {};
  for (std::size_t b = 0; b < rows; ++b) {
    own[b] = psi[static_cast<std::size_t>(label[b]) * block_rows + b];
  }
  for (std::size_t y = 0; y < labels; ++y, psi += block_rows) {
    for (std::size_t b = 0; b < rows; b += width) store(psi + b, load(psi + b) - load(own + b));
  }
}

void settle(std::size_t rows, std::size_t labels, const int* label, const double* a,
            const double* psi, double* left, double* q) {
  double weight[block_rows] = {};
  for (std::size_t b = 0; b < rows; ++b) weight[b] = a[b];
  for (std::size_t b = 0; b < rows; b += width) {
    Vector rest = load(left + b);
    const Vector minus = -load(weight + b);
    for (std::size_t at = b; at < labels * block_rows; at += block_rows) {
      const Vector answer = load(q + at);
      rest -= load(psi + at) * answer;
      store(q + at, minus * answer);
    }
    store(left + b, rest);
  }
  for (std::size_t b = 0; b < rows; ++b) {
    q[static_cast<std::size_t>(label[b]) * block_rows + b] += weight[b];
  }
}

// --- systems of equations ---

bool eliminate(double* h, std::size_t pitch, std::size_t rows, std::size_t columns) {
  for (std::size_t b = 0; b < rows; ++b) {
    double* own = h + b * pitch;
    if (!(own[b] > 0 && own[b] < __builtin_inf())) return false;
    const Vector scale = all(1 / __builtin_sqrt(own[b]));
    for (std::size_t j = b / width * width; j < columns; j += width) {
      store(own + j, load(own + j) * scale);
    }
    for (std::size_t c = b + 1; c < rows; ++c) {
      double* row = h + c * pitch;
      const Vector factor = all(own[c]);
      for (std::size_t j = c / width * width; j < columns; j += width) {
        store(row + j, load(row + j) - factor * load(own + j));
      }
    }
  }
  return true;
}

constexpr Kernels table(std::string_view name) {
  return {name,     widen,         times, times_transposed, sparse_times, sparse_times_transposed,
          log_game, zero_one_game, weigh, from_truth,       settle,       eliminate};
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
