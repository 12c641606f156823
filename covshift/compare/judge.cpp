#include "covshift/compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/diagnose/trust.hpp"

namespace covshift {
namespace {

bool decides(const Comparison& c) {
  return c.by_truth ? static_cast<double>(c.truth_rows) >= least_rows : estimates_mean_something(c);
}

/// Why no winner can be named.
std::string obstacle(const Comparison& c) {
  if (c.by_truth) {
    return fmt::format("{} labelled target row{} too few to compare methods on", c.truth_rows,
                       c.truth_rows == 1 ? " is" : "s are");
  }
  if (c.effective_sample_size < least_rows) {
    return fmt::format(
        "after weighting, the training data are equivalent to {:.1f} target rows, too few to "
        "compare "
        "methods on",
        c.effective_sample_size);
  }
  return fmt::format(
      "{:.0f}% of the target lies where there are no training data, and no estimate from these "
      "says "
      "how methods do there",
      100 * c.unsupported);
}

std::string_view in_words(Metric metric) {
  return metric == Metric::brier   ? "Brier score"
         : metric == Metric::error ? "error rate"
                                   : "log loss";
}

/// What to use, and why if it is not the best.
std::string advise(const Comparison& c) {
  if (c.recommended == c.best) return fmt::format("Use {}.", c.best);
  return fmt::format("Use {}, the default, which {}.", c.recommended,
                     decides(c) ? "is not significantly behind" : "needs no such comparison");
}

std::string state(const Comparison& c) {
  const std::string by = c.by_truth ? fmt::format("the {} labelled target rows", c.truth_rows)
                                    : "held-out training rows weighted to look like the target";
  const std::string_view words = in_words(c.metric);
  if (!decides(c)) {
    return fmt::format(
        "No winner can be named: {}. {} has the smallest {}{}; {}labels from the target would "
        "decide.",
        obstacle(c), c.best, c.by_truth ? "" : "estimated ", words, c.by_truth ? "more " : "");
  }
  const auto best = std::find_if(c.methods.begin(), c.methods.end(),
                                 [&](const Compared& m) { return m.name == c.best; });
  const Judgement& judged = c.by_truth ? *best->truth : best->estimated;
  const Estimate& e = c.metric == Metric::brier   ? judged.brier
                      : c.metric == Metric::error ? judged.error
                                                  : judged.log_loss;
  if (c.methods.size() == 1) {
    return fmt::format("{} is the only method: its {} is {:.4f} ± {:.4f} on {}.", c.best, words,
                       e.value, e.standard_error, by);
  }
  if (!c.winner.empty()) {
    return fmt::format(
        "{} wins: its {} is {:.4f} ± {:.4f} on {}, and no other method comes within "
        "{:.1f} standard errors of it.",
        c.winner, words, e.value, e.standard_error, by, c.critical);
  }
  std::vector<std::string_view> tied;
  for (const Compared& m : c.methods) {
    if (m.tied && m.name != c.best) tied.push_back(m.name);
  }
  return fmt::format(
      "A tie: {} has the smallest {} ({:.4f} ± {:.4f}) on {}, but {} cannot be distinguished from "
      "it.",
      c.best, words, e.value, e.standard_error, by, listed(tied, " and "));
}

/// Without a winner: the default, unless it is measurably worse than the best.
std::string default_or_best(const Comparison& c) {
  const bool stands = std::any_of(c.methods.begin(), c.methods.end(), [&](const Compared& m) {
    return m.name == "auto" && (m.tied || !decides(c));
  });
  return stands ? "auto" : c.best;
}

}  // namespace

bool estimates_mean_something(const Comparison& c) {
  return c.effective_sample_size >= least_rows && c.unsupported < most_unsupported;
}

const std::vector<double>& RowScores::of(Metric metric) const {
  return metric == Metric::brier ? brier : metric == Metric::error ? error : log_loss;
}

RowScores score_rows(const Game& game, std::span<const double> psi, std::span<const int> labels) {
  const auto k = static_cast<std::size_t>(game.labels());
  std::vector<double> p(k);
  RowScores s;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const double> own = psi.subspan(i * k, k);
    game.predict(own, p);
    const auto top = static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
    const int label = labels[i];
    s.confidence.push_back(p[top]);
    s.error.push_back(top == label ? 0 : 1);
    s.log_loss.push_back(label < 0 ? INFINITY : game.log_loss(own, p, label));
    double brier = label < 0 ? 1 : 0;
    for (std::size_t y = 0; y < k; ++y) {
      const double apart = p[y] - (static_cast<int>(y) == label ? 1 : 0);
      brier += apart * apart;
    }
    s.brier.push_back(brier);
  }
  return s;
}

