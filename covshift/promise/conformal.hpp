// Sets of classes that hold the true one with probability 1 - alpha on the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "covshift/base/range.hpp"

namespace covshift {

/// alpha: the probability that a set misses the true class.
inline constexpr Range set_alphas = allowed::open_unit;

/// Weighted conformal prediction (Tibshirani et al. 2019). The score of a row is 1 - p(its class),
/// predicted without it: by a model fitted to other rows, or to the other folds (cross-conformal).
/// With w = P_target/P_train, a new row of weight w(x) has a score of at most
///     q(x) = inf { q : sum of w_i over scores up to q >= (1 - alpha) (sum_i w_i + w(x)) }
/// with probability 1 - alpha, and its set is every class of score up to q(x). A row that weighs
/// more than alpha of the total has no support: q is infinite and its set holds every class.
class Calibration {
 public:
  Calibration() = default;
  /// Scores in [0, 1] and log weights of calibration rows; `sample_weight`: how often each counts
  /// (empty: once). More than `most` scores are merged into as many groups, each at its largest
  /// score, which makes sets at most 1/most too likely to cover.
  Calibration(std::span<const double> score, std::span<const double> log_weight,
              std::span<const double> sample_weight = {}, std::size_t most = 2000);

  /// q(x) for a row of this log weight. Throws Error unless alpha is in (0, 1).
  [[nodiscard]] double threshold(double alpha, double log_weight) const;
  [[nodiscard]] bool empty() const { return score_.empty(); }

  [[nodiscard]] nlohmann::json to_json() const;
  static Calibration from_json(const nlohmann::json& json);

 private:
  std::vector<double> score_;       ///< ascending
  std::vector<double> cumulative_;  ///< sum of the weights up to here, relative to exp(log_unit_)
  double log_unit_ = 0;
};

/// The sets of rows with probabilities p (rows x classes), as 0 or 1 for each class. The likeliest
/// class is always in its set.
std::vector<std::uint8_t> prediction_sets(const Calibration& calibration, double alpha,
                                          std::span<const double> p, int classes,
                                          std::span<const double> log_weight);

}  // namespace covshift
