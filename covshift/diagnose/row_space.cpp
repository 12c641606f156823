#include "covshift/diagnose/row_space.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/random.hpp"

namespace covshift {

RowSpace::RowSpace(std::span<const double> mean, std::span<const double> deviation,
                   std::uint64_t seed)
    : offset_(std::min(mean.size(), most_dims), 0.0) {
  const bool hashed = mean.size() > most_dims;
  Random random(seed);
  for (std::size_t j = 0; j < mean.size(); ++j) {
    const std::size_t dim = hashed ? random.below(most_dims) : j;
    const double sign = hashed && random.below(2) == 0 ? -1.0 : 1.0;
    const double factor = deviation[j] > 0 ? sign / deviation[j] : 0.0;
    dim_.push_back(dim);
    factor_.push_back(factor);
    offset_[dim] -= factor * mean[j];
  }
}

double RowSpace::kept() const {
  std::vector<bool> used(dims(), false);
  std::size_t varying = 0;
  for (std::size_t j = 0; j < factor_.size(); ++j) {
    if (factor_[j] == 0) continue;
    used[dim_[j]] = true;
    ++varying;
  }
  const auto together = std::count(used.begin(), used.end(), true);
  return varying == 0 ? 1 : std::sqrt(static_cast<double>(together) / static_cast<double>(varying));
}

}  // namespace covshift
