// Logistic regression of many rows and few columns.
#pragma once

#include "covshift/kernel/game_loops.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): one copy per instruction set
namespace covshift {
namespace {

inline double largest_of(const Vector& x) {
  double largest = x[0];
  for (std::size_t l = 1; l < width; ++l) largest = x[l] > largest ? x[l] : largest;
  return largest;
}

double logistic(std::size_t n, const double* side, const double* share, const double* margin,
                double* residual, double* curvature) {
  Vector largest = {};
  for (std::size_t i = 0; i < n; i += width) {
    const std::size_t left = n - i;
    const auto get = [&](const double* from) {
      return left >= width ? load(from + i) : load_part(from + i, left);
    };
    const auto put = [&](double* to, const Vector& x) {
      if (left >= width) return store(to + i, x);
      for (std::size_t l = 0; l < left; ++l) to[i + l] = x[l];
    };
    const Vector own = get(side);
    const Vector weight = get(share);
    const Vector a = own * get(margin);
    const Vector size = a < 0.0 ? -a : a;
    largest = larger(size, largest);
    const Vector e = exponential(-size);
    const Vector odds = 1.0 / (1.0 + e);
    const Vector other = a >= 0.0 ? odds : e * odds;
    put(residual, own * weight * (a == a ? other : a));  // NaN stays NaN
    put(curvature, weight * e * odds * odds);
  }
  return largest_of(largest);
}

double columns_times(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                     const double* z, const double* share, double* out) {
  Vector largest = {};
  Vector invalid = {};  // 0, or NaN if an output is not finite
  const auto keep = [&](const Vector& sum, const Vector& counts) {
    const Vector y = where(counts > 0.0, sum);
    largest = larger(y < 0.0 ? -y : y, largest);
    invalid += 0.0 * y;
    return y;
  };
  std::size_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {  // independent sums hide the latency of additions
    Vector sum[4] = {};
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t v = 0; v < 4; ++v) sum[v] += z[j] * load(x + j * pitch + i + v * width);
    }
    for (std::size_t v = 0; v < 4; ++v) {
      store(out + i + v * width, keep(sum[v], load(share + i + v * width)));
    }
  }
  for (; i < n; i += width) {
    const std::size_t left = n - i < width ? n - i : width;
    Vector sum = {};
    for (std::size_t j = 0; j < columns; ++j) sum += z[j] * load_part(x + j * pitch + i, left);
    const Vector y = keep(sum, load_part(share + i, left));
    for (std::size_t l = 0; l < left; ++l) out[i + l] = y[l];
  }
  return total(invalid) == 0 ? largest_of(largest) : __builtin_huge_val();
}

/// out_c += sum_i own_i x_ci for `Count` columns from x on; own(load) gets the function that loads
/// a vector of a column.
template <std::size_t Count, typename Own>
void weighted_sums(std::size_t n, std::size_t pitch, const double* x, Own own, double* out) {
  Vector sum[Count] = {};
  std::size_t i = 0;
  const auto whole = [&](const double* from) { return load(from + i); };
  const auto part = [&](const double* from) { return load_part(from + i, n - i); };
  for (; i + width <= n; i += width) {
    const Vector w = own(whole);
    for (std::size_t c = 0; c < Count; ++c) sum[c] += w * whole(x + c * pitch);
  }
  const Vector w = own(part);
  for (std::size_t c = 0; c < Count; ++c) out[c] += total(sum[c] + w * part(x + c * pitch));
}

void columns_sums(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                  const double* weight, double* out) {
  const auto own = [&](auto get) { return get(weight); };
  for (std::size_t j = 0; j < columns; j += 4) {
    up_to_4(columns - j, [&]<std::size_t Count>() {
      weighted_sums<Count>(n, pitch, x + j * pitch, own, out + j);
    });
  }
}

void weighted_moments(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                      const double* weight, double* out) {
  for (std::size_t l = 0; l < columns; ++l) {
    const auto own = [&](auto get) { return get(weight) * get(x + l * pitch); };
    for (std::size_t j = 0; j <= l; j += 4) {
      up_to_4(l + 1 - j, [&]<std::size_t Count>() {
        weighted_sums<Count>(n, pitch, x + j * pitch, own, out + l * columns + j);
      });
    }
  }
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
