// Potentials and gradients: products of rows and weights, and back.
#pragma once

#include "covshift/kernel/vectors.hpp"

// NOLINTBEGIN(misc-definitions-in-headers): each source is to have its own
namespace covshift {
namespace {

/// Prefetches row b of the next block: one half of it during each of this block's two products, so
/// that memory is busy all the time. The processor prefetches longer rows by itself.
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

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
