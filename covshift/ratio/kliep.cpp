// KLIEP (Sugiyama et al. 2008): the ratio as a non-negative sum of kernels at target rows,
//
//     max over alpha >= 0  mean_target log ratio(x),    mean_train ratio(x) = 1.
//
// With a_l the mean of kernel l over training and beta_l = alpha_l a_l this is the proportions of a
// mixture of the densities k_l/a_l: beta >= 0, sum beta = 1. The width is the one of the best
// cross-validated likelihood (over at most 2000 target rows; training rows are held out as well). A
// kernel with less than half a training row within reach (n_train a_l < 1/2) would explain its
// target rows by a ratio that no training row contradicts, however large; it is left out.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/ratio/gaussian_basis.hpp"

namespace covshift {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_rows = 0.5;
constexpr double fit_gap = 1e-10;
constexpr double fold_gap = 1e-5;
constexpr Index validation_rows = 2000;

/// Sums over training rows first, first + step, ... of the kernels.
struct Mass {
  VectorXd sum;
  double share = 0;  // of all the training weight
};

Mass training_mass(const KernelData& data, const MatrixXd& phi, Index first, Index step) {
  Mass mass{VectorXd::Zero(phi.rows()), 0};
  for (Index i = first; i < phi.cols(); i += step) {
    mass.sum += data.train_share[i] * phi.col(i);
    mass.share += data.train_share[i];
  }
  return mass;
}

struct Kept {
  std::vector<Index> centre;  // with training mass
  VectorXd log_mass;          // log a_l of those
};

Kept kept_centres(const KernelData& data, const Mass& mass) {
  const double least = least_rows / data.train_total;
  Kept kept;
  std::vector<double> logs;
  for (Index l = 0; l < mass.sum.size(); ++l) {
    if (!(mass.sum[l] >= least)) continue;
    kept.centre.push_back(l);
    logs.push_back(std::log(mass.sum[l] / mass.share));
  }
  kept.log_mass = Eigen::Map<const VectorXd>(logs.data(), static_cast<Index>(logs.size()));
  return kept;
}

/// k_l(x_i)/a_l of the target rows, a column for each, divided by its largest entry: a constant of
/// the objective, and nothing underflows to a column of zeros.
struct Likelihoods {
  MatrixXd scaled;
  Eigen::RowVectorXd log_scale;
};

Likelihoods likelihoods(const KernelData& data, const Kept& kept, double width, Index rows) {
  Likelihoods found{MatrixXd(static_cast<Index>(kept.centre.size()), rows), {}};
  const double twice = 2 * width * width;
  for (Index i = 0; i < rows; ++i) {
    for (Index l = 0; l < found.scaled.rows(); ++l) {
      found.scaled(l, i) = data.target_distance(kept.centre[l], i) + twice * kept.log_mass[l];
    }
  }
  const Eigen::RowVectorXd least = found.scaled.colwise().minCoeff();
  found.log_scale = -least / twice;
  found.scaled = gaussian_kernels(MatrixXd(found.scaled.rowwise() - least), width);
  return found;
}

/// The mean over held-out target rows of the log ratio, normalised over held-out training rows:
/// narrow kernels fit the noise of both samples. -infinity without a usable kernel.
double score_width(const KernelData& data, double width, Index folds) {
  const MatrixXd phi = gaussian_kernels(data.train_distance, width);
  std::vector<Mass> part;
  for (Index f = 0; f < folds; ++f) part.push_back(training_mass(data, phi, f, folds));
  VectorXd shares = VectorXd::Zero(phi.rows());  // of the fold before, where the next begins
  const Index rows = std::min(data.target_distance.cols(), validation_rows);
  double score = 0;
  for (Index f = 0; f < folds; ++f) {
    Mass others{VectorXd::Zero(data.train_distance.rows()), 0};
    for (Index g = 0; g < folds; ++g) {
      if (g == f) continue;
      others.sum += part[g].sum;
      others.share += part[g].share;
    }
    const Kept kept = kept_centres(data, others);
    if (kept.centre.empty()) return -std::numeric_limits<double>::infinity();
    const Likelihoods target = likelihoods(data, kept, width, rows);
    std::vector<Index> fitted;
    for (Index i = 0; i < rows; ++i) {
      if (i % folds != f) fitted.push_back(i);
    }
    const VectorXd beta =
        fit_mixture(target.scaled(Eigen::all, fitted), fold_gap, shares(kept.centre));
    shares.setZero();
    shares(kept.centre) = beta;
    double sum = 0;
    double count = 0;
    for (Index i = f; i < rows; i += folds) {
      const double log_ratio = std::log(target.scaled.col(i).dot(beta)) + target.log_scale[i];
      sum += std::max(log_ratio, std::log(ratio_floor));
      count += 1;
    }
    double mean = 0;  // of the ratio over the held-out training rows
    for (Index l = 0; l < beta.size(); ++l) {
      mean += beta[l] * std::exp(-kept.log_mass[l]) * part[f].sum[kept.centre[l]] / part[f].share;
    }
    score += (sum / count - std::log(std::max(mean, ratio_floor))) / static_cast<double>(folds);
  }
  return score;
}

/// fit_mixture() of all densities at once.
VectorXd interior_point(const MatrixXd& likelihood, double tolerance) {
  // Equivalently min  -mean log(L'beta) + sum beta  over beta >= 0 (its optimum adds up to 1), by a
  // primal-dual interior point method; z are the multipliers of beta >= 0.
  const Index b = likelihood.rows();
  const auto n = static_cast<double>(likelihood.cols());
  VectorXd beta = VectorXd::Constant(b, 1.0 / static_cast<double>(b));
  VectorXd z = VectorXd::Ones(b);
  VectorXd density = likelihood.transpose() * beta;
  const auto gradient_at = [&](const VectorXd& p) -> VectorXd {
    return VectorXd::Ones(b) - likelihood * p.cwiseInverse() / n;
  };
  VectorXd gradient = gradient_at(density);
  for (int iteration = 0; iteration < 500; ++iteration) {
    throw_if_stopped();
    // Concavity: no beta beats beta/sum(beta) by more than max_l mean(L_l / density) - 1.
    const double sum = beta.sum();
    if (sum * (1 - gradient.minCoeff()) - 1 <= tolerance) return beta / sum;

    const double mu = 0.1 * beta.dot(z) / static_cast<double>(b);
    MatrixXd system = weighted_gram(likelihood, density.cwiseAbs2().cwiseInverse() / n, 0, 1);
    system.diagonal() += z.cwiseQuotient(beta);
    const VectorXd step = system.llt().solve(mu * beta.cwiseInverse() - gradient);
    const VectorXd dual_step =
        mu * beta.cwiseInverse() - z - z.cwiseQuotient(beta).cwiseProduct(step);
    if (!step.allFinite()) break;

    double length = 1;
    for (Index l = 0; l < b; ++l) {
      if (step[l] < 0) length = std::min(length, -0.99 * beta[l] / step[l]);
      if (dual_step[l] < 0) length = std::min(length, -0.99 * z[l] / dual_step[l]);
    }
    // The residual of the optimality conditions must shrink.
    const auto residual = [&](const VectorXd& g, const VectorXd& x, const VectorXd& y) {
      return std::sqrt((g - y).squaredNorm() +
                       (x.cwiseProduct(y).array() - mu).matrix().squaredNorm());
    };
    const double before = residual(gradient, beta, z);
    for (int halving = 0; halving < 40; ++halving, length /= 2) {
      const VectorXd next = beta + length * step;
      const VectorXd next_z = z + length * dual_step;
      const VectorXd next_density = likelihood.transpose() * next;
      const VectorXd next_gradient = gradient_at(next_density);
      if (residual(next_gradient, next, next_z) <= (1 - 0.01 * length) * before || halving == 39) {
        beta = next;
        z = next_z;
        density = next_density;
        gradient = next_gradient;
        break;
      }
    }
  }
  throw Error(Error::Kind::numeric, "KLIEP did not converge; use a larger kernel width");
}

/// Chooses up to `some` more, those of the largest gains above `least`; false if there are none.
bool add_best(const VectorXd& gain, double least, Index some, std::vector<char>& chosen) {
  std::vector<Index> others;
  for (Index l = 0; l < gain.size(); ++l) {
    if (!chosen[l] && gain[l] > least) others.push_back(l);
  }
  const auto count = std::min(some, static_cast<Index>(others.size()));
  std::partial_sort(others.begin(), others.begin() + count, others.end(),
                    [&](Index a, Index c) { return gain[a] > gain[c]; });
  for (Index k = 0; k < count; ++k) chosen[others[k]] = 1;
  return count > 0;
}

/// Densities to begin with: those that have a share already, the most promising of the others by
/// their gain over equal shares, and one that is large at every column.
std::vector<char> first_choice(const MatrixXd& likelihood, const VectorXd& start, Index some) {
  const Index b = likelihood.rows();
  std::vector<char> chosen(static_cast<std::size_t>(b));
  for (Index l = 0; l < start.size(); ++l) chosen[l] = start[l] > 1e-6;
  const VectorXd equal = likelihood.colwise().mean();
  add_best(likelihood * equal.cwiseInverse(), 0, some, chosen);
  for (Index i = 0; i < likelihood.cols(); ++i) {
    bool seen = false;
    for (Index l = 0; l < b && !seen; ++l) seen = chosen[l] && likelihood(l, i) > 1e-9;
    Index top = 0;
    likelihood.col(i).maxCoeff(&top);
    if (!seen) chosen[top] = 1;
  }
  return chosen;
}

}  // namespace

