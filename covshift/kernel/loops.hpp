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
          exponentials, columns_sums,
          eliminate};
}

}  // namespace
}  // namespace covshift
// NOLINTEND(misc-definitions-in-headers)
