// uLSIF (Kanamori, Hido, Sugiyama 2009) and RuLSIF (Yamada et al. 2011): the ratio as a sum of
// kernels at target rows, by least squares,
//
//     min over theta >= 0  1/2 theta'H theta - h'theta + lambda/2 ||theta||^2
//     H = alpha mean_target(phi phi') + (1 - alpha) mean_train(phi phi'),   h = mean_target(phi),
//
// which fits P_test / (alpha P_test + (1 - alpha) P_train): with alpha = 0 (uLSIF) the plain ratio,
// otherwise (RuLSIF) the relative one, at most 1/alpha. Its reciprocal is then a generalization
// density between training and target. Kanamori et al. solve without theta >= 0 and then set what
// is negative to 0, which is no solution of either problem: kernels overlap, and their coefficients
// balance each other. On N(0,1) against N(0.5,1) the correlation with the true ratio was 0.92 in
// the median so and 0.95 with the constraint kept.
#include <algorithm>
#include <cmath>
#include <limits>

#include "covshift/base/error.hpp"
#include "covshift/learn/cholesky.hpp"
#include "covshift/ratio/gaussian_basis.hpp"

namespace covshift {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double default_lambda = 0.1;  // where nothing can be left out

/// Sums over rows first, first + step, ... of a sample.
struct Sums {
  MatrixXd second;   // sum of s phi phi'; empty if alpha leaves it out
  VectorXd first;    // sum of s phi
  double total = 0;  // sum of s
};

Sums sum_up(const MatrixXd& phi, const VectorXd& share, bool moments, Index first, Index step) {
  Sums sums{{}, VectorXd::Zero(phi.rows()), 0};
  for (Index i = first; i < phi.cols(); i += step) {
    sums.first += share[i] * phi.col(i);
    sums.total += share[i];
  }
  if (moments) sums.second = weighted_gram(phi, share, first, step);
  return sums;
}

Sums operator-(const Sums& a, const Sums& b) {
  return {a.second - b.second, a.first - b.first, a.total - b.total};
}

Sums operator+(const Sums& a, const Sums& b) {
  return {a.second + b.second, a.first + b.first, a.total + b.total};
}

/// H
MatrixXd mixed(const Sums& train, const Sums& target, double alpha) {
  if (alpha == 0) return train.second / train.total;
  return alpha / target.total * target.second + (1 - alpha) / train.total * train.second;
}

/// What a width is judged by: the sums of every fold and of all rows but them.
class LeastSquaresWidth {
 public:
  LeastSquaresWidth(const KernelData& data, double width, double alpha, Index folds) {
    const MatrixXd train = gaussian_kernels(data.train_distance, width);
    const MatrixXd target = gaussian_kernels(data.target_distance, width);
    const VectorXd target_share =
        VectorXd::Constant(target.cols(), 1.0 / static_cast<double>(target.cols()));
    std::vector<Sums> train_part;
    std::vector<Sums> target_part;
    for (Index f = 0; f < folds; ++f) {
      train_part.push_back(sum_up(train, data.train_share, true, f, folds));
      target_part.push_back(sum_up(target, target_share, alpha > 0, f, folds));
    }
    Sums all_train = train_part[0];
    Sums all_target = target_part[0];
    for (Index f = 1; f < folds; ++f) {
      all_train = all_train + train_part[f];
      all_target = all_target + target_part[f];
    }
    for (Index f = 0; f < folds; ++f) {
      const Sums kept = all_target - target_part[f];
      fold_.push_back({mixed(all_train - train_part[f], kept, alpha),
                       kept.first / kept.total,
                       mixed(train_part[f], target_part[f], alpha),
                       target_part[f].first / target_part[f].total,
                       {}});
    }
  }

  /// The mean loss of the folds.
  double loss(double lambda) {
    double sum = 0;
    for (Fold& fold : fold_) {
      fold.theta = nonnegative_ridge(fold.second, fold.first, lambda, fold.theta);
      sum += 0.5 * fold.theta.dot(fold.held_second * fold.theta) - fold.theta.dot(fold.held_first);
    }
    return sum / static_cast<double>(fold_.size());
  }

