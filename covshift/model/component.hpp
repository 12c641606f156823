// One fitted predictor of a classifier.
#pragma once

#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "covshift/data/features.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/learn/problem.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift {

/// Weights T for potentials psi = sum_v r_v(x) T_v' phi_v(x), with what gives r. A classifier that
/// follows one assumption has one component; one that mixes several has one for each.
struct Component {
  Features features;  ///< phi
  Shift shift;        ///< the classifier's, under this component's assumption
  bool bias = true;
  double lambda = 0;
  std::vector<double> weights;  ///< (features + bias) x K row-major, the bias last
  double share = 1;             ///< in the mixture of probabilities
  /// No potential is further below the largest of its row than this: certainty_limit().
  double certainty = std::numeric_limits<double>::infinity();

  [[nodiscard]] std::size_t cols() const { return features.cols(); }

  /// psi of some rows, rows x K, on the calling thread; `ratios` are those of shift.at. Features
  /// are made for a block of rows at a time.
  void potentials(const MatrixView& x, const Shift::Ratios& ratios, int labels, double* psi) const;
  /// psi of all rows, with threads.
  [[nodiscard]] std::vector<double> potentials(const MatrixView& x, const GivenDensities& given,
                                               int labels, int threads) const;

  /// Without what the shift says beyond its assumption.
  [[nodiscard]] nlohmann::json to_json() const;
  /// `shift`: the classifier's, for every component.
  static Component from_json(const nlohmann::json& json, const Shift& shift, const Views& views,
                             int classes);
};

/// The most that a model with log loss may claim of a row, in potentials: what it claims of some
/// training row, or log(m + 1), the odds that m rows can show by Laplace's rule of succession, if
/// that is more. Beyond lies only extrapolation. At most 30, where probabilities still differ from
/// 0 and 1. Training rows keep their potentials, so that game, gap and certificate stay what they
/// are; infinite for other losses, whose answers are strategies: 0 and 1 are at home there.
double certainty_limit(const Problem& problem, std::span<const double> weights, int threads,
                       const Reducer* reducer = nullptr);

/// Calls body(first, rows, given) for blocks of rows of x, in parallel.
void each_block_of(
    const MatrixView& x, const GivenDensities& given, int threads,
    const std::function<void(std::size_t, const MatrixView&, const GivenDensities&)>& body);

}  // namespace covshift
