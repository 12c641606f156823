// Folds, and samples, that change little where the data change little.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Deals the examples of each class to folds 0 .. folds-1, in blocks of drawing_order: as good as
/// random, classes are balanced, and a small change of the data moves few rows. Copies, also nearly
/// equal ones, share a fold (see near_copies), so that no held-out example was learned from and a
/// weight of 2 equals the row twice. Examples of weight 0 get fold -1.
std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed);

/// About `rows` of the examples, of each class its share, the first in drawing_order; ascending.
std::vector<std::size_t> stratified_sample(const MatrixView& features, std::span<const int> labels,
                                           std::span<const double> sample_weight, std::size_t rows,
                                           unsigned long long seed);

}  // namespace covshift
