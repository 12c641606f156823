#include "covshift/ratio/gaussian.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/json_fields.hpp"

namespace covshift {

namespace {

constexpr std::size_t column_limit = 5000;
constexpr double singular = 1e-8;
constexpr double ridge = 1e-6;

struct MeanCovariance {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

MeanCovariance moments_of(const Rows& rows, std::span<const double> weight, double total,
                          int threads, const Reducer* reducer) {
  const auto d = static_cast<Eigen::Index>(rows.dims());
  const Lanes lanes(rows.size());
  const auto weight_of = [&](std::size_t i) { return weight.empty() ? 1.0 : weight[i]; };
  begin_pass(reducer);
  std::vector<Eigen::VectorXd> sums(lanes.count);
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    sums[lane] = Eigen::VectorXd::Zero(d);
    for (std::size_t i = first; i < last; ++i) {
      rows.add(i, weight_of(i) / total, sums[lane].data());
    }
  });
  MeanCovariance moments;
  moments.mean = sums[0];
  for (std::size_t lane = 1; lane < lanes.count; ++lane) moments.mean += sums[lane];
  sum_over(reducer, {moments.mean.data(), rows.dims()});

  constexpr Eigen::Index block = 64;
  begin_pass(reducer);
  std::vector<Eigen::MatrixXd> products(lanes.count);
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    products[lane] = Eigen::MatrixXd::Zero(d, d);
    Eigen::MatrixXd packed(d, block);  // a row of the data to a column
    Eigen::Index filled = 0;
    for (std::size_t i = first; i < last; ++i) {
      auto row = packed.col(filled++);
      rows.gather(i, row.data());
      row = (row - moments.mean) * std::sqrt(weight_of(i) / total);
      if (filled == block || i + 1 == last) {
        products[lane].selfadjointView<Eigen::Lower>().rankUpdate(packed.leftCols(filled));
        filled = 0;
      }
    }
  });
  for (std::size_t lane = 1; lane < lanes.count; ++lane) products[0] += products[lane];
  sum_over(reducer, {products[0].data(), static_cast<std::size_t>(products[0].size())});
  moments.covariance = products[0].selfadjointView<Eigen::Lower>();
  return moments;
}

Gaussian plain(const MeanCovariance& moments) {
  return {{moments.mean.begin(), moments.mean.end()},
          {moments.covariance.data(), moments.covariance.data() + moments.covariance.size()}};
}

}  // namespace

GaussianRatio::GaussianRatio(std::size_t cols, std::vector<std::int32_t> columns,
                             nlohmann::json report, Gaussian train, Gaussian target)
    : DensityRatio(cols, std::move(columns), std::move(report)),
      train_(factor(std::move(train), this->columns().empty() ? cols : this->columns().size(),
                    "training")),
      target_(factor(std::move(target), train_.density.mean.size(), "target")) {}

GaussianRatio::Factored GaussianRatio::factor(Gaussian density, std::size_t dims,
                                              const char* which) {
  if (density.mean.size() != dims || density.covariance.size() != dims * dims) {
    fail_input("the {} Gaussian has {} means and {} covariances for {} columns", which,
               density.mean.size(), density.covariance.size(), dims);
  }
  if (!all_finite(density.mean) || !all_finite(density.covariance)) {
    fail_input("the {} Gaussian has a mean or covariance that is not finite", which);
  }
  const auto d = static_cast<Eigen::Index>(dims);
  Factored factored;
  factored.mean = Eigen::Map<const Eigen::VectorXd>(density.mean.data(), d);
  const Eigen::Map<const Eigen::MatrixXd> covariance(density.covariance.data(), d, d);
  if (!covariance.isApprox(covariance.transpose(), 1e-12)) {
    fail_input("the {} Gaussian's covariance is not symmetric", which);
  }
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (cholesky.info() != Eigen::Success) {
    fail_input("the {} Gaussian's covariance is not positive definite", which);
  }
  factored.lower = cholesky.matrixL();
  factored.log_scale = factored.lower.diagonal().array().log().sum();
  factored.density = std::move(density);
  return factored;
}

