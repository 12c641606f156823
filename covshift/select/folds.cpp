#include "covshift/select/folds.hpp"

#include <algorithm>
#include <numeric>

#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {

std::vector<std::size_t> smooth_order(const MatrixView& features, std::span<const int> labels,
                                      std::span<const double> sample_weight,
                                      unsigned long long seed) {
  const Rows rows(features, {});
  const std::vector<double> place = smooth_places(rows, seed);
  // Rows of equal entries, in other columns or twice, are next to each other; row_order separates
  // those whose places differ by rounding only.
  std::vector<std::size_t> order = row_order(rows, sample_weight, seed);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return labels[i] != labels[j] ? labels[i] < labels[j] : place[i] < place[j];
  });
  return order;
}

std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed, bool copies_merged) {
  std::vector<std::size_t> original(labels.size());
  std::iota(original.begin(), original.end(), 0);
  if (!copies_merged) {
    for (const Copy& copy : copies(Rows(features, {}), sample_weight, labels)) {
      original[copy.row] = copy.of;
    }
  }
  std::vector<int> fold(labels.size(), -1);
  int next = 0;
  for (const std::size_t i : smooth_order(features, labels, sample_weight, seed)) {
    if (fold[original[i]] < 0) {
      fold[original[i]] = next;
      next = (next + 1) % folds;
    }
    fold[i] = fold[original[i]];
  }
  return fold;
}

std::vector<std::size_t> stratified_sample(const MatrixView& features, std::span<const int> labels,
                                           std::span<const double> sample_weight, std::size_t rows,
                                           unsigned long long seed) {
  const std::vector<std::size_t> order = smooth_order(features, labels, sample_weight, seed);
  if (order.size() <= rows) rows = order.size();
  std::vector<std::size_t> sample;
  for (std::size_t k = 0; k < rows; ++k) sample.push_back(order[k * order.size() / rows]);
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace covshift
