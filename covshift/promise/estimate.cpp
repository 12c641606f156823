// theta = E_target loss(y, p(x)), from labelled rows with weights and target rows (regression.hpp).
#include "covshift/promise/estimate.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/promise/inference.hpp"
#include "covshift/promise/losses.hpp"
#include "covshift/promise/ratio_test.hpp"
#include "covshift/ratio/diagnostics.hpp"
#include "covshift/ratio/held_out.hpp"

namespace covshift {
namespace {

using Vector = Eigen::VectorXd;

constexpr double least_effective = 25;
constexpr double most_beyond = 0.1;
constexpr double notable_far = 0.02;
constexpr int resamples = 400;

double largest_value(Performance metric) {
  if (metric == Performance::accuracy) return 1;
  return metric == Performance::brier ? 2 : INFINITY;
}

/// Everything that the estimates of all metrics share.
struct Study {
  const EstimateData& data;
  const WeightedSamples& samples;
  double level;
};

/// A share that was (almost) never missed is not known exactly: as if half a success and half a
/// failure had been seen as well.
double floor_error(Performance metric, double effective) {
  if (metric == Performance::log_loss) return 0;
  const double n = effective + 1;
  const double p = 0.5 / n;
  return std::sqrt(p * (1 - p) / n);
}

PerformanceEstimate with_interval(const Study& s, Performance metric, EstimateBy method,
                                  const Influenced& found) {
  const Variance v = variance_of(found.train, found.target);
  const double error = t_quantile((1 + s.level) / 2, v.freedom) *
                       std::max(std::sqrt(v.variance), floor_error(metric, s.samples.effective));
  PerformanceEstimate e;
  e.metric = metric;
  e.method = method;
  e.effective_sample_size = s.samples.effective;
  const double top = largest_value(metric);
  e.value = std::clamp(found.value, 0.0, top);
  e.low = std::clamp(found.value - error, 0.0, top);
  e.high = std::clamp(found.value + error, 0.0, top);
  return e;
}

/// Average thresholded confidence: the threshold that as large a share of the labelled rows stays
/// below as the classifier gets wrong; the accuracy is the share of the target that reaches it.
double thresholded(std::vector<double>& confidence, double wrong,
                   const std::vector<double>& target) {
  const auto below =
      static_cast<std::size_t>(std::llround(wrong * static_cast<double>(confidence.size())));
  if (below >= confidence.size()) return 0;
  const auto at = confidence.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(confidence.begin(), at, confidence.end());
  const auto reach =
      std::count_if(target.begin(), target.end(), [&](double c) { return c >= *at; });
  return static_cast<double>(reach) / static_cast<double>(target.size());
}

/// Nothing if the classifier is equally confident everywhere, which tells no rows apart.
std::optional<PerformanceEstimate> by_confidence(const Study& s, std::uint64_t seed) {
  const auto confidences = [&](std::span<const double> p, std::size_t rows) {
    std::vector<double> c(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = row_of(p, s.data.classes, static_cast<Eigen::Index>(i));
      c[i] = *std::max_element(row.begin(), row.end());
    }
    return c;
  };
  const std::size_t n = s.data.labels.size();
  const std::vector<double> own = confidences(s.data.p, n);
  const auto [least, most] = std::minmax_element(own.begin(), own.end());
  if (*least == *most) return std::nullopt;
  const std::vector<double> target = confidences(s.data.target_p, s.data.target.rows);
  const Vector right = losses(Performance::accuracy, s.data.p, s.data.labels, s.data.classes);
  Random random(seed);
  std::vector<double> drawn(n);
  std::vector<double> drawn_target(target.size());
  std::vector<double> values;
  for (int r = 0; r < resamples; ++r) {
    double wrong = 0;
    for (double& c : drawn) {
      const std::size_t i = random.below(n);
      c = own[i];
      wrong += 1 - right[static_cast<Eigen::Index>(i)];
    }
    for (double& c : drawn_target) c = target[random.below(target.size())];
    values.push_back(thresholded(drawn, wrong / static_cast<double>(n), drawn_target));
  }
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::llround(place))];
  };
  PerformanceEstimate e;
  e.metric = Performance::accuracy;
  e.method = EstimateBy::confidence;
  e.effective_sample_size = static_cast<double>(n);  // unweighted
  std::vector<double> all = own;
  e.value = thresholded(all, 1 - right.mean(), target);
  e.low = std::min(e.value, quantile((1 - s.level) / 2));
  e.high = std::max(e.value, quantile((1 + s.level) / 2));
  return e;
}

}  // namespace

