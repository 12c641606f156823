#include "covshift/promise/conformal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"

namespace covshift {
namespace {

constexpr double rounding = 1e-12;  // a score that equals the threshold but for rounding is in

void check_alpha(double alpha) {
  set_alphas.check("alpha, the share of sets that may miss the true class,", alpha);
}

}  // namespace

Calibration::Calibration(std::span<const double> score, std::span<const double> log_weight,
                         std::span<const double> sample_weight, std::size_t most) {
  if (score.size() != log_weight.size()) {
    fail_input("{} log weights for {} scores", log_weight.size(), score.size());
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < score.size(); ++i) {
    if (sample_weight.empty() || sample_weight[i] > 0) order.push_back(i);
    if (!std::isfinite(score[i]) || !std::isfinite(log_weight[i])) {
      fail_input("calibration row {}: the score {} or log weight {} is not finite", i + 1, score[i],
                 log_weight[i]);
    }
  }
  if (order.empty()) fail_input("prediction sets need at least one calibration row");
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  log_unit_ = log_weight[order[0]];
  for (const std::size_t i : order) log_unit_ = std::max(log_unit_, log_weight[i]);
  const std::size_t group = (order.size() + most - 1) / most;
  double sum = 0;
  for (std::size_t r = 0; r < order.size(); ++r) {
    const std::size_t i = order[r];
    const double count = sample_weight.empty() ? 1 : sample_weight[i];
    sum += count * std::exp(log_weight[i] - log_unit_);
    if ((r + 1) % group != 0 && r + 1 != order.size()) continue;
    score_.push_back(score[i]);
    cumulative_.push_back(sum);
  }
}

double Calibration::threshold(double alpha, double log_weight) const {
  check_alpha(alpha);
  constexpr double everything = std::numeric_limits<double>::infinity();
  const double own = std::exp(log_weight - log_unit_);
  const double needed = (1 - alpha) * (cumulative_.back() + own) * (1 - rounding);
  const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), needed);
  return at == cumulative_.end() ? everything : score_[at - cumulative_.begin()];
}

nlohmann::json Calibration::to_json() const {
  return {{"score", score_}, {"cumulative", cumulative_}, {"log_unit", log_unit_}};
}

Calibration Calibration::from_json(const nlohmann::json& json) {
  using detail::json_field;
  Calibration c;
  c.score_ = json_field<std::vector<double>>(json, "score", "calibration");
  c.cumulative_ = json_field<std::vector<double>>(json, "cumulative", "calibration");
  c.log_unit_ = json_field<double>(json, "log_unit", "calibration");
  const bool sound = !c.score_.empty() && c.score_.size() == c.cumulative_.size() &&
                     std::is_sorted(c.score_.begin(), c.score_.end()) &&
                     std::is_sorted(c.cumulative_.begin(), c.cumulative_.end()) &&
                     c.cumulative_.front() >= 0;
  if (!sound) fail_input("the calibration of prediction sets is damaged; fit the model again");
  return c;
}

std::vector<std::uint8_t> prediction_sets(const Calibration& calibration, double alpha,
                                          std::span<const double> p, int classes,
                                          std::span<const double> log_weight) {
  check_alpha(alpha);
  if (calibration.empty()) fail_input("there are no calibration rows for prediction sets");
  const auto k = static_cast<std::size_t>(classes);
  if (p.size() != log_weight.size() * k) {
    fail_input("{} probabilities for {} rows of {} classes", p.size(), log_weight.size(), classes);
  }
  std::vector<std::uint8_t> sets(p.size(), 0);
  for (std::size_t i = 0; i < log_weight.size(); ++i) {
    const std::span<const double> row = p.subspan(i * k, k);
    const bool numbers =
        std::all_of(row.begin(), row.end(), [](double v) { return !std::isnan(v); });
    if (!numbers || std::isnan(log_weight[i])) {
      fail_input("row {}: a probability or the log weight is not a number", i + 1);
    }
    const double q = calibration.threshold(alpha, log_weight[i]);
    for (std::size_t y = 0; y < k; ++y) sets[i * k + y] = 1 - row[y] <= q + rounding ? 1 : 0;
    sets[i * k + (std::max_element(row.begin(), row.end()) - row.begin())] = 1;
  }
  return sets;
}

}  // namespace covshift
