// Orders of rows that are as good as random, but change little where the data change little. (An
// order by hash is reshuffled by the last digit of any number.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covshift/data/rows.hpp"

namespace covshift {

/// A seeded smooth function of each row's entries, sum_j sin(a x_j + b) - sin b: the same for any
/// order of rows or columns and for sparse and dense storage.
std::vector<double> smooth_places(const Rows& rows, std::uint64_t seed);

/// The rows of positive weight in an order to draw samples from: its first n rows are a random
/// sample. A small change of the data moves few rows, by few places; equal rows are adjacent.
std::vector<std::size_t> drawing_order(const Rows& rows, std::span<const double> weight,
                                       std::uint64_t seed);

/// Copies (see rows.hpp) up to what float precision or the last digits of a file may differ by, so
/// that whether rows are copies does not depend on those. For features of unit scale.
Copies near_copies(const Rows& rows, std::span<const double> weight, std::span<const int> label);

/// merge_copies (rows.hpp) of near copies; of more than 2 million numbers, of exact ones.
std::vector<double> merge_near_copies(const Rows& rows, std::span<const double> weight,
                                      std::span<const int> label = {});

}  // namespace covshift
