#include "covshift/ratio/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/ratio/logistic.hpp"

namespace covshift {
namespace {

constexpr double cut = 4;
constexpr std::size_t most_terms = 100;
// Rows that both regressions are fitted to: the likelihoods must be of the same rows.
constexpr std::size_t fewest_rows = 4000;
constexpr std::size_t most_rows_expanded = 20000;
constexpr double most_work_expanded = 1e8;  // rows times features squared

/// Calls f(row, weight) for the rows of positive weight, training rows first.
template <typename F>
void each_row(const Samples& samples, F&& f) {
  std::vector<double> row(samples.train.dims());
  for (const Rows* part : {&samples.train, &samples.target}) {
    const std::span<const double> weight =
        part == &samples.train ? samples.weight : samples.target_weight;
    for (std::size_t i = 0; i < part->size(); ++i) {
      const double times = weight.empty() ? 1 : weight[i];
      if (!(times > 0)) continue;
      part->gather(i, row.data());
      f(row, times);
    }
  }
}

/// A sample's rows of positive weight, or a share of them evenly spaced, as columns and terms.
struct Expanded {
  Expanded(const Rows& rows, std::span<const double> given, const QuadraticTerms& terms,
           double share) {
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (given.empty() || given[i] > 0) taken.push_back(i);
    }
    const std::size_t all = taken.size();
    const auto count = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(all))));
    const std::size_t dims = rows.dims();
    matrix.rows = std::min(count, all);
    matrix.cols = dims + terms.pairs.size();
    matrix.values.resize(matrix.rows * matrix.cols);
    std::vector<double> z;
    for (std::size_t k = 0; k < matrix.rows; ++k) {
      const std::size_t i = taken[k * all / matrix.rows];
      double* const out = matrix.values.data() + k * matrix.cols;
      rows.gather(i, out);
      terms.at(out, z, out + dims);
      weight.push_back(given.empty() ? 1 : given[i]);
    }
  }
  Matrix matrix;
  std::vector<double> weight;
};

double held_out_gain(const LogisticRatio& ratio) {
  const nlohmann::json& report = ratio.report();
  return report.contains("held_out_gain") ? report["held_out_gain"].get<double>() : 0;
}

}  // namespace

QuadraticTerms QuadraticTerms::fit(const Samples& samples) {
  QuadraticTerms terms;
  const std::size_t d = samples.train.dims();
  if (d > most_terms) return terms;
  terms.mean.assign(d, 0);
  terms.scale.assign(d, 0);
  std::vector<std::set<double>> values(d);
  double total = 0;
  each_row(samples, [&](const std::vector<double>& row, double times) {
    total += times;
    for (std::size_t j = 0; j < d; ++j) {
      terms.mean[j] += times * row[j];
      if (values[j].size() < 3) values[j].insert(row[j]);
    }
  });
  for (double& m : terms.mean) m /= total;
  each_row(samples, [&](const std::vector<double>& row, double times) {
    for (std::size_t j = 0; j < d; ++j) {
      const double off = row[j] - terms.mean[j];
      terms.scale[j] += times * off * off;
    }
  });
  std::vector<std::int32_t> varying;
  for (std::size_t j = 0; j < d; ++j) {
    const double deviation = std::sqrt(terms.scale[j] / total);
    // A column that hardly varies beside its size is constant but for rounding.
    const bool varies = std::isfinite(deviation) && values[j].size() > 1 &&
                        deviation > 1e-12 * std::abs(terms.mean[j]);
    terms.scale[j] = varies ? 1 / deviation : 0;
    if (!varies) continue;
    varying.push_back(static_cast<std::int32_t>(j));
    if (values[j].size() > 2) terms.pairs.emplace_back(varying.back(), varying.back());
  }
  const std::size_t products = varying.size() * (varying.size() - 1) / 2;
  if (!varying.empty() && terms.pairs.size() + products <= most_terms) {
    for (std::size_t a = 0; a < varying.size(); ++a) {
      for (std::size_t b = a + 1; b < varying.size(); ++b) {
        terms.pairs.emplace_back(varying[a], varying[b]);
      }
    }
  }
  return terms;
}

void QuadraticTerms::at(const double* row, std::vector<double>& z, double* out) const {
  z.resize(mean.size());
  for (std::size_t j = 0; j < mean.size(); ++j) {
    z[j] = scale[j] > 0 ? std::clamp((row[j] - mean[j]) * scale[j], -cut, cut) : 0;
  }
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    const auto [a, b] = pairs[t];
    out[t] = a == b ? z[a] * z[a] / std::sqrt(2.0) : z[a] * z[b];
  }
}

QuadraticRatio::QuadraticRatio(std::size_t cols, std::vector<std::int32_t> columns,
                               nlohmann::json report, Form form)
    : DensityRatio(cols, std::move(columns), std::move(report)), form_(std::move(form)) {}

