#include "covshift/data/smooth_order.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/random.hpp"

namespace covshift {

std::vector<double> smooth_places(const Rows& rows, std::uint64_t seed) {
  Random random(seed);
  const double a = 1 + random.uniform();
  const double b = 6 * random.uniform();
  const double at_zero = std::sin(b);
  std::vector<double> place(rows.size(), 0.0);
  RowBuffer buffer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.each_once(i, buffer, [&](std::size_t /*column*/, double x) {
      if (x != 0) place[i] += std::sin(a * x + b) - at_zero;
    });
  }
  // Sums of the same numbers in another order differ by rounding.
  for (double& p : place) p = std::round(p * 1e10) * 1e-10;
  return place;
}

std::vector<std::size_t> drawing_order(const Rows& rows, std::span<const double> weight,
                                       std::uint64_t seed) {
  // The digits of a place after the second are as good as random, and still move little.
  constexpr double turns = 97;
  std::vector<double> key = smooth_places(rows, seed);
  for (double& k : key) k = turns * k - std::floor(turns * k);
  std::vector<std::size_t> order = row_order(rows, weight, seed);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return key[i] < key[j]; });
  return order;
}

}  // namespace covshift
