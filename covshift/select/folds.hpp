// Folds and samples that change little if the data change little.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "covshift/data/matrix.hpp"

namespace covshift {

/// Assigns the examples of each class to folds 0 .. folds-1, in blocks of drawing_order: as good as
/// random, with balanced classes, and a small change of the data moves few rows. Copies, including
/// near copies (see near_copies), share a fold, so that no fit has seen a held-out example and a
/// weight of 2 equals the row twice. Examples of weight 0 get fold -1.
std::vector<int> stratified_folds(const MatrixView& features, std::span<const int> labels,
                                  std::span<const double> sample_weight, int folds,
                                  unsigned long long seed);

/// About `rows` of the examples, stratified by class, the first in drawing_order; ascending.
std::vector<std::size_t> stratified_sample(const MatrixView& features, std::span<const int> labels,
                                           std::span<const double> sample_weight, std::size_t rows,
                                           unsigned long long seed);

}  // namespace covshift