std::unique_ptr<QuadraticRatio> QuadraticRatio::fit(const RatioOptions& given, std::size_t cols,
                                                    const Samples& samples) {
  Form form;
  form.terms = QuadraticTerms::fit(samples);
  if (form.terms.pairs.empty()) {
    const std::unique_ptr<LogisticRatio> linear = LogisticRatio::fit(given, cols, samples);
    nlohmann::json report = linear->report();
    report["quadratic_share"] = 0;
    form.weights = linear->weights();
    form.intercept = linear->intercept();
    form.terms = {};
    return std::make_unique<QuadraticRatio>(cols, given.columns, std::move(report),
                                            std::move(form));
  }
  RatioOptions options = given;
  options.columns.clear();
  const std::size_t d = samples.train.dims();
  const auto features = static_cast<double>(d + form.terms.pairs.size());
  const auto affordable = static_cast<std::size_t>(most_work_expanded / (features * features));
  const double share =
      std::min(1.0, static_cast<double>(std::clamp(affordable, fewest_rows, most_rows_expanded)) /
                        static_cast<double>(samples.train.size() + samples.target.size()));
  const Expanded train(samples.train, samples.weight, form.terms, share);
  const Expanded target(samples.target, samples.target_weight, form.terms, share);
  std::vector<std::int32_t> columns(d);
  for (std::size_t j = 0; j < d; ++j) columns[j] = static_cast<std::int32_t>(j);
  const auto fit_to = [&](std::span<const std::int32_t> used) {
    const Samples own{Rows(train.matrix.view(), used), Rows(target.matrix.view(), used),
                      train.weight, target.weight};
    return LogisticRatio::fit(options, used.empty() ? train.matrix.cols : d, own);
  };
  const std::unique_ptr<LogisticRatio> linear = fit_to(columns);
  const std::unique_ptr<LogisticRatio> full = fit_to({});
  double rows = 0;
  for (const Expanded* part : {&train, &target}) {
    for (const double w : part->weight) rows += w;
  }
  const double more = rows * (held_out_gain(*full) - held_out_gain(*linear));
  const double pi = 1 / (1 + std::exp(-more));
  for (std::size_t j = 0; j < d; ++j) {
    form.weights.push_back(pi * full->weights()[j] + (1 - pi) * linear->weights()[j]);
  }
  for (std::size_t t = 0; t < form.terms.pairs.size(); ++t) {
    form.term_weights.push_back(pi * full->weights()[d + t]);
  }
  form.intercept = pi * full->intercept() + (1 - pi) * linear->intercept();
  nlohmann::json report = {
      {"quadratic_share", pi},
      {"terms", form.terms.pairs.size()},
      {"held_out_gain", pi * held_out_gain(*full) + (1 - pi) * held_out_gain(*linear)},
      {"linear", linear->report()},
      {"quadratic", full->report()}};
  return std::make_unique<QuadraticRatio>(cols, given.columns, std::move(report), std::move(form));
}

void QuadraticRatio::evaluate(const Rows& x, std::size_t first, std::size_t last,
                              std::span<double> out) const {
  std::vector<double> row(x.dims());
  std::vector<double> z;
  std::vector<double> terms(form_.terms.pairs.size());
  for (std::size_t i = first; i < last; ++i) {
    out[i] = affine(x, i, form_.weights, form_.intercept);
    if (terms.empty()) continue;
    x.gather(i, row.data());
    form_.terms.at(row.data(), z, terms.data());
    for (std::size_t t = 0; t < terms.size(); ++t) out[i] += form_.term_weights[t] * terms[t];
  }
}

void QuadraticRatio::store(nlohmann::json& json) const {
  json["weights"] = form_.weights;
  json["intercept"] = form_.intercept;
  json["mean"] = form_.terms.mean;
  json["scale"] = form_.terms.scale;
  json["pairs"] = form_.terms.pairs;
  json["term_weights"] = form_.term_weights;
}

std::unique_ptr<QuadraticRatio> QuadraticRatio::load(std::size_t cols,
                                                     std::vector<std::int32_t> columns,
                                                     nlohmann::json report,
                                                     const nlohmann::json& json) {
  constexpr auto what = "quadratic density ratio";
  using Numbers = std::vector<double>;
  Form form;
  form.weights = detail::json_field<Numbers>(json, "weights", what);
  form.intercept = detail::json_field<double>(json, "intercept", what);
  form.terms.mean = detail::json_field<Numbers>(json, "mean", what);
  form.terms.scale = detail::json_field<Numbers>(json, "scale", what);
  form.terms.pairs =
      detail::json_field<std::vector<std::pair<std::int32_t, std::int32_t>>>(json, "pairs", what);
  form.term_weights = detail::json_field<Numbers>(json, "term_weights", what);
  const std::size_t dims = columns.empty() ? cols : columns.size();
  const auto column = [&](std::int32_t j) {
    return j >= 0 && static_cast<std::size_t>(j) < form.terms.mean.size();
  };
  const bool sound =
      form.weights.size() == dims && form.term_weights.size() == form.terms.pairs.size() &&
      form.terms.mean.size() == form.terms.scale.size() &&
      (form.terms.pairs.empty() || form.terms.mean.size() == dims) &&
      std::all_of(form.terms.pairs.begin(), form.terms.pairs.end(),
                  [&](const auto& p) { return column(p.first) && column(p.second); }) &&
      all_finite(form.weights) && all_finite(form.term_weights) && all_finite(form.terms.mean) &&
      all_finite(form.terms.scale) && std::isfinite(form.intercept);
  if (!sound) {
    fail_input("{}: sizes do not match or a number is unusable; the file is damaged or was edited",
               what);
  }
  return std::make_unique<QuadraticRatio>(cols, std::move(columns), std::move(report),
                                          std::move(form));
}

}  // namespace covshift
