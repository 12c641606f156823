// Kernel mean matching (Huang et al. 2007, Gretton et al. 2009): weights of the training rows that
// bring their mean in feature space to the target's; the quadratic program of solve_kmm().
//
// The ridge rho (their program has none) makes the weights unique, and gives what the method lacks:
// by the optimality conditions the weights are a function of x,
//     ratio(x) = clip(1 - f(x)/rho - nu, 0, bound),   f(x) = sum_i s_i beta_i k(x, x_i) - mean_j
//     k(x, x'_j),
// exact at the training rows and defined everywhere else. The price is that both samples are the
// centres. rho and the width are chosen, where not given, by the least-squares score of uLSIF on
// held-out rows, over at most 400 rows of each sample.
#include <algorithm>
#include <array>
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

constexpr std::array<double, 5> width_multiples = {0.35, 0.6, 1.0, 1.7, 2.8};
constexpr std::size_t row_limit = 20000;  // the square of it in memory
constexpr std::size_t validation_rows = 400;
constexpr double fit_residual = 1e-11;
constexpr double fold_residual = 1e-6;
constexpr double default_rho = 0.03;  // where nothing can be held out

/// The nearest point with 0 <= beta <= bound and |s'beta - 1| <= slack in the norm weighted by s:
/// clip(y - shift), the shift by Newton's method within a bracket (the mean is piecewise linear).
double project(const VectorXd& y, const VectorXd& share, double bound, double slack,
               VectorXd& beta) {
  const auto mean_at = [&](double shift) {
    beta = (y.array() - shift).max(0.0).min(bound);
    return share.dot(beta);
  };
  const double plain = mean_at(0);
  if (std::abs(plain - 1) <= slack) return 0;
  const double goal = plain > 1 ? 1 + slack : 1 - slack;
  double low = std::min(0.0, y.minCoeff() - goal);   // mean >= goal here
  double high = std::max(0.0, y.maxCoeff() - goal);  // and <= here
  double shift = 0;
  for (int k = 0; k < 200; ++k) {
    const double mean = mean_at(shift);
    (mean > goal ? low : high) = shift;
    double slope = 0;
    for (Index i = 0; i < y.size(); ++i) {
      if (beta[i] > 0 && beta[i] < bound) slope += share[i];
    }
    double next = slope > 0 ? shift + (mean - goal) / slope : low;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == shift || std::abs(mean - goal) <= 1e-15) break;
    shift = next;
  }
  return shift;
}

MatrixXd kernels(const MatrixXd& squared, double width) {
  return (squared.array() * (-0.5 / (width * width))).exp();
}

struct Choice {
  double width = 0;
  double rho = 0;
  double loss = std::numeric_limits<double>::infinity();
};

double default_slack(const RatioOptions& options, Index n) {
  return options.kmm_slack.value_or(1 / std::sqrt(static_cast<double>(n)));
}

/// The held-out least-squares loss of every rho for one width. `kernel`: of the `train` training
/// rows, then the target rows, among themselves.
std::vector<Choice> score_width(const MatrixXd& kernel, Index train, const VectorXd& weight,
                                double width, const std::vector<double>& rhos, Index folds,
                                const RatioOptions& options) {
  std::vector<Choice> scores;
  scores.reserve(rhos.size());
  for (const double rho : rhos) scores.push_back({width, rho, 0});
  for (Index f = 0; f < folds; ++f) {
    std::vector<Index> kept[2];
    std::vector<Index> held[2];
    for (Index i = 0; i < kernel.rows(); ++i) {
      const Index side = i < train ? 0 : 1;
      const Index position = side == 0 ? i : i - train;
      (position % folds == f ? held : kept)[side].push_back(i);
    }
    const MatrixXd among = kernel(kept[0], kept[0]);
    const VectorXd kappa = kernel(kept[0], kept[1]).rowwise().mean();
    VectorXd share = weight(kept[0]);
    share /= share.sum();
    const VectorXd held_weight = weight(held[0]);
    for (Choice& score : scores) {
      const KmmSolution fit =
          solve_kmm(among, kappa, share, score.rho, options.kmm_bound,
                    default_slack(options, static_cast<Index>(kept[0].size())), fold_residual);
      const VectorXd mass = fit.beta.cwiseProduct(share);
      const auto ratios = [&](const std::vector<Index>& rows) -> VectorXd {
        const VectorXd f_x = kernel(rows, kept[0]) * mass - kernel(rows, kept[1]).rowwise().mean();
        return (1 - fit.shift - f_x.array() / score.rho).max(0.0).min(options.kmm_bound);
      };
      score.loss += (0.5 * held_weight.dot(ratios(held[0]).cwiseAbs2()) / held_weight.sum() -
                     ratios(held[1]).mean()) /
                    static_cast<double>(folds);
    }
  }
  return scores;
}

