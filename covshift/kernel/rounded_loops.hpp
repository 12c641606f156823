// Products with rounded rows.
#pragma once

#include "covshift/kernel/vectors.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): each source is to have its own
namespace covshift {
namespace {

// NOLINTBEGIN(modernize-use-using): attributes that depend on a constant
typedef float Singles __attribute__((vector_size(width * sizeof(double))));
typedef float UnalignedSingles
    __attribute__((vector_size(width * sizeof(double)), aligned(4), may_alias));
typedef RoundedPair Pairs
    __attribute__((vector_size(width * sizeof(double)), aligned(4), may_alias));
typedef RoundedPair HalfPairs
    __attribute__((vector_size(width * sizeof(float)), aligned(4), may_alias));
// NOLINTEND(modernize-use-using)
constexpr std::size_t group = 32;         // columns
constexpr std::size_t pairs = 2 * width;  // in a vector

inline Singles load(const float* from) { return *reinterpret_cast<const UnalignedSingles*>(from); }
inline void store(float* to, Singles x) { *reinterpret_cast<UnalignedSingles*>(to) = x; }

/// A vector's pairs: the columns of the first half of their 32, and those of the second.
struct Columns {
  explicit Columns(const RoundedPair* from) {
    const Pairs both = *reinterpret_cast<const Pairs*>(from);
    first = reinterpret_cast<Singles>(both << 16U);
    second = reinterpret_cast<Singles>(both & 0xffff0000U);
  }
  Singles first, second;
};

double round(const double* from, std::size_t columns, RoundedPair* to) {
  Vector squares = {};
  // To the nearest, of two equally near ones to the even one.
  const auto rounded = [&](const Vector& x) {
    squares += x * x;
    const Floats single = __builtin_convertvector(x, Floats);
    const HalfPairs bits = reinterpret_cast<HalfPairs>(single);
    return bits + 0x7fffU + (bits >> 16U & 1U);
  };
  const auto round_group = [&](const double* own) {
    for (std::size_t w = 0; w < group / 2; w += width) {
      *reinterpret_cast<HalfPairs*>(to + w) =
          rounded(load(own + w)) >> 16U | (rounded(load(own + w + group / 2)) & 0xffff0000U);
    }
    to += group / 2;
  };
  std::size_t j = 0;
  for (; j + group <= columns; j += group) round_group(from + j);
  if (j < columns) {
    double rest[group] = {};
    for (std::size_t l = 0; l < columns - j; ++l) rest[l] = from[j + l];
    round_group(rest);
  }
  return total(squares);
}

template <std::size_t Rows, std::size_t Labels>
void rounded_tile(const RoundedPair* z, std::size_t pitch, const float* t, double* psi) {
  Singles sum[Labels][Rows] = {};
  for (std::size_t g = 0; g < pitch; g += group) {
    for (std::size_t w = 0; w < group / 2; w += pairs) {
      Singles first[Labels];
      Singles second[Labels];
      for (std::size_t y = 0; y < Labels; ++y) {
        first[y] = load(t + y * pitch + g + w);
        second[y] = load(t + y * pitch + g + w + group / 2);
      }
      for (std::size_t b = 0; b < Rows; ++b) {
        const Columns x(z + (b * pitch + g) / 2 + w);
        for (std::size_t y = 0; y < Labels; ++y) {
          sum[y][b] += first[y] * x.first + second[y] * x.second;
        }
      }
    }
  }
  for (std::size_t y = 0; y < Labels; ++y) {
    for (std::size_t b = 0; b < Rows; ++b) {
      double all = 0;
      for (std::size_t l = 0; l < pairs; ++l) all += static_cast<double>(sum[y][b][l]);
      psi[y * block_rows + b] = all;
    }
  }
}

void rounded_times(const RoundedBlock& z, const float* t, std::size_t labels, double* psi) {
  const std::size_t pitch = rounded_columns(z.columns);
  for (std::size_t y = 0; y < labels; y += 4) {
    up_to_4(labels - y, [&]<std::size_t Labels>() {
      std::size_t b = 0;
      const auto tile = [&]<std::size_t Rows>() {
        rounded_tile<Rows, Labels>(z.data + b * pitch / 2, pitch, t + y * pitch,
                                   psi + y * block_rows + b);
        b += Rows;
      };
      while (b + tile_rows <= z.rows) tile.template operator()<tile_rows>();
      while (b < z.rows) tile.template operator()<1>();
    });
  }
}

template <std::size_t Labels>
void rounded_transposed(const RoundedBlock& z, const double* rows, float* out) {
  const std::size_t pitch = rounded_columns(z.columns);
  float weight[Labels][block_rows];
  for (std::size_t y = 0; y < Labels; ++y) {
    for (std::size_t b = 0; b < z.rows; ++b) {
      weight[y][b] = static_cast<float>(rows[y * block_rows + b]);
    }
  }
  for (std::size_t g = 0; g < pitch; g += group) {
    for (std::size_t w = 0; w < group / 2; w += pairs) {
      float* const to = out + g + w;
      Singles first[Labels];
      Singles second[Labels];
      for (std::size_t y = 0; y < Labels; ++y) {
        first[y] = load(to + y * pitch);
        second[y] = load(to + y * pitch + group / 2);
      }
      for (std::size_t b = 0; b < z.rows; ++b) {
        const Columns x(z.data + (b * pitch + g) / 2 + w);
        for (std::size_t y = 0; y < Labels; ++y) {
          first[y] += weight[y][b] * x.first;
          second[y] += weight[y][b] * x.second;
        }
      }
      for (std::size_t y = 0; y < Labels; ++y) {
        store(to + y * pitch, first[y]);
        store(to + y * pitch + group / 2, second[y]);
      }
    }
  }
}

void rounded_times_transposed(const RoundedBlock& z, const double* rows, std::size_t labels,
                              float* out) {
  for (std::size_t y = 0; y < labels; y += 4) {
    up_to_4(labels - y, [&]<std::size_t Labels>() {
      rounded_transposed<Labels>(z, rows + y * block_rows, out + y * rounded_columns(z.columns));
    });
  }
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
