// Density ratios: log P_test(x)/P_train(x), as the files of ratio/ evaluate them.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/export/parts.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

/// Columns of numbers.
Tensor column(Graph& g, const Numbers& values) { return g.numbers(values, values.size()); }

/// u.x + b, the right infinity where products overflow.
Tensor affine(const json& ratio, const Tensor& x, bool cut) {
  Graph& g = *x.graph;
  const Tensor u = column(g, ratio.at("weights"));
  Tensor plain = times(x, u) + ratio.at("intercept").get<double>();
  if (cut) return plain;
  const Tensor largest = over_row("ReduceMax", apply("Abs", x));
  return where(not_finite(plain), times(x / largest, u) * largest, plain);
}

/// Squares and products of standardised columns beside the columns.
Tensor quadratic(const json& ratio, const Tensor& x, bool cut) {
  const auto pairs = ratio.at("pairs").get<std::vector<std::pair<std::int64_t, std::int64_t>>>();
  Tensor linear = affine(ratio, x, cut);
  if (pairs.empty()) return linear;
  constexpr double most = 4;
  Graph& g = *x.graph;
  auto scale = ratio.at("scale").get<Numbers>();
  for (double& s : scale) s = std::max(s, 0.0);
  const Tensor z = clip((x - g.numbers(ratio.at("mean"))) * g.numbers(scale), -most, most);
  std::vector<std::int64_t> left, right;
  auto weights = ratio.at("term_weights").get<Numbers>();
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    left.push_back(pairs[t].first);
    right.push_back(pairs[t].second);
    if (pairs[t].first == pairs[t].second) weights[t] /= std::sqrt(2.0);
  }
  return linear + times(columns_of(z, left) * columns_of(z, right), column(g, weights));
}

/// A Gaussian: what it says of its mean, L^-1 of the Cholesky factor L of its covariance, and the
/// sum of the logarithms of L's diagonal.
struct Density {
  explicit Density(const json& density) : mean(density.at("mean").get<Numbers>()) {
    const auto d = static_cast<Eigen::Index>(mean.size());
    const auto covariance = density.at("covariance").get<Numbers>();
    const Eigen::MatrixXd lower =
        Eigen::Map<const Eigen::MatrixXd>(covariance.data(), d, d).llt().matrixL();
    const Eigen::MatrixXd inverse =
        lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(d, d));
    // Rows are multiplied from the right: L^-1' row by row is L^-1 column by column.
    whitening.assign(inverse.data(), inverse.data() + inverse.size());
    log_scale = lower.diagonal().array().log().sum();
  }
  Numbers mean;
  Numbers whitening;
  double log_scale = 0;
};

Tensor gaussian(const json& ratio, const Tensor& x, bool cut) {
  Graph& g = *x.graph;
  const Density train(ratio.at("train"));
  const Density target(ratio.at("target"));
  Tensor from_train = x - g.numbers(train.mean);
  Tensor from_target = x - g.numbers(target.mean);
  Tensor scale = g.number(1);
  if (!cut) {  // lest squares overflow to infinities of both signs
    const Tensor largest = over_row("ReduceMax", apply("Abs", beside({from_train, from_target})));
    scale = where(as_boolean(reaches(largest, 1e100)), at_most(largest, 1e308), scale);
    from_train = from_train / scale;
    from_target = from_target / scale;
  }
  const auto squared = [&](const Tensor& rows, const Density& density) {
    const Tensor white = times(rows, g.numbers(density.whitening, density.mean.size()));
    return over_row("ReduceSum", white * white);
  };
  const Tensor difference = squared(from_train, train) - squared(from_target, target);
  return scale * (scale * difference) * 0.5 + (train.log_scale - target.log_scale);
}

/// Centres as a matrix, one to a column: dims x count.
Numbers dense_centres(const json& centres, std::size_t dims, std::size_t count) {
  if (centres.contains("dense")) return centres["dense"].get<Numbers>();
  const auto offsets = centres.at("offsets").get<std::vector<std::size_t>>();
  const auto centre = centres.at("centre").get<std::vector<std::size_t>>();
  const auto values = centres.at("values").get<Numbers>();
  Numbers dense(dims * count, 0.0);
  for (std::size_t j = 0; j < dims; ++j) {
    for (std::size_t k = offsets[j]; k < offsets[j + 1]; ++k) {
      dense[j * count + centre[k]] += values[k];
    }
  }
  return dense;
}

Tensor kernels(const json& ratio, const Tensor& x, std::size_t dims) {
  Graph& g = *x.graph;
  const auto coefficients = ratio.at("coefficients").get<Numbers>();
  const std::size_t count = coefficients.size();
  Numbers centres = dense_centres(ratio.at("centres"), dims, count);
  // ||x - c||^2 = ||x||^2 - 2 x.c + ||c||^2 around the mean of the centres, where it cancels least.
  Numbers mean(dims, 0.0);
  Numbers norms(count, 0.0);
  for (std::size_t j = 0; j < dims; ++j) {
    double* const own = centres.data() + j * count;
    for (std::size_t c = 0; c < count; ++c) mean[j] += own[c] / static_cast<double>(count);
    for (std::size_t c = 0; c < count; ++c) {
      own[c] -= mean[j];
      norms[c] += own[c] * own[c];
      own[c] *= -2;
    }
  }
  constexpr double far = 1e100;  // its square does not overflow
  const Tensor z = clip(x - g.numbers(mean), -far, far);
  const Tensor squared =
      over_row("ReduceSum", z * z) + times(z, g.numbers(centres, dims)) + g.numbers(norms);
  const auto width = ratio.at("width").get<double>();
  const Tensor kernel = apply("Exp", at_least(squared, 0) * (-0.5 / (width * width)));
  const Tensor sum = times(kernel, column(g, coefficients)) + ratio.at("offset").get<double>();
  return apply("Log",
               clip(sum, ratio.at("floor").get<double>(), ratio.at("ceiling").get<double>()));
}

Tensor estimate(const json& ratio, const Tensor& x, std::size_t dims, bool cut) {
  const auto method = ratio.at("method").get<std::string>();
  switch (parse_ratio_method(method)) {
    case RatioMethod::logistic:
      return affine(ratio, x, cut);
    case RatioMethod::quadratic:
      return quadratic(ratio, x, cut);
    case RatioMethod::gaussian:
      return gaussian(ratio, x, cut);
    case RatioMethod::ulsif:
    case RatioMethod::rulsif:
    case RatioMethod::kliep:
    case RatioMethod::kmm:
      return kernels(ratio, x, dims);
    default:
      fail_input("the density ratio '{}' cannot be exported; predict with covshift", method);
  }
}

}  // namespace

Tensor log_ratio_of(const json& ratio, const Tensor& x, bool cut) {
  if (ratio.at("method") == to_string(RatioMethod::none)) return over_row("ReduceSum", x * 0.0);
  constexpr double largest = 1e300;
  const auto columns = ratio.value("columns", std::vector<std::int64_t>{});
  const std::size_t dims = columns.empty() ? ratio.at("cols").get<std::size_t>() : columns.size();
  const Tensor own = columns.empty() ? x : columns_of(x, columns);
  return clip(estimate(ratio, own, dims, cut), -largest, largest);
}

}  // namespace covshift