Choice cross_validate(const RatioOptions& options, const Samples& samples,
                      std::span<const std::size_t> train, std::span<const std::size_t> target,
                      const std::vector<double>& widths, const std::vector<double>& rhos) {
  const auto folds = static_cast<Index>(
      std::min({train.size(), target.size(), static_cast<std::size_t>(options.folds)}));
  if (folds < 2) {
    return {widths[widths.size() / 2], options.kernel_lambda.value_or(default_rho), 0};
  }
  const auto some_train = train.first(std::min(train.size(), validation_rows));
  const auto some_target = target.first(std::min(target.size(), validation_rows));
  std::vector<Centres::Row> rows;
  for (const std::size_t i : some_train) rows.emplace_back(&samples.train, i);
  for (const std::size_t i : some_target) rows.emplace_back(&samples.target, i);
  const Centres centres(rows, samples.train.dims());
  const auto n = static_cast<Index>(rows.size());
  MatrixXd squared(n, n);
  const auto n_train = static_cast<Index>(some_train.size());
  squared.leftCols(n_train) = centres.squared_distances(samples.train, some_train, options.threads);
  squared.rightCols(n - n_train) =
      centres.squared_distances(samples.target, some_target, options.threads);
  VectorXd weight(n_train);
  for (Index i = 0; i < n_train; ++i) weight[i] = samples.weight_of(some_train[i]);
  std::vector<std::vector<Choice>> scores(widths.size());
  parallel_tasks(options.threads, widths.size(), [&](std::size_t w) {
    scores[w] =
        score_width(kernels(squared, widths[w]), n_train, weight, widths[w], rhos, folds, options);
  });
  Choice best;
  for (const std::vector<Choice>& of_width : scores) {
    for (const Choice& score : of_width) {
      if (score.loss < best.loss) best = score;
    }
  }
  return best;
}

}  // namespace

KmmSolution solve_kmm(const MatrixXd& kernel, const VectorXd& kappa, const VectorXd& share,
                      double rho, double bound, double slack, double tolerance) {
  // Projected gradients with Nesterov's momentum for strong convexity: in the norm weighted by s
  // the curvature lies between rho and rho + trace = rho + 1, so that the error falls by 1 -
  // sqrt(rho/(1 + rho)) an iteration. The stopping rule is the KKT residual max_i |beta - P(beta -
  // gradient)|_i.
  const double root = std::sqrt(rho / (1 + rho));
  const double momentum = (1 - root) / (1 + root);
  const auto limit = static_cast<int>(std::min(1e6, 1000 + 200 / root));
  KmmSolution s;
  VectorXd beta = VectorXd::Ones(share.size());
  VectorXd ahead = beta;
  VectorXd gradient;
  VectorXd next;
  const auto mismatch = [&](const VectorXd& x) -> VectorXd {
    return kernel.selfadjointView<Eigen::Lower>() * x.cwiseProduct(share) - kappa;
  };
  for (s.iterations = 1; s.iterations <= limit; ++s.iterations) {
    throw_if_stopped();
    gradient = mismatch(ahead) + rho * (ahead.array() - 1).matrix();
    project(ahead - gradient / (1 + rho), share, bound, slack, next);
    ahead = next + momentum * (next - beta);
    const double moved = (next - beta).cwiseAbs().maxCoeff();
    beta = next;
    if (moved > tolerance * std::max(1.0, beta.cwiseAbs().maxCoeff())) continue;
    const VectorXd f = mismatch(beta);
    project(beta - f - rho * (beta.array() - 1).matrix(), share, bound, slack, next);
    s.residual = (beta - next).cwiseAbs().maxCoeff();
    if (s.residual > tolerance * std::max(1.0, beta.cwiseAbs().maxCoeff())) continue;
    // The same conditions with a step of 1/rho: beta = P(1 - f/rho).
    s.shift = project((1 - f.array() / rho).matrix(), share, bound, slack, next);
    s.beta = std::move(beta);
    return s;
  }
  throw Error(
      Error::Kind::numeric,
      fmt::format("kernel mean matching did not converge with lambda {}; use a larger one", rho));
}