VectorXd fit_mixture(const MatrixXd& likelihood, double tolerance, const VectorXd& start) {
  constexpr Index some = 8;
  const auto n = static_cast<double>(likelihood.cols());
  std::vector<char> chosen = first_choice(likelihood, start, some);
  for (;;) {  // ends: every round but the last adds densities
    std::vector<Index> index;
    for (Index l = 0; l < likelihood.rows(); ++l) {
      if (chosen[l]) index.push_back(l);
    }
    const MatrixXd part = likelihood(index, Eigen::all);
    const VectorXd beta = interior_point(part, tolerance / 2);
    const VectorXd density = part.transpose() * beta;
    const VectorXd gain = likelihood * density.cwiseInverse() / n;
    if (add_best(gain, 1 + tolerance, some, chosen)) continue;
    VectorXd all = VectorXd::Zero(likelihood.rows());
    all(index) = beta;
    return all;
  }
}

std::unique_ptr<KernelRatio> fit_kliep(const RatioOptions& options, std::size_t cols,
                                       const Samples& samples) {
  KernelData data(options, samples);
  const Index folds = std::min(
      {static_cast<Index>(options.folds), data.train_distance.cols(), data.target_distance.cols()});
  const auto kept_with = [&](double width) {
    return kept_centres(data,
                        training_mass(data, gaussian_kernels(data.train_distance, width), 0, 1));
  };
  // Nothing to hold out: the median distance, or the next width that reaches training rows.
  std::size_t middle = data.widths.size() / 2;
  while (middle + 1 < data.widths.size() && kept_with(data.widths[middle]).centre.empty()) {
    ++middle;
  }
  double width = data.widths[middle];
  nlohmann::json report;
  if (data.widths.size() > 1 && folds >= 2) {
    const std::vector<double> losses = walk_losses(
        options, data.widths.size(), data.widths.size() / 2,
        [&](std::size_t w, std::size_t) { return -score_width(data, data.widths[w], folds); });
    if (std::isfinite(losses[least(losses)])) width = data.widths[least(losses)];
    report["folds"] = folds;
    for (std::size_t w = 0; w < losses.size(); ++w) {
      if (!std::isfinite(losses[w])) continue;
      report["scores"].push_back({{"width", data.widths[w]}, {"log_likelihood", -losses[w]}});
    }
  }
  const Kept kept = kept_with(width);
  if (kept.centre.empty()) {
    throw Error(Error::Kind::numeric,
                fmt::format("KLIEP: with a kernel width of {} no target row has a training row "
                            "within reach; the samples do not overlap: use the logistic ratio or "
                            "a larger kernel width",
                            width));
  }
  const VectorXd beta =
      fit_mixture(likelihoods(data, kept, width, data.target_distance.cols()).scaled, fit_gap);
  report["width"] = width;
  report["centres"] = data.centres.size();
  KernelRatio::Form form;
  form.method = RatioMethod::kliep;
  form.width = width;
  form.coefficients.assign(data.centres.size(), 0.0);
  for (std::size_t l = 0; l < kept.centre.size(); ++l) {
    const auto k = static_cast<Index>(l);
    form.coefficients[kept.centre[l]] = beta[k] * std::exp(-kept.log_mass[k]);
  }
  return std::make_unique<KernelRatio>(cols, options.columns, std::move(report), std::move(form),
                                       std::move(data.centres));
}

}  // namespace covshift
