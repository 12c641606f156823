// Logistic regression of many rows and few columns.
#pragma once

#include "covshift/kernel/game_loops.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): each source is to have its own
namespace covshift {
namespace {

void logistic(std::size_t n, const double* side, const double* share, const double* margin,
              double* residual, double* curvature) {
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
    const Vector e = exponential(a > 0.0 ? -a : a);
    const Vector odds = 1.0 / (1.0 + e);
    const Vector other = a >= 0.0 ? odds : e * odds;
    put(residual, own * weight * (a == a ? other : a));  // what is not a number stays so
    put(curvature, weight * e * odds * odds);
  }
}

/// `Count` of the sums, those with the columns from x on.
template <std::size_t Count>
void moments_of(std::size_t n, std::size_t pitch, const double* x, const double* column,
                const double* weight, double* out) {
  Vector sum[Count] = {};
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const Vector own = load(weight + i) * load(column + i);
    for (std::size_t c = 0; c < Count; ++c) sum[c] += own * load(x + c * pitch + i);
  }
  const Vector own = load_part(weight + i, n - i) * load_part(column + i, n - i);
  for (std::size_t c = 0; c < Count; ++c) {
    out[c] = total(sum[c] + own * load_part(x + c * pitch + i, n - i));
  }
}

void weighted_moments(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                      const double* weight, double* out) {
  for (std::size_t l = 0; l < columns; ++l) {
    for (std::size_t j = 0; j <= l; j += 4) {
      up_to_4(l + 1 - j, [&]<std::size_t Count>() {
        moments_of<Count>(n, pitch, x + j * pitch, x + l * pitch, weight, out + l * columns + j);
      });
    }
  }
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