std::unique_ptr<KernelRatio> fit_kmm(const RatioOptions& options, std::size_t cols,
                                     const Samples& samples) {
  const std::vector<std::size_t> train = row_order(samples.train, samples.weight, options.seed);
  const std::vector<std::size_t> target = row_order(samples.target, {}, options.seed);
  if (train.size() > row_limit) {
    fail_input(
        "kernel mean matching needs the square of {} training rows in memory (at most {}); "
        "use another density ratio, or a sample",
        train.size(), row_limit);
  }
  const std::vector<double> widths = candidate_widths(options.kernel_width, width_multiples,
                                                      samples, train, target, options.threads);
  const std::vector<double> rhos =
      candidate_lambdas(options.kernel_lambda, {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0});
  const Choice choice = widths.size() * rhos.size() == 1
                            ? Choice{widths[0], rhos[0], 0}
                            : cross_validate(options, samples, train, target, widths, rhos);

  std::vector<Centres::Row> rows;
  rows.reserve(train.size() + target.size());
  for (const std::size_t i : train) rows.emplace_back(&samples.train, i);
  for (const std::size_t i : target) rows.emplace_back(&samples.target, i);
  const std::size_t dims = samples.train.dims();
  const std::span<const Centres::Row> both = rows;
  const Centres train_centres(both.first(train.size()), dims);
  const Centres target_centres(both.last(target.size()), dims);
  const auto n = static_cast<Index>(train.size());
  MatrixXd kernel = train_centres.squared_distances(samples.train, train, options.threads);
  VectorXd kappa(n);
  const double rate = 0.5 / (choice.width * choice.width);
  Lanes(train.size()).each(options.threads, [&](std::size_t first, std::size_t last, std::size_t) {
    Centres::Buffer buffer;
    VectorXd squared(static_cast<Index>(target.size()));
    for (std::size_t i = first; i < last; ++i) {
      const auto k = static_cast<Index>(i);
      target_centres.squared_distances(samples.train, train[i], buffer, squared.data());
      kappa[k] = (squared.array() * -rate).exp().mean();
      kernel.col(k) = (kernel.col(k).array() * -rate).exp();
    }
  });
  VectorXd share(n);
  for (Index i = 0; i < n; ++i) share[i] = samples.weight_of(train[i]);
  share /= share.sum();
  const double slack = default_slack(options, n);
  const KmmSolution fit =
      solve_kmm(kernel, kappa, share, choice.rho, options.kmm_bound, slack, fit_residual);

  KernelRatio::Form form;
  form.method = RatioMethod::kmm;
  form.width = choice.width;
  form.offset = 1 - fit.shift;
  form.ceiling = options.kmm_bound;
  for (Index i = 0; i < n; ++i) form.coefficients.push_back(-share[i] * fit.beta[i] / choice.rho);
  form.coefficients.insert(form.coefficients.end(), target.size(),
                           1 / (choice.rho * static_cast<double>(target.size())));
  nlohmann::json report = {{"width", choice.width},
                           {"lambda", choice.rho},
                           {"slack", slack},
                           {"mean_weight", share.dot(fit.beta)},
                           {"kkt_residual", fit.residual},
                           {"iterations", fit.iterations}};
  return std::make_unique<KernelRatio>(cols, options.columns, std::move(report), std::move(form),
                                       Centres(rows, dims));
}

}  // namespace covshift
