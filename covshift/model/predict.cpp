// Predictions of a classifier.
#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {
namespace {

/// p += share * softmax(psi)
void add_share(const Game& log_loss, double share, std::span<const double> psi,
               std::span<double> work, std::span<double> p) {
  log_loss.predict(psi, work);
  for (std::size_t y = 0; y < p.size(); ++y) p[y] += share * work[y];
}

}  // namespace

/// Several components share the probabilities, which log loss allows: psi = log p gives them back.
void Classifier::evaluate(const MatrixView& x, const GivenDensities& given, double* psi,
                          double* log_ratio) const {
  const int labels = game_->labels();
  const auto k = static_cast<std::size_t>(labels);
  const Shift::Ratios ratios = components_.front().shift.at(x, given);
  std::copy(ratios.log_ratio.begin(), ratios.log_ratio.end(), log_ratio);
  if (components_.size() == 1) {
    components_.front().potentials(x, ratios, labels, psi);
    return;
  }
  std::vector<double> own(x.rows * k);
  std::vector<double> work(k);
  std::fill_n(psi, own.size(), 0.0);
  for (const Component& c : components_) {
    c.potentials(x, c.shift.at(x, given), labels, own.data());
    for (std::size_t i = 0; i < own.size(); i += k) {
      add_share(*game_, c.share, {own.data() + i, k}, work, {psi + i, k});
    }
  }
  std::transform(psi, psi + own.size(), psi, [](double p) { return std::log(p); });
}

std::vector<double> Classifier::potentials(const MatrixView& x, const GivenDensities& given,
                                           int threads) const {
  std::vector<double> psi;
  std::vector<double> log_ratio;
  evaluate_all(x, given, threads, psi, log_ratio);
  return psi;
}

void Classifier::evaluate_all(const MatrixView& x, const GivenDensities& given, int threads,
                              std::vector<double>& psi, std::vector<double>& log_ratio) const {
  if (x.cols != cols()) {
    fail_input("the data have {} columns, the model was trained on {}", x.cols, cols());
  }
  const auto k = static_cast<std::size_t>(game_->labels());
  psi.resize(x.rows * k);
  log_ratio.resize(x.rows);
  each_block_of(x, given, threads,
                [&](std::size_t first, const MatrixView& rows, const GivenDensities& own) {
                  evaluate(rows, own, psi.data() + first * k, log_ratio.data() + first);
                });
}

Predictions Classifier::predict(const MatrixView& x, const GivenDensities& given,
                                int threads) const {
  Predictions out;
  evaluate_all(x, given, threads, out.psi, out.log_ratio);
  out.rows = x.rows;
  out.actions = game_->actions();
  const auto k = static_cast<std::size_t>(game_->labels());
  const auto a = static_cast<std::size_t>(out.actions);
  out.p.resize(x.rows * a);
  out.action.resize(x.rows);
  each_block_of(x, {}, threads, [&](std::size_t first, const MatrixView& rows, const auto&) {
    for (std::size_t i = first; i < first + rows.rows; ++i) {
      const std::span<double> p(out.p.data() + i * a, a);
      game_->predict({out.psi.data() + i * k, k}, p);
      out.action[i] = arg_max(p);
    }
  });
  return out;
}

std::vector<std::uint8_t> Classifier::sets(const Predictions& predictions, double alpha) const {
  if (game_->actions() != game_->labels()) {
    fail_input(
        "the loss {} predicts actions, not probabilities of the classes: there are no prediction "
        "sets",
        game_->name());
  }
  if (calibration_.empty()) {
    fail_input(
        "the model keeps no held-out scores for prediction sets: it was written by a version "
        "without them, or fitted without a promise; fit it again");
  }
  // Not cut off as the weights of the scores are: a row far beyond them has no support.
  return prediction_sets(calibration_, alpha, predictions.p, game_->labels(),
                         predictions.log_ratio);
}

}  // namespace covshift
