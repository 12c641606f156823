// Newton's equations of one example (barrier.hpp) in three forms: factored into the caller's
// memory, then solved for any number of right-hand sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace covshift {

/// In-place LU factors of a small n x n matrix, row-major, with partial pivoting; the pivots follow
/// the matrix in memory. Slacks and distributions span many orders of magnitude near the solution,
/// so elimination in a fixed order (Cholesky of a reduced matrix) would be inaccurate.
inline void lu_factor(double* a, std::size_t n) {
  double* pivot = a + n * n;
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t best = j;
    for (std::size_t i = j + 1; i < n; ++i) {
      if (std::abs(a[i * n + j]) > std::abs(a[best * n + j])) best = i;
    }
    pivot[j] = static_cast<double>(best);
    if (best != j) std::swap_ranges(a + j * n, a + (j + 1) * n, a + best * n);
    if (a[j * n + j] == 0) a[j * n + j] = 1e-300;
    const double inverse = 1 / a[j * n + j];
    for (std::size_t i = j + 1; i < n; ++i) {
      const double factor = a[i * n + j] *= inverse;
      if (factor == 0) continue;
      for (std::size_t k = j + 1; k < n; ++k) a[i * n + k] -= factor * a[j * n + k];
    }
  }
}

inline void lu_solve(const double* a, std::size_t n, double* x) {
  const double* pivot = a + n * n;
  for (std::size_t j = 0; j < n; ++j) std::swap(x[j], x[static_cast<std::size_t>(pivot[j])]);
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
}

/// D dq + 1 dv = g, 1'dq = e with D diagonal: games without a choice of actions. The label of the
/// smallest D, the top, follows from the sum: near the optimum D vanishes for labels that are
/// played, and dividing a difference by it would cancel.
struct LabelsOnly {
  const double* inverse;  // of D; 0 for the top
  double d_top;
  double share;  // 1 / (1 + d_top sum inverse)
  std::size_t top;

  static constexpr std::size_t size(std::size_t labels) { return labels + 3; }
  LabelsOnly(const double* memory, std::size_t labels)
      : inverse(memory),
        d_top(memory[labels]),
        share(memory[labels + 1]),
        top(static_cast<std::size_t>(memory[labels + 2])) {}
  /// `memory` begins with D.
  static void factor(std::size_t labels, double* memory) {
    const auto top = static_cast<std::size_t>(std::min_element(memory, memory + labels) - memory);
    const double d_top = memory[top];
    double weight = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      memory[y] = y == top ? 0 : 1 / memory[y];
      weight += memory[y];
    }
    memory[labels] = d_top;
    memory[labels + 1] = 1 / (1 + d_top * weight);
    memory[labels + 2] = static_cast<double>(top);
  }
  /// x holds g and e, then dq and dv.
  void solve(std::size_t labels, double* x) const {
    double others = 0;
    for (std::size_t y = 0; y < labels; ++y) others += inverse[y] * (x[y] - x[top]);
    const double rest = (x[labels] - others) * share;
    const double v = x[top] - d_top * rest;
    for (std::size_t y = 0; y < labels; ++y) x[y] = inverse[y] * (x[y] - v);
    x[top] = rest;
    x[labels] = v;
  }
  /// Row y of b is dq for g = e_y, everything else 0.
  void response(std::size_t labels, double* b) const {
    for (std::size_t y = 0; y < labels; ++y) {
      double* row = b + y * labels;
      const double v = y == top ? share : d_top * inverse[y] * share;
      for (std::size_t z = 0; z < labels; ++z) row[z] = inverse[z] * ((z == y ? 1 : 0) - v);
      row[top] = -inverse[y] * share;
    }
    double weight = 0;
    for (std::size_t y = 0; y < labels; ++y) weight += inverse[y];
    b[top * labels + top] = weight * share;
  }
};

/// The equations of the zero-one game, C = 1 1' - I: with v' = dv - 1'dp and n' = dnu - 1'dq
///     D dq + dp + 1 v' = g,    -dq + P dp - 1 n' = h,    1'dq = e,    1'dp = f,
/// D and P diagonal: two equations per label, coupled by v' and n' only. The divisor D P + 1 is
/// never small, but where only one of D and P is, differences from v' or n' are divided by it, so a
/// solution must be refined once.
struct ZeroOne {
  const double* share;    // 1 / (D P + 1)
  const double* share_d;  // P / (D P + 1)
  const double* share_p;  // D / (D P + 1)
  const double* sums;     // a, b, c of share_d, share, share_p, over a c + b^2
  const double* d;
  const double* p;

  static constexpr std::size_t size(std::size_t labels) { return 5 * labels + 3; }
  ZeroOne(const double* memory, std::size_t labels)
      : share(memory),
        share_d(memory + labels),
        share_p(memory + 2 * labels),
        sums(memory + 3 * labels),
        d(sums + 3),
        p(d + labels) {}
  /// `memory` begins with D and P.
  static void factor(std::size_t labels, double* memory) {
    std::copy_n(memory, 2 * labels, memory + 3 * labels + 3);
    double a = 0;
    double b = 0;
    double c = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      const double d = memory[y];
      const double p = memory[labels + y];
      b += memory[y] = 1 / (1 + d * p);
      a += memory[labels + y] = 1 / (d + 1 / p);
      c += memory[2 * labels + y] = 1 / (p + 1 / d);
    }
    const double divisor = a * c + b * b;
    memory[3 * labels] = a / divisor;
    memory[3 * labels + 1] = b / divisor;
    memory[3 * labels + 2] = c / divisor;
  }
  /// x holds g, h, e, f, then dq, dp, dv, dnu.
  void solve(std::size_t labels, double* x) const {
    double* h = x + labels;
    const double e = x[2 * labels];
    const double f = x[2 * labels + 1];
    double first = -e;
    double second = -f;
    for (std::size_t y = 0; y < labels; ++y) {
      first += share_d[y] * x[y] - share[y] * h[y];
      second += share[y] * x[y] + share_p[y] * h[y];
    }
    const double v = sums[2] * first + sums[1] * second;
    const double nu = sums[1] * first - sums[0] * second;
    for (std::size_t y = 0; y < labels; ++y) {
      const double g = x[y] - v;
      const double g_nu = h[y] + nu;
      x[y] = share_d[y] * g - share[y] * g_nu;
      h[y] = share[y] * g + share_p[y] * g_nu;
    }
    x[2 * labels] = v + f;
    x[2 * labels + 1] = nu + e;
  }
  /// Subtracts the left-hand side at x from the right-hand side in `left`.
  void subtract(std::size_t labels, const double* x, double* left) const {
    const double* dp = x + labels;
    double sum_q = 0;
    double sum_p = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      sum_q += x[y];
      sum_p += dp[y];
    }
    const double v = x[2 * labels] - sum_p;
    const double nu = x[2 * labels + 1] - sum_q;
    for (std::size_t y = 0; y < labels; ++y) {
      left[y] -= d[y] * x[y] + dp[y] + v;
      left[labels + y] -= p[y] * dp[y] - x[y] - nu;
    }
    left[2 * labels] -= sum_q;
    left[2 * labels + 1] -= sum_p;
  }
  void response(std::size_t labels, double* b) const {
    for (std::size_t y = 0; y < labels; ++y) {
      const double v = sums[2] * share_d[y] + sums[1] * share[y];
      const double nu = sums[1] * share_d[y] - sums[0] * share[y];
      for (std::size_t z = 0; z < labels; ++z) {
        b[y * labels + z] = share_d[z] * ((z == y ? 1 : 0) - v) - share[z] * nu;
      }
    }
  }
};

}  // namespace covshift
