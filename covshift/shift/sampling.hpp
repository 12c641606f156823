// Biased sampling: a training and a target sample under covariate shift from one data set.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "covshift/base/range.hpp"
#include "covshift/data/matrix.hpp"

namespace covshift {

/// Biased sampling as in the paper's supplement: split the rows by a feature, project each portion
/// on one of its own principal components, and draw rows in proportion to a normal density around
///     mu = min + (max - min)/a,   sigma = std/b
/// of that projection. Choices the paper does not specify are options.
struct BiasedSampling {
  int feature = -1;       ///< the column to split by; -1: drawn at random
  double quantile = 0.5;  ///< rows up to this quantile of it are the training portion
  static constexpr Range quantiles = allowed::open_unit;
  double crossing = 0;  ///< the probability that a row moves to the other portion
  static constexpr Range crossings = allowed::half_open(0, 1);
  struct Interval {
    double low = 0, high = 0;
  };
  Interval a{2, 4};  ///< a is drawn uniformly from this interval
  Interval b{1, 2};  ///< and b from this one
  /// The target portion's own intervals; none: those of the training portion.
  std::optional<Interval> target_a, target_b;
  std::size_t train = 100, target = 100;  ///< rows to draw from each portion
  bool replacement = true;
  unsigned long long seed = 0;
};

struct BiasedSample {
  std::vector<std::size_t> train, target;  ///< row numbers
  int feature = 0;
  double threshold = 0;  ///< training portion: feature <= threshold
  struct Draw {
    std::size_t component = 0;
    double a = 0, b = 0;
    double mu = 0, sigma = 0;
  };
  Draw train_draw, target_draw;
};

/// Throws Error if a portion is empty, or has fewer rows with positive weight than requested
/// without replacement.
BiasedSample biased_sample(const MatrixView& x, const BiasedSampling& options);

}  // namespace covshift
