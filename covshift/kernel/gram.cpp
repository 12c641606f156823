#include "covshift/kernel/gram.hpp"

#include <algorithm>
#include <array>

namespace covshift {
namespace {

// Rows j .. j + 3 of the triangle end with column j + 3, which sets their pitch.
constexpr std::size_t strip = 4;

}  // namespace

void add_gram(const DenseBlock& z, const double* columns_of, const double* weight, double* sum) {
  std::array<double, strip * block_rows> scaled{};
  for (std::size_t j = 0; j < z.columns; j += strip) {
    const std::size_t columns = std::min(j + strip, z.columns);
    kernels().weigh(z.rows, columns - j, weight, columns_of + j * block_rows, scaled.data());
    kernels().times_transposed({z.data, z.stride, z.rows, columns}, scaled.data(), columns - j,
                               sum + j * padded(z.columns));
  }
}

double gram_entry(const double* sum, std::size_t columns, std::size_t j, std::size_t l) {
  const std::size_t first = j / strip * strip;
  return sum[first * padded(columns) + (j - first) * padded(std::min(first + strip, columns)) + l];
}

}  // namespace covshift
