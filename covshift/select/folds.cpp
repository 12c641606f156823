#include "covshift/select/folds.hpp"

#include <algorithm>

#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {

namespace {

/// Deals one by one, so that rows of equal entries are in all folds.
void deal_by_rank(std::span<const std::size_t> order, int folds, std::vector<int>& fold) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    fold[order[k]] = static_cast<int>(k % static_cast<std::size_t>(folds));
  }
}

/// Deals each class in blocks of the order, whose sizes differ by at most one: a row more or less
/// moves one row from each block to the next, and no others.
void deal_by_block(std::span<const std::size_t> order, std::span<const int> labels, int folds,
                   std::vector<int>& fold) {
  const auto count = static_cast<std::size_t>(folds);
  std::size_t next = 0;  // the fold that gets the next surplus row
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && labels[order[end]] == labels[order[begin]]) ++end;
    const std::size_t surplus = (end - begin) % count;
    std::size_t k = begin;
    for (std::size_t f = 0; f < count; ++f) {
      const bool more = (f + count - next) % count < surplus;
      const std::size_t until = k + (end - begin) / count + (more ? 1 : 0);
      for (; k < until; ++k) fold[order[k]] = static_cast<int>(f);
    }
    next = (next + surplus) % count;
  }
}

void by_class(std::span<const int> labels, std::vector<std::size_t>& order) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return labels[i] < labels[j]; });
}

}  // namespace

std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed) {
  const Rows rows(features, {});
  const Copies near = near_copies(rows, sample_weight, labels);
  std::vector<std::size_t> order = drawing_order(rows, sample_weight, seed);
  std::vector<int> fold(labels.size(), -1);
  if (near.cells) {
    const std::vector<double> place = smooth_places(rows, seed);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return place[i] < place[j]; });
    by_class(labels, order);
    deal_by_rank(order, folds, fold);
    return fold;
  }
  std::vector<bool> copy(labels.size());
  for (const Copy& c : near.copies) copy[c.row] = true;
  std::erase_if(order, [&](std::size_t i) { return copy[i]; });
  by_class(labels, order);
  deal_by_block(order, labels, folds, fold);
  for (const Copy& c : near.copies) fold[c.row] = fold[c.of];
  return fold;
}

std::vector<std::size_t> stratified_sample(const MatrixView& features, std::span<const int> labels,
                                           std::span<const double> sample_weight, std::size_t rows,
                                           unsigned long long seed) {
  std::vector<std::size_t> order = drawing_order(Rows(features, {}), sample_weight, seed);
  by_class(labels, order);
  const std::size_t n = order.size();
  rows = std::min(rows, n);
  std::vector<std::size_t> sample;
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && labels[order[end]] == labels[order[begin]]) ++end;
    const std::size_t own = end * rows / n - begin * rows / n;
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
    sample.insert(sample.end(), first, first + static_cast<std::ptrdiff_t>(own));
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace covshift
