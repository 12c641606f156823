#include "covshift/model/component.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/learn/scaled_rows.hpp"

namespace covshift {
namespace {

using detail::json_field;

constexpr double far_out = 1e-200;

/// One row, densified and multiplied by far_out.
std::vector<double> shrunk_row(const MatrixView& x, std::size_t row) {
  std::vector<double> out(x.cols, 0.0);
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.offsets; }) {
          for (std::int64_t e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e) {
            out[rows.columns[e]] += far_out * static_cast<double>(rows.values[e]);
          }
        } else {
          for (std::size_t j = 0; j < x.cols; ++j) {
            out[j] = far_out * static_cast<double>(rows.data[row * rows.stride + j]);
          }
        }
      },
      x.storage);
  return out;
}

void scaled_potentials(const ScaledFeatures& features, const RowMatrix& t, double* psi) {
  const auto labels = static_cast<int>(t.cols());
  ScaledRows(features, labels, 1).potentials(t, psi);

  // If products of large features overflow, use a shorter row of the same direction.
  const MatrixView& x = features.features;
  const auto k = static_cast<std::size_t>(labels);
  const auto scales = static_cast<std::size_t>(features.scales);
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (all_finite({psi + i * k, k})) continue;
    const std::vector<double> row = shrunk_row(x, i);
    ScaledFeatures one = features;
    one.features = MatrixView::dense(row.data(), 1, x.cols);
    if (!one.log_scale.empty()) one.log_scale = features.log_scale.subspan(i * scales, scales);
    ScaledRows(one, labels, 1).potentials(t, psi + i * k);
  }
}

}  // namespace

void Component::potentials(const MatrixView& x, const Shift::Ratios& ratios, int labels,
                           double* psi) const {
  check_features(x, 1);
  const std::vector<int> scale_of_column = shift.scales_of(features.view_of());
  const RowMatrix t = Eigen::Map<const RowMatrix>(
      weights.data(), static_cast<Eigen::Index>(features.outputs()) + (bias ? 1 : 0), labels);
  const auto k = static_cast<std::size_t>(labels);
  const auto scales = static_cast<std::size_t>(shift.scales());
  // At most 8 MiB of features, or 64 rows.
  const std::size_t size =
      features.identity() ? x.rows : std::max<std::size_t>(64, (1U << 20U) / features.outputs());
  for (std::size_t first = 0; first < x.rows; first += size) {
    const std::size_t n = std::min(size, x.rows - first);
    const FeatureRows mapped(features, slice(x, first, n), 1);
    ScaledFeatures scaled;
    scaled.features = mapped.view();
    scaled.bias = bias;
    if (!ratios.log_scale.empty()) {
      scaled.log_scale = std::span(ratios.log_scale).subspan(first * scales, n * scales);
    }
    scaled.scales = shift.scales();
    scaled.scale_of_column = scale_of_column;
    scaled.scale_of_bias = shift.scale_of_bias();
    check_scales(scaled);
    scaled_potentials(scaled, t, psi + first * k);
  }
  for (std::size_t i = 0; i < x.rows * k; i += k) {
    const double least = *std::max_element(psi + i, psi + i + k) - certainty;
    for (std::size_t y = 0; y < k; ++y) psi[i + y] = std::max(psi[i + y], least);
  }
}

double certainty_limit(const Problem& problem, std::span<const double> weights, int threads,
                       const Reducer* reducer) {
  constexpr double most = 30;
  if (!problem.game->probabilistic()) return std::numeric_limits<double>::infinity();
  const auto labels = problem.game->labels();
  const auto k = static_cast<std::size_t>(labels);
  const std::size_t rows = problem.features.rows;
  const RowMatrix t = Eigen::Map<const RowMatrix>(
      weights.data(), static_cast<Eigen::Index>(weights.size() / k), labels);
  std::vector<double> psi(rows * k);
  begin_pass(reducer);
  ScaledRows(problem, labels, threads).potentials(t, psi.data());
  double count = 0;
  double widest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double times = problem.sample_weight.empty() ? 1 : problem.sample_weight[i];
    if (!(times > 0)) continue;
    count += times;
    const auto [low, high] = std::minmax_element(psi.data() + i * k, psi.data() + (i + 1) * k);
    widest = std::max(widest, *high - *low);
  }
  widest = max_over(reducer, widest);
  return std::min(most, std::max(widest, std::log(sum_over(reducer, count) + 1)));
}

std::vector<double> Component::potentials(const MatrixView& x, const GivenDensities& given,
                                          int labels, int threads) const {
  const auto k = static_cast<std::size_t>(labels);
  std::vector<double> psi(x.rows * k);
  each_block_of(x, given, threads,
                [&](std::size_t first, const MatrixView& rows, const GivenDensities& own) {
                  potentials(rows, shift.at(rows, own), labels, psi.data() + first * k);
                });
  return psi;
}

nlohmann::json Component::to_json() const {
  nlohmann::json json = {{"generalize", to_string(shift.assumption())},
                         {"lambda", lambda},
                         {"bias", bias},
                         {"weights", weights},
                         {"share", share}};
  if (std::isfinite(certainty)) json["certainty"] = certainty;
  if (!features.identity()) json["features"] = features.to_json();
  return json;
}

Component Component::from_json(const nlohmann::json& json, const Shift& shift, const Views& views,
                               int classes) {
  const char* what = "component";
  const Assumption assumption = parse_assumption(json_field<std::string>(json, "generalize", what));
  Component own{.features = json.contains("features") ? Features::from_json(json["features"], views)
                                                      : Features(views),
                .shift = shift.assuming(assumption),
                .weights = {}};
  own.lambda = json_field<double>(json, "lambda", what);
  own.bias = json_field<bool>(json, "bias", what);
  own.weights = json_field<std::vector<double>>(json, "weights", what);
  own.share = json_field<double>(json, "share", what);
  if (json.contains("certainty")) {
    own.certainty = json_field<double>(json, "certainty", what);
    if (!(own.certainty >= 0)) fail_input("component: the certainty {} is negative", own.certainty);
  }
  const std::size_t expected =
      (own.features.outputs() + (own.bias ? 1 : 0)) * static_cast<std::size_t>(classes);
  if (own.weights.size() != expected) {
    fail_input("component: {} weights, but {} features and {} classes need {}", own.weights.size(),
               own.features.outputs(), classes, expected);
  }
  if (!all_finite(own.weights)) fail_input("component: a weight is not a finite number");
  if (!(own.share > 0 && own.share <= 1)) {
    fail_input("component: the share {} is not in (0, 1]", own.share);
  }
  return own;
}

void each_block_of(
    const MatrixView& x, const GivenDensities& given, int threads,
    const std::function<void(std::size_t, const MatrixView&, const GivenDensities&)>& body) {
  constexpr std::size_t size = 2048;
  parallel_tasks(threads, (x.rows + size - 1) / size, [&](std::size_t block) {
    const std::size_t first = block * size;
    const std::size_t n = std::min(size, x.rows - first);
    body(first, slice(x, first, n), given.part(first, n));
  });
}

}  // namespace covshift
