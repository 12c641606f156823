// The loops behind kernels.hpp, for vectors of COVSHIFT_VECTOR doubles. Each source that includes
// this is compiled for its own instruction set, so everything has internal linkage and nothing of
// the standard library is instantiated: the linker would keep one copy for all, perhaps with
// instructions that the processor lacks.
#pragma once

#include "covshift/kernel/game_loops.hpp"
#include "covshift/kernel/product_loops.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): one copy per instruction set
namespace covshift {
namespace {

/// `Count` of the sums, those of the columns from x on.
template <std::size_t Count>
void sums_of(std::size_t n, std::size_t pitch, const double* x, const double* weight, double* out) {
  Vector sum[Count] = {};
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const Vector w = load(weight + i);
    for (std::size_t c = 0; c < Count; ++c) sum[c] += w * load(x + c * pitch + i);
  }
  const Vector w = load_part(weight + i, n - i);
  for (std::size_t c = 0; c < Count; ++c) {
    out[c] += total(sum[c] + w * load_part(x + c * pitch + i, n - i));
  }
}

void columns_sums(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                  const double* weight, double* out) {
  for (std::size_t j = 0; j < columns; j += 4) {
    up_to_4(columns - j,
            [&]<std::size_t Count>() { sums_of<Count>(n, pitch, x + j * pitch, weight, out + j); });
  }
}

void exponentials(std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; i += width) store(x + i, exponential(load(x + i)));
}

/// sin x: x = n pi + r with |r| <= pi / 2, and Taylor's series to an error of 1e-17.
inline Vector sine(Vector x) {
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  // pi in two parts: the first, of 33 bits, times n is exact up to sine_limit.
  constexpr double pi_high = 3.14159265346825122834e+00;
  constexpr double pi_low = 1.21542010130123844986e-10;
  const Vector shifted = x * 0.31830988618379067154 + shifter;
  const Vector n = shifted - shifter;
  const Vector r = (x - n * pi_high) - n * pi_low;
  const Vector r2 = r * r;
  constexpr double inverse_factorial[] = {-1.0 / 121645100408832000,
                                          1.0 / 355687428096000,
                                          -1.0 / 1307674368000,
                                          1.0 / 6227020800,
                                          -1.0 / 39916800,
                                          1.0 / 362880,
                                          -1.0 / 5040,
                                          1.0 / 120,
                                          -1.0 / 6};
  Vector sum = all(1.0 / 51090942171709440000.0);
  for (const double c : inverse_factorial) sum = sum * r2 + c;
  const Vector found = r + r * r2 * sum;
  const Bits odd = reinterpret_cast<Bits>(shifted) << 63;
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(found) ^ odd);
}

void sines(std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; i += width) store(x + i, sine(load(x + i)));
}

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
  return {name,         widen,
          times,        times_transposed,
          sparse_times, sparse_times_transposed,
          log_game,     zero_one_game,
          weigh,        add_bias,
          from_truth,   settle,
          exponentials, sines,
          columns_sums, eliminate};
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
