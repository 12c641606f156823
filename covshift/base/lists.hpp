// Lists of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace covshift {

/// Entries of a list, in the order given; none of an empty one, such as weights that are all 1.
template <typename T>
std::vector<T> take(std::span<const T> all, std::span<const std::size_t> which) {
  std::vector<T> some;
  if (all.empty()) return some;
  some.reserve(which.size());
  for (const std::size_t i : which) some.push_back(all[i]);
  return some;
}

/// Whether two ascending lists have an entry in common.
template <typename T>
bool share_entries(const std::vector<T>& a, const std::vector<T>& b) {
  return std::any_of(b.begin(), b.end(),
                     [&](const T& x) { return std::binary_search(a.begin(), a.end(), x); });
}

/// Appends a list.
template <typename T>
void add_to(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

inline bool all_finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace covshift
