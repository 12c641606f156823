// Games for blocks of examples, and the steps around them in a pass.
#pragma once

#include "covshift/kernel/vectors.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): one copy per instruction set
namespace covshift {
namespace {

// log 2 in two parts: the first times an exponent is exact.
constexpr double log2_high = 6.93147180369123816490e-01;
constexpr double log2_low = 1.90821492927058770002e-10;

/// e^x for x <= 0: 2^n e^r with |r| <= log(2) / 2 and Taylor's series to a relative error of 1e-17.
/// 0 below -708, where results would be denormal.
inline Vector exponential(Vector x) {
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
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

/// log(1 + x) for x >= 0: with 1 + x = 2^n f, f in [1/sqrt 2, sqrt 2],
///     log f = 2 atanh(s),  s = (f - 1) / (f + 1),
/// plus a correction for the rounding of 1 + x.
inline Vector log1p(Vector x) {
  constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd;
  const Vector u = 1.0 + x;
  const Vector lost = (x - (u - 1.0)) / u;
  const Bits bits = reinterpret_cast<Bits>(u);
  const Bits n = (bits - root_half) >> 52;
  const Vector f = reinterpret_cast<Vector>(bits - (n << 52));
  const Vector s = (f - 1.0) / (f + 1.0);
  const Vector s2 = s * s;
  Vector sum = all(2.0 / 23);
  for (int k = 21; k >= 3; k -= 2) sum = sum * s2 + 2.0 / static_cast<double>(k);
  const Vector power = __builtin_convertvector(n, Vector);
  // f - 1 is exact, and 2 s = (f - 1) - s (f - 1) is accurate.
  const Vector log_f = (f - 1.0) - s * ((f - 1.0) - s2 * sum);
  return power * log2_high + (log_f + (power * log2_low + lost));
}

void log_game(std::size_t rows, std::size_t labels, const double* psi, double* value, double* q) {
  for (std::size_t b = 0; b < rows; b += width) {
    Vector top = load(psi + b);
    for (std::size_t y = 1; y < labels; ++y) top = larger(load(psi + y * block_rows + b), top);
    // The sum without the top's 1, so that log1p is accurate. Of labels that tie for the top only
    // one is left out.
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
    store(value + b, top + log1p(rest));
  }
}

/// V solves sum_y max(0, psi_y + 1 - V) = 1. Starting with all labels, those that pay less than the
/// value so far are dropped, which raises it, until none is (Michelot 1986). The adversary is
/// uniform on the rest.
void zero_one_game(std::size_t rows, std::size_t labels, const double* psi, double* value,
                   double* q) {
  for (std::size_t b = 0; b < rows; b += width) {
    Vector top = load(psi + b);
    for (std::size_t y = 1; y < labels; ++y) top = larger(load(psi + y * block_rows + b), top);
    Vector gain = {};  // V - top; labels 1 or more below the top are never played
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

void add_bias(std::size_t rows, std::size_t labels, const double* bias, double* psi) {
  for (std::size_t y = 0; y < labels; ++y, psi += block_rows) {
    for (std::size_t b = 0; b < rows; b += width) store(psi + b, load(psi + b) + all(bias[y]));
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

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