Evidence evidence_of(const HeldOutRatio& ratio, double unlike, std::span<const double> count) {
  Evidence e;
  e.rows = ratio.train.size();
  e.target_rows = ratio.target.size();
  std::vector<double> log_weight(ratio.train.begin(), ratio.train.end());
  for (double& v : log_weight) v = std::min(v, ratio.bound);
  e.effective_sample_size = effective_sample_size(log_weight, count);
  double total = 0;
  for (std::size_t i = 0; i < e.rows; ++i) {
    const double n = count.empty() ? 1 : count[i];
    e.mean_weight += n * std::exp(log_weight[i]);
    total += n;
  }
  e.mean_weight /= total;
  const double largest = *std::max_element(ratio.train.begin(), ratio.train.end());
  const auto beyond = std::count_if(ratio.target.begin(), ratio.target.end(),
                                    [&](double v) { return v > largest + 1e-9; });
  e.beyond = std::max(unlike, static_cast<double>(beyond) / static_cast<double>(e.target_rows));
  if (e.beyond > most_beyond) {
    e.cannot_tell =
        fmt::format("{:.0f}% of the target rows are unlike any labelled row; label some of them",
                    100 * e.beyond);
  } else if (e.effective_sample_size < least_effective) {
    e.cannot_tell = fmt::format(
        "the {} labelled rows are equivalent to {:.0f} target rows, fewer than {:.0f}; label rows "
        "that look like the target",
        e.rows, e.effective_sample_size, least_effective);
  }
  return e;
}

TargetPerformance estimate_performance(const EstimateData& data, const EstimateOptions& options) {
  EstimateOptions::levels.check("the level", options.level);
  check_estimate_data(data);
  const Judged judged = judge(rows_of(data, options.ratio), ratios_of(data, options.ratio));
  TargetPerformance result;
  result.evidence = judged.evidence;
  result.ratio_p_value = judged.ratio_p_value;
  result.quadratic = judged.quadratic;
  const auto far = std::count(judged.far.begin(), judged.far.end(), 1);
  result.far = static_cast<double>(far) / static_cast<double>(judged.far.size());
  const WeightedSamples& samples = judged.samples;
  result.log_weight = samples.log_weight;
  const bool estimated = data.log_ratio.empty();
  std::optional<RatioCurvature> curvature;
  if (estimated) curvature.emplace(samples);
  const Study s{data, samples, options.level};
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const auto row = row_of(data.p, data.classes, static_cast<Eigen::Index>(i));
    result.impossible_rows += row[static_cast<std::size_t>(data.labels[i])] == 0 ? 1 : 0;
  }
  for (const auto& [metric, name] : names<Performance>) {
    const Vector l = losses(metric, data.p, data.labels, data.classes);
    const Regression robust =
        regression_mean(samples, l, expectations(metric, data.p, data.classes),
                        judged.near(expectations(metric, data.target_p, data.classes)));
    result.estimates.push_back(with_interval(s, metric, EstimateBy::doubly_robust, robust));
    result.estimates.push_back(
        with_interval(s, metric, EstimateBy::weighting,
                      weighted_mean(samples, l, curvature ? &*curvature : nullptr)));
    if (metric != Performance::accuracy) continue;
    if (std::optional<PerformanceEstimate> e = by_confidence(s, options.ratio.seed)) {
      result.estimates.push_back(*e);
    }
  }
  return result;
}

std::vector<std::string> cautions(const TargetPerformance& performance) {
  std::vector<std::string> texts;
  if (performance.evidence.cannot_tell.empty() && performance.ratio_p_value < ratio_level) {
    texts.push_back(fmt::format(
        "The weighted labelled rows differ from the target (p = {:.2g}): the density ratio misses "
        "a part of the shift, and the intervals may be wrong; try another one (--ratio auto).",
        performance.ratio_p_value));
  }
  if (performance.evidence.cannot_tell.empty() && performance.far > notable_far) {
    texts.push_back(fmt::format(
        "{:.2g}% of the target rows are far from every labelled row: the estimates say nothing "
        "about them.",
        100 * performance.far));
  }
  if (performance.impossible_rows > 0) {
    texts.push_back(
        fmt::format("{} labelled rows have a class that was given probability 0: their log loss is "
                    "infinite, and is counted as 36 nats.",
                    performance.impossible_rows));
  }
  return texts;
}

nlohmann::ordered_json to_json(const Evidence& e) {
  nlohmann::ordered_json json = {{"rows", e.rows},
                                 {"target_rows", e.target_rows},
                                 {"effective_sample_size", e.effective_sample_size},
                                 {"mean_weight", e.mean_weight},
                                 {"beyond", e.beyond},
                                 {"can_tell", e.cannot_tell.empty()}};
  if (!e.cannot_tell.empty()) json["reason"] = e.cannot_tell;
  return json;
}

nlohmann::ordered_json to_json(const TargetPerformance& performance) {
  nlohmann::ordered_json json = to_json(performance.evidence);
  json["ratio_p_value"] = performance.ratio_p_value;
  json["quadratic"] = performance.quadratic;
  json["far"] = performance.far;
  json["cautions"] = cautions(performance);
  json["estimates"] = nlohmann::ordered_json::array();
  // Null where there is no estimate, so that a script that overlooks can_tell has no number to use.
  const auto told = [&](double value) {
    return performance.evidence.cannot_tell.empty() ? nlohmann::ordered_json(value)
                                                    : nlohmann::ordered_json();
  };
  for (const PerformanceEstimate& e : performance.estimates) {
    json["estimates"].push_back({{"metric", to_string(e.metric)},
                                 {"method", to_string(e.method)},
                                 {"value", told(e.value)},
                                 {"low", told(e.low)},
                                 {"high", told(e.high)},
                                 {"effective_sample_size", e.effective_sample_size}});
  }
  return json;
}

}  // namespace covshift
