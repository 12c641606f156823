#include "covshift/learn/cholesky.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "covshift/base/threads.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {

Cholesky::Cholesky(std::size_t n) : n_(n), pitch_(padded(n)), h_(n * pitch_) {}

bool Cholesky::factor(int threads) {
  // Right-looking: factors a block of rows, then updates all rows below it.
  constexpr std::size_t block = 32;
  constexpr std::size_t strip = 4;            // rows updated at once
  constexpr std::size_t parallel_rows = 300;  // fewer are not worth threads
  static_assert(block <= block_rows);
  for (std::size_t first = 0; first < n_; first += block) {
    const std::size_t next = std::min(first + block, n_);
    if (!kernels().eliminate(row(first) + first, pitch_, next - first, n_ - first)) return false;
    const std::size_t strips = (n_ - next + strip - 1) / strip;
    const std::size_t tasks = n_ - next < parallel_rows ? 1 : std::min<std::size_t>(strips, 48);
    parallel_tasks(threads, tasks, [&](std::size_t task) {
      std::vector<double> sum(strip * pitch_);
      std::array<double, strip * block_rows> weight{};
      for (std::size_t s = strips * task / tasks; s < strips * (task + 1) / tasks; ++s) {
        const std::size_t begin = next + s * strip;
        const std::size_t rows = std::min(strip, n_ - begin);
        const std::size_t from = begin / 8 * 8;  // the beginning of a cache line
        for (std::size_t y = 0; y < rows; ++y) {
          for (std::size_t b = first; b < next; ++b) {
            weight[y * block_rows + b - first] = -row(b)[begin + y];
          }
        }
        const std::size_t columns = n_ - from;
        std::fill_n(sum.data(), rows * padded(columns), 0.0);
        kernels().times_transposed({row(first) + from, pitch_, next - first, columns},
                                   weight.data(), rows, sum.data());
        for (std::size_t y = 0; y < rows; ++y) {
          double* to = row(begin + y) + from;
          const double* add = sum.data() + y * padded(columns);
          for (std::size_t j = 0; j < columns; ++j) to[j] += add[j];
        }
      }
    });
  }
  return true;
}

void Cholesky::solve(double* x) const {
  for (std::size_t i = 0; i < n_; ++i) {
    const double* u = row(i);
    x[i] /= u[i];
    for (std::size_t j = i + 1; j < n_; ++j) x[j] -= x[i] * u[j];
  }
  for (std::size_t i = n_; i-- > 0;) {
    const double* u = row(i);
    std::array<double, 4> sum{};  // independent, to hide the latency of additions
    std::size_t j = i + 1;
    for (; j + 4 <= n_; j += 4) {
      for (std::size_t l = 0; l < 4; ++l) sum[l] += u[j + l] * x[j + l];
    }
    for (; j < n_; ++j) sum[0] += u[j] * x[j];
    x[i] = (x[i] - ((sum[0] + sum[1]) + (sum[2] + sum[3]))) / u[i];
  }
}

}  // namespace covshift
