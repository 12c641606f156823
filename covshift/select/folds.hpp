// Folds, and samples, that change little where the data change little.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// The rows of positive weight, class by class, by their smooth_places: as good as random, and a
/// small change of the data moves few rows, by few places.
std::vector<std::size_t> smooth_order(const MatrixView& features, std::span<const int> labels,
                                      std::span<const double> sample_weight,
                                      unsigned long long seed);

/// Deals the examples of each class to folds 0 .. folds-1 in smooth_order: classes are balanced.
/// Copies share a fold (see copies), so that no held-out example was learned from and a weight of 2
/// equals the row twice. Examples of weight 0 get fold -1.
std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed, bool copies_merged = false);

/// About `rows` of the examples, evenly from smooth_order, ascending.
std::vector<std::size_t> stratified_sample(const MatrixView& features, std::span<const int> labels,
                                           std::span<const double> sample_weight, std::size_t rows,
                                           unsigned long long seed);

}  // namespace covshift