Estimate weighted_mean(std::span<const double> scores, std::span<const double> weight) {
  double total = 0;
  double sum = 0;
  const auto at = [&](std::size_t i) { return weight.empty() ? 1.0 : weight[i]; };
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (at(i) == 0) continue;
    total += at(i);
    sum += at(i) * scores[i];
  }
  Estimate e{sum / total, 0};
  if (!std::isfinite(e.value)) {
    e.standard_error = INFINITY;
    return e;
  }
  double square = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (at(i) == 0) continue;
    const double apart = at(i) * (scores[i] - e.value);
    square += apart * apart;
  }
  e.standard_error = std::sqrt(square) / total;
  return e;
}

std::vector<double> brier_of_shares(std::span<const double> shares, std::span<const int> labels) {
  double square = 0;
  for (const double s : shares) square += s * s;
  std::vector<double> brier;
  brier.reserve(labels.size());
  for (const int y : labels) brier.push_back(1 + square - (y < 0 ? 0 : 2 * shares[y]));
  return brier;
}

Estimate weighted_change(std::span<const double> scores, std::span<const double> a,
                         std::span<const double> b) {
  const auto share = [&](std::span<const double> weight) {
    std::vector<double> s(scores.size(), 1.0);
    if (!weight.empty()) s.assign(weight.begin(), weight.end());
    const double total = std::accumulate(s.begin(), s.end(), 0.0);
    for (double& x : s) x /= total;
    return s;
  };
  const std::vector<double> before = share(a);
  const std::vector<double> after = share(b);
  const double from = weighted_mean(scores, a).value;
  const double to = weighted_mean(scores, b).value;
  double square = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double own = after[i] * (scores[i] - to) - before[i] * (scores[i] - from);
    square += own * own;
  }
  return {to - from, std::sqrt(square)};
}

Judgement judge(const RowScores& scores, std::span<const double> weight) {
  constexpr std::size_t tenths = 10;
  Judgement j;
  j.n = scores.error.size();
  j.error = weighted_mean(scores.error, weight);
  j.log_loss = weighted_mean(scores.log_loss, weight);
  j.brier = weighted_mean(scores.brier, weight);
  j.confidence = weighted_mean(scores.confidence, weight).value;
  std::array<Judgement::Tenth, tenths> bins{};
  double total = 0;
  for (std::size_t i = 0; i < scores.error.size(); ++i) {
    const double w = weight.empty() ? 1.0 : weight[i];
    total += w;
    auto& bin = bins[std::min(tenths - 1, static_cast<std::size_t>(scores.confidence[i] * tenths))];
    bin.share += w;
    bin.confidence += w * scores.confidence[i];
    bin.accuracy += w * (1 - scores.error[i]);
  }
  for (Judgement::Tenth& bin : bins) {
    if (bin.share == 0) continue;
    bin.confidence /= bin.share;
    bin.accuracy /= bin.share;
    bin.share /= total;
    j.calibration_error += bin.share * std::abs(bin.confidence - bin.accuracy);
    j.calibration.push_back(bin);
  }
  return j;
}

double critical_value(double level, std::size_t others) {
  const double tail = level / static_cast<double>(std::max<std::size_t>(1, others));
  double low = 0;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double z = (low + high) / 2;
    (std::erfc(z / std::sqrt(2.0)) > tail ? low : high) = z;
  }
  return high;
}

void name_winner(Comparison& c, const std::vector<std::vector<double>>& scores,
                 std::span<const double> weight) {
  std::size_t best = scores.size();
  std::vector<double> mean;
  for (std::size_t m = 0; m < scores.size(); ++m) {
    mean.push_back(weighted_mean(scores[m], weight).value);
    if (std::isfinite(mean[m]) && (best == scores.size() || mean[m] < mean[best])) best = m;
  }
  if (best == scores.size()) {
    fail_input("no method has a finite {}; compare by another metric", in_words(c.metric));
  }
  c.best = c.methods[best].name;
  c.critical = critical_value(c.level, scores.size() - 1);
  std::vector<double> apart(scores[best].size());
  std::size_t tied = 0;
  for (std::size_t m = 0; m < scores.size(); ++m) {
    Compared& method = c.methods[m];
    if (!std::isfinite(mean[m])) {
      method.behind = {INFINITY, INFINITY};
      method.tied = false;
      continue;
    }
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i] = scores[m][i] - scores[best][i];
    method.behind = weighted_mean(apart, weight);
    method.tied = method.behind.value <= c.critical * method.behind.standard_error;
    if (m == best) method.tied = true;
    tied += method.tied ? 1 : 0;
  }
  c.winner = tied == 1 && scores.size() > 1 && decides(c) ? c.best : "";
  c.recommended = c.winner.empty() ? default_or_best(c) : c.winner;
  c.statement = state(c) + " " + advise(c);
}

}  // namespace covshift