 private:
  struct Fold {
    MatrixXd second;
    VectorXd first;
    MatrixXd held_second;
    VectorXd held_first;
    VectorXd theta;  // of the lambda before, where the next begins
  };
  std::vector<Fold> fold_;
};

struct LeastSquaresChoice {
  double width = 0;
  double lambda = 0;
  nlohmann::json report = nlohmann::json::object();
};

LeastSquaresChoice choose(const RatioOptions& options, const KernelData& data, double alpha) {
  const std::vector<double> lambdas = candidate_lambdas(
      options.kernel_lambda, {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0});
  const std::size_t middle = data.widths.size() / 2;
  const Index folds = std::min(
      {data.train_distance.cols(), data.target_distance.cols(), static_cast<Index>(options.folds)});
  if (data.widths.size() * lambdas.size() == 1) return {data.widths[0], lambdas[0]};
  if (folds < 2) {
    return {data.widths[middle], options.kernel_lambda.value_or(default_lambda)};
  }
  std::vector<std::size_t> best(data.widths.size(), lambdas.size() / 2);  // lambda of a width
  RatioOptions one_thread = options;  // what a width keeps is not for several
  one_thread.threads = 1;
  const std::vector<double> losses =
      walk_losses(options, data.widths.size(), middle, [&](std::size_t w, std::size_t from) {
        LeastSquaresWidth width(data, data.widths[w], alpha, folds);
        const std::vector<double> of_lambda =
            walk_losses(one_thread, lambdas.size(), best[from],
                        [&](std::size_t l, std::size_t) { return width.loss(lambdas[l]); });
        best[w] = least(of_lambda);
        return of_lambda[best[w]];
      });
  const std::size_t w = least(losses);
  if (!std::isfinite(losses[w])) {
    throw Error(Error::Kind::numeric, "no kernel width gives a finite score; scale the features");
  }
  return {data.widths[w], lambdas[best[w]], {{"score", losses[w]}}};
}

}  // namespace

VectorXd nonnegative_ridge(const MatrixXd& second, const VectorXd& first, double lambda,
                           const VectorXd& start) {
  const Index n = first.size();
  std::vector<char> free(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) free[j] = start.size() == n ? start[j] > 0 : first[j] > 0;
  VectorXd theta = VectorXd::Zero(n);
  // Swaps all that have the wrong sign while their number falls, else only the last one: that rule
  // cannot cycle.
  Index fewest = n + 1;
  int patience = 3;
  std::vector<Index> index;
  for (;;) {
    index.clear();
    for (Index j = 0; j < n; ++j) {
      if (free[j]) index.push_back(j);
    }
    Cholesky system(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      const double* column = second.col(index[i]).data();
      for (std::size_t j = i; j < index.size(); ++j) system.row(i)[j] = column[index[j]];
      system.row(i)[i] += lambda;
    }
    theta.setZero();
    VectorXd part = first(index);
    if (system.factor(1)) {
      system.solve(part.data());
    } else {
      part.fill(std::numeric_limits<double>::quiet_NaN());
    }
    theta(index) = part;
    if (!theta.allFinite()) return theta;  // the caller reports it
    const VectorXd gradient = second * theta + lambda * theta - first;
    const double rounding = 1e-12 * (1 + first.cwiseAbs().maxCoeff());
    Index wrong = 0;
    Index last = 0;
    for (Index j = 0; j < n; ++j) {
      if (free[j] ? theta[j] < 0 : gradient[j] < -rounding) {
        ++wrong;
        last = j;
      }
    }
    if (wrong == 0) return theta;
    if (wrong < fewest) {
      fewest = wrong;
      patience = 3;
    } else {
      --patience;
    }
    for (Index j = 0; j < n; ++j) {
      if (patience < 0 && j != last) continue;
      if (free[j] ? theta[j] < 0 : gradient[j] < -rounding) free[j] = free[j] == 0;
    }
  }
}

std::unique_ptr<KernelRatio> fit_least_squares(const RatioOptions& options, std::size_t cols,
                                               const Samples& samples) {
  const bool relative = options.method == RatioMethod::rulsif;
  const double alpha = relative ? options.alpha : 0.0;
  KernelData data(options, samples);
  LeastSquaresChoice best = choose(options, data, alpha);
  nlohmann::json& report = best.report;
  const MatrixXd phi = gaussian_kernels(data.train_distance, best.width);
  const MatrixXd target_phi = gaussian_kernels(data.target_distance, best.width);
  const VectorXd target_share =
      VectorXd::Constant(target_phi.cols(), 1.0 / static_cast<double>(target_phi.cols()));
  const Sums train = sum_up(phi, data.train_share, true, 0, 1);
  const Sums target = sum_up(target_phi, target_share, alpha > 0, 0, 1);
  const VectorXd theta =
      nonnegative_ridge(mixed(train, target, alpha), target.first / target.total, best.lambda);
  if (!theta.allFinite()) {
    throw Error(Error::Kind::numeric,
                fmt::format("the least-squares density ratio has no answer with lambda {}; use a "
                            "larger one",
                            best.lambda));
  }
  report["width"] = best.width;
  report["lambda"] = best.lambda;
  report["centres"] = data.centres.size();
  if (relative) report["alpha"] = alpha;
  KernelRatio::Form form;
  form.method = options.method;
  form.width = best.width;
  if (alpha > 0) form.ceiling = 1 / alpha;
  form.coefficients.assign(theta.begin(), theta.end());
  return std::make_unique<KernelRatio>(cols, options.columns, std::move(report), std::move(form),
                                       std::move(data.centres));
}

}  // namespace covshift