std::unique_ptr<GaussianRatio> GaussianRatio::fit(const RatioOptions& options, std::size_t cols,
                                                  const Samples& samples) {
  const std::size_t dims = samples.train.dims();
  if (dims > column_limit) {
    fail_input(
        "Gaussian densities need the square of {} columns in memory (at most {}); use the "
        "logistic ratio, or views",
        dims, column_limit);
  }
  const double a = samples.train_total();
  const double b = samples.target_total();
  MeanCovariance train =
      moments_of(samples.train, samples.weight, a, options.threads, samples.reducer);
  MeanCovariance target =
      moments_of(samples.target, samples.target_weight, b, options.threads, samples.reducer);
  if (!train.covariance.allFinite() || !target.covariance.allFinite()) {
    throw Error(Error::Kind::numeric, "the features' variances overflow; scale the features");
  }
  const Eigen::VectorXd between = train.mean - target.mean;
  Eigen::VectorXd variance =
      (a * train.covariance.diagonal() + b * target.covariance.diagonal()) / (a + b) +
      a * b / ((a + b) * (a + b)) * between.cwiseAbs2();
  for (double& v : variance) v = v > 0 ? v : 1.0;
  const Eigen::VectorXd scale = variance.cwiseSqrt().cwiseInverse();
  double smallest = HUGE_VAL;
  for (const MeanCovariance* m : {&train, &target}) {
    const Eigen::MatrixXd scaled = scale.asDiagonal() * m->covariance * scale.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled, Eigen::EigenvaluesOnly);
    smallest = std::min(smallest, eigen.eigenvalues()[0]);
  }
  nlohmann::json report = {{"smallest_eigenvalue", smallest}, {"ridge", 0.0}};
  if (smallest < singular) {
    train.covariance.diagonal() += ridge * variance;
    target.covariance.diagonal() += ridge * variance;
    report["ridge"] = ridge;
  }
  return std::make_unique<GaussianRatio>(cols, options.columns, std::move(report), plain(train),
                                         plain(target));
}

void GaussianRatio::evaluate(const Rows& x, std::size_t first, std::size_t last,
                             std::span<double> out) const {
  const double constant = train_.log_scale - target_.log_scale;
  Eigen::VectorXd row(train_.mean.size());
  for (std::size_t i = first; i < last; ++i) {
    x.gather(i, row.data());
    Eigen::VectorXd from_train = row - train_.mean;
    Eigen::VectorXd from_target = row - target_.mean;
    // Far-out rows are scaled down, lest the squares overflow to infinities of both signs.
    const double largest =
        std::max(from_train.cwiseAbs().maxCoeff(), from_target.cwiseAbs().maxCoeff());
    const double scale = largest > 1e100 ? std::min(largest, 1e308) : 1.0;
    from_train /= scale;
    from_target /= scale;
    train_.lower.triangularView<Eigen::Lower>().solveInPlace(from_train);
    target_.lower.triangularView<Eigen::Lower>().solveInPlace(from_target);
    const double difference = from_train.squaredNorm() - from_target.squaredNorm();
    out[i] = constant + 0.5 * scale * (scale * difference);
  }
}

void GaussianRatio::store(nlohmann::json& json) const {
  const auto density = [](const Gaussian& g) -> nlohmann::json {
    return {{"mean", g.mean}, {"covariance", g.covariance}};
  };
  json["train"] = density(train_.density);
  json["target"] = density(target_.density);
}

std::unique_ptr<GaussianRatio> GaussianRatio::load(std::size_t cols,
                                                   std::vector<std::int32_t> columns,
                                                   nlohmann::json report,
                                                   const nlohmann::json& json) {
  const auto density = [&](const char* name) -> Gaussian {
    const auto member = detail::json_field<nlohmann::json>(json, name, "Gaussian density ratio");
    return {detail::json_field<std::vector<double>>(member, "mean", name),
            detail::json_field<std::vector<double>>(member, "covariance", name)};
  };
  return std::make_unique<GaussianRatio>(cols, std::move(columns), std::move(report),
                                         density("train"), density("target"));
}

std::unique_ptr<DensityRatio> gaussian_ratio(const Gaussian& train, const Gaussian& target) {
  return std::make_unique<GaussianRatio>(train.mean.size(), std::vector<std::int32_t>{},
                                         nlohmann::json::object(), train, target);
}

}  // namespace covshift
