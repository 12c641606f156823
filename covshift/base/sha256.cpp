#include "covshift/base/sha256.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace covshift {
namespace {

/// The first 32 bits of the fractional part of `root`.
std::uint32_t fraction(long double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 0x1p32L);
}

struct Constants {
  std::array<std::uint32_t, 8> start{};   // of the square roots of the first 8 primes
  std::array<std::uint32_t, 64> round{};  // of the cube roots of the first 64
  Constants() {
    std::size_t n = 0;
    for (int candidate = 2; n < round.size(); ++candidate) {
      bool prime = true;
      for (int d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
      if (!prime) continue;
      if (n < start.size()) start[n] = fraction(std::sqrt(static_cast<long double>(candidate)));
      round[n++] = fraction(std::cbrt(static_cast<long double>(candidate)));
    }
  }
};

void compress(std::array<std::uint32_t, 8>& hash, const unsigned char* block,
              const Constants& constants) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) {
    for (std::size_t b = 0; b < 4; ++b) w[t] = w[t] << 8U | block[4 * t + b];
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15];
    const std::uint32_t b = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + constants.round[t] + w[t];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) hash[i] += add[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  std::array<std::uint32_t, 8> hash = constants.start;
  const auto* data =
      reinterpret_cast<const unsigned char*>(bytes.data());  // NOLINT(*-reinterpret-cast)
  const std::size_t whole = bytes.size() / 64 * 64;
  for (std::size_t at = 0; at < whole; at += 64) compress(hash, data + at, constants);
  // The rest, a one bit, zeros, and the length in bits: one block or two.
  std::array<unsigned char, 128> tail{};
  const std::size_t rest = bytes.size() - whole;
  for (std::size_t i = 0; i < rest; ++i) tail[i] = data[whole + i];
  tail[rest] = 0x80;
  const std::size_t length = rest < 56 ? 64 : 128;
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[length - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  for (std::size_t at = 0; at < length; at += 64) compress(hash, tail.data() + at, constants);
  std::string text;
  for (const std::uint32_t word : hash) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15U];
  }
  return text;
}

}  // namespace covshift
