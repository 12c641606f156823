#include "covshift/model/unseen.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/data/rows.hpp"
#include "covshift/data/smooth_order.hpp"
#include "covshift/select/folds.hpp"

namespace covshift {
namespace {

// The mean of this many rows has an error of 2% of their spread: more are not worth their fits.
constexpr std::size_t enough_rows = 5000;
constexpr std::size_t enough_scores = 2000;    // 90% sets from this many cover 90% +- 0.7%
constexpr std::size_t scores_kept = 500;       // in the model file
constexpr std::size_t most_held_rows = 20000;  // of a fold
constexpr std::size_t most_target_rows = 10000;

/// The ratios of some rows.
Shift::Ratios take(const Shift::Ratios& all, std::span<const std::size_t> rows, int scales) {
  Shift::Ratios own;
  for (const std::size_t i : rows) {
    own.log_ratio.push_back(all.log_ratio[i]);
    own.log_weight.push_back(all.log_weight[i]);
    if (all.log_scale.empty()) continue;
    const auto s = static_cast<std::size_t>(scales);
    const auto first = all.log_scale.begin() + static_cast<std::ptrdiff_t>(i * s);
    own.log_scale.insert(own.log_scale.end(), first, first + scales);
  }
  return own;
}

}  // namespace

Unseen::Unseen(const TrainingData& data, const Game& game, const CrossValidation& cv, bool all)
    : data_(data),
      game_(game),
      cv_(cv),
      // Without a target there is no mean to bound: only scores for prediction sets.
      enough_(all                      ? data.features.rows
              : data.target == nullptr ? enough_scores
                                       : enough_rows) {
  const auto counts = [&](std::size_t i) {
    return data.sample_weight.empty() || data.sample_weight[i] > 0;
  };
  int rows = 0;
  for (std::size_t i = 0; i < data.features.rows && rows < cv.folds; ++i) rows += counts(i) ? 1 : 0;
  cv_.folds = std::max(2, std::min(cv.folds, rows));
  // The noise of the held-out rows is far larger.
  if (!all) cv_.solve.tolerance = std::max(cv_.solve.tolerance, 1e-4);
  if (data.target == nullptr) return;
  target_ = drawing_order(Rows(*data.target, {}), {}, cv.seed);
  target_.resize(std::min(target_.size(), most_target_rows));
}

void Unseen::add(const Component& component, const Problem& problem) {
  // By the columns, not by the component's features: a mixture leaves the same rows out everywhere.
  if (fold_.empty()) {
    fold_ =
        stratified_folds(data_.features, data_.labels, data_.sample_weight, cv_.folds, cv_.seed);
    cv_.fold = fold_;
  }
  const HeldOutFits fits = held_out_fits(problem, cv_, component.weights, enough_);
  const auto k = static_cast<std::size_t>(game_.labels());
  train_.clear();
  std::vector<double> psi;
  const auto held = static_cast<std::size_t>(
      std::count_if(fits.fold.begin(), fits.fold.end(), [](int f) { return f >= 0; }));
  const std::size_t step = enough_ == data_.features.rows ? 1 : 1 + held / (most_held_rows + 1);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < fits.fold.size(); ++i) {
    if (fits.fold[i] < 0 || seen++ % step != 0) continue;
    train_.push_back(i);
    const auto row = fits.potentials.begin() + static_cast<std::ptrdiff_t>(i * k);
    psi.insert(psi.end(), row, row + game_.labels());
  }
  mix(psi, component.share, psi_);
  if (!target_.empty()) mix(of_target(component, fits), component.share, target_psi_);
}

std::vector<double> Unseen::of_target(const Component& component, const HeldOutFits& fits) const {
  const auto k = static_cast<std::size_t>(game_.labels());
  const std::size_t folds = fits.weights.size();
  const Shift::Ratios ratios = component.shift.at(*data_.target, data_.given_target);
  std::vector<double> psi(target_.size() * k);
  for (std::size_t f = 0; f < folds; ++f) {
    std::vector<std::size_t> rows;
    for (std::size_t j = f; j < target_.size(); j += folds) rows.push_back(target_[j]);
    Component own = component;
    own.weights = fits.weights[f];
    const Matrix x = take_rows(*data_.target, rows);
    std::vector<double> found(rows.size() * k);
    own.potentials(x.view(), take(ratios, rows, component.shift.scales()), game_.labels(),
                   found.data());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(found.data() + r * k, k, psi.data() + (f + r * folds) * k);
    }
  }
  return psi;
}

/// Of a mixture: the log of the shared probabilities, which `all` collects.
void Unseen::mix(const std::vector<double>& psi, double share, std::vector<double>& all) const {
  if (share == 1) {
    all = psi;
    return;
  }
  const auto k = static_cast<std::size_t>(game_.labels());
  std::vector<double> p(k);
  const bool first = all.empty();
  all.resize(psi.size(), 0.0);
  for (std::size_t i = 0; i < psi.size(); i += k) {
    game_.predict({psi.data() + i, k}, p);
    for (std::size_t y = 0; y < k; ++y) {
      const double before = first ? 0 : std::exp(all[i + y]);
      all[i + y] = std::log(before + share * p[y]);
    }
  }
}

std::vector<double> Unseen::by_row() const {
  const auto k = static_cast<std::size_t>(game_.labels());
  std::vector<double> all(data_.features.rows * k, 0.0);
  for (std::size_t r = 0; r < train_.size(); ++r) {
    std::copy_n(psi_.data() + r * k, k, all.data() + train_[r] * k);
  }
  return all;
}

Calibration calibration_of(const Game& game, std::span<const double> psi,
                           std::span<const int> labels, std::span<const double> log_weight,
                           std::span<const double> count) {
  if (game.actions() != game.labels() || labels.empty()) return {};
  const auto k = static_cast<std::size_t>(game.labels());
  std::vector<double> score;
  std::vector<double> p(k);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    game.predict(psi.subspan(i * k, k), p);
    score.push_back(1 - p[static_cast<std::size_t>(labels[i])]);
  }
  return Calibration(score, log_weight, count, scores_kept);
}

Calibration calibration_of(const Unseen& unseen, const TrainingData& data, const Game& game,
                           const Shift& shift) {
  const std::vector<double> all = shift.at(data.features, data.given_train).log_weight;
  std::vector<double> log_weight;
  std::vector<double> count;
  std::vector<int> labels;
  for (const std::size_t i : unseen.train()) {
    labels.push_back(data.labels[i]);
    log_weight.push_back(all[i]);
    count.push_back(data.sample_weight.empty() ? 1 : data.sample_weight[i]);
  }
  return calibration_of(game, unseen.psi(), labels, log_weight, count);
}

}  // namespace covshift
