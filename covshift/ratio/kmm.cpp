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
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/large_vector.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/smooth_order.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/learn/cholesky.hpp"
#include "covshift/ratio/gaussian_basis.hpp"

namespace covshift {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array<double, 5> kmm_multiples = {0.35, 0.6, 1.0, 1.7, 2.8};
constexpr std::size_t row_limit = 20000;  // the square of it in memory
constexpr std::size_t kmm_validation_rows = 400;
constexpr double fit_residual = 1e-11;
constexpr double fold_residual = 1e-4;  // far less than what losses of neighbours differ by
constexpr double default_rho = 0.03;    // where nothing can be held out

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

/// Products with a symmetric matrix.
class Products {
 public:
  explicit Products(const MatrixXd& matrix)
      : n_(static_cast<std::size_t>(matrix.rows())), pitch_(padded(n_)), rows_(n_ * pitch_) {
    for (std::size_t i = 0; i < n_; ++i) {
      std::copy_n(matrix.col(static_cast<Index>(i)).data(), n_, rows_.data() + i * pitch_);
    }
  }
  [[nodiscard]] VectorXd times(const VectorXd& x) const {
    std::vector<double> t(pitch_);
    std::copy(x.begin(), x.end(), t.begin());
    VectorXd product(x.size());
    std::array<double, block_rows> part{};
    for (std::size_t first = 0; first < n_; first += block_rows) {
      const std::size_t rows = std::min(block_rows, n_ - first);
      kernels().times({rows_.data() + first * pitch_, pitch_, rows, n_}, t.data(), 1, part.data());
      std::copy_n(part.begin(), rows, product.data() + first);
    }
    return product;
  }
  [[nodiscard]] const double* row(Index i) const {
    return rows_.data() + static_cast<std::size_t>(i) * pitch_;
  }

 private:
  std::size_t n_;
  std::size_t pitch_;
  LargeVector rows_;
};

struct KmmChoice {
  double width = 0;
  double rho = 0;
};

double default_slack(const RatioOptions& options, Index n) {
  return options.kmm_slack.value_or(1 / std::sqrt(static_cast<double>(n)));
}

/// The quadratic program of solve_kmm().
struct Program {
  const Products& kernel;
  const VectorXd& kappa;
  const VectorXd& share;
  double rho;
  double bound;
  double slack;

  [[nodiscard]] VectorXd mismatch(const VectorXd& beta) const {
    return kernel.times(beta.cwiseProduct(share)) - kappa;
  }
  /// max_i |beta - P(beta - gradient)|_i, 0 at the optimum.
  [[nodiscard]] double residual(const VectorXd& beta, const VectorXd& f) const {
    VectorXd next;
    project(beta - f - rho * (beta.array() - 1).matrix(), share, bound, slack, next);
    return (beta - next).cwiseAbs().maxCoeff();
  }
};

/// The optimum if the weights between the bounds, and whether the mean is at its limit, are as P(1
/// - f/rho) has them at `beta`: a linear system. False if it has no answer.
///   rho (beta_i - 1 + nu) + (K s beta)_i = kappa_i  for those;   s'beta = goal, or nu = 0
bool newton_step(const Program& p, VectorXd& beta) {
  const VectorXd f = p.mismatch(beta);
  VectorXd next;
  const double shift = project((1 - f.array() / p.rho).matrix(), p.share, p.bound, p.slack, next);
  std::vector<Index> free;
  VectorXd fixed = next;  // the others
  for (Index i = 0; i < next.size(); ++i) {
    if (!(next[i] > 0 && next[i] < p.bound)) continue;
    free.push_back(i);
    fixed[i] = 0;
  }
  const auto n = static_cast<Index>(free.size());
  const VectorXd root = p.share(free).cwiseSqrt();
  Cholesky system(free.size());  // of root beta
  for (Index i = 0; i < n; ++i) {
    const double* row = p.kernel.row(free[i]);
    for (Index j = i; j < n; ++j) system.row(i)[j] = root[i] * row[free[j]] * root[j];
    system.row(i)[i] += p.rho;
  }
  if (n == 0 || !system.factor(1)) return false;
  const VectorXd from_fixed = p.mismatch(fixed);
  VectorXd plain = root.cwiseProduct((p.rho - from_fixed(free).array()).matrix());
  system.solve(plain.data());
  if (shift != 0) {
    VectorXd slope = p.rho * root;
    system.solve(slope.data());
    const double goal = shift > 0 ? 1 + p.slack : 1 - p.slack;
    const double nu = (root.dot(plain) + p.share.dot(fixed) - goal) / root.dot(slope);
    plain -= nu * slope;
  }
  beta = fixed;
  beta(free) = plain.cwiseQuotient(root);
  return beta.allFinite();
}

/// Newton's method for beta = P(1 - f/rho) near the answer; false if it does not get there.
bool newton(const Program& p, double tolerance, VectorXd& beta) {
  constexpr int most = 6;
  constexpr Index most_rows = 1000;  // whose cube is worth it
  if (beta.size() > most_rows) return false;
  VectorXd found = beta;
  for (int k = 0; k < most; ++k) {
    throw_if_stopped();
    if (!newton_step(p, found)) return false;
    const VectorXd inside = found.cwiseMax(0.0).cwiseMin(p.bound);
    if (p.residual(found, p.mismatch(found)) > tolerance || inside != found) continue;
    beta = found;
    return true;
  }
  return false;
}

KmmSolution solve(const Program& p, double tolerance, const VectorXd& start) {
  // Projected gradients with Nesterov's momentum for strong convexity. In the norm weighted by s
  // the curvature lies between rho and rho + L, L the spectral radius of K diag(s), which is at
  // most its largest row sum max_i (K s)_i, so that the error falls by 1 - sqrt(rho/(L + rho)) an
  // iteration. Near the answer, Newton's method.
  const double steepest = p.kernel.times(p.share).maxCoeff() + p.rho;
  const double root = std::sqrt(p.rho / steepest);
  const double momentum = (1 - root) / (1 + root);
  const auto limit = static_cast<int>(std::min(1e6, 1000 + 200 / root));
  KmmSolution s;
  VectorXd beta = start.size() == p.share.size() ? start : VectorXd::Ones(p.share.size());
  VectorXd ahead = beta;
  VectorXd next;
  double near = 1e-4;  // from where on Newton's method pays
  for (s.iterations = 1; s.iterations <= limit; ++s.iterations) {
    throw_if_stopped();
    const VectorXd gradient = p.mismatch(ahead) + p.rho * (ahead.array() - 1).matrix();
    project(ahead - gradient / steepest, p.share, p.bound, p.slack, next);
    ahead = next + momentum * (next - beta);
    const double scale = std::max(1.0, next.cwiseAbs().maxCoeff());
    const double moved = (next - beta).cwiseAbs().maxCoeff() / scale;
    beta = next;
    if (moved > std::max(near, tolerance)) continue;
    near /= 10;
    if (moved > tolerance && !newton(p, tolerance * scale, beta)) continue;
    const VectorXd f = p.mismatch(beta);
    s.residual = p.residual(beta, f);
    if (s.residual > tolerance * scale) continue;
    // The same conditions with a step of 1/rho: beta = P(1 - f/rho).
    s.shift = project((1 - f.array() / p.rho).matrix(), p.share, p.bound, p.slack, next);
    s.beta = std::move(beta);
    return s;
  }
  throw Error(
      Error::Kind::numeric,
      fmt::format("kernel mean matching did not converge with lambda {}; use a larger one", p.rho));
}

/// The held-out least-squares loss of a width.
class KmmWidth {
 public:
  /// `kernel`: of the `train` training rows, then the target rows, among themselves.
  KmmWidth(const MatrixXd& kernel, Index train, const VectorXd& weight, Index folds,
           std::size_t rhos, const RatioOptions& options)
      : bound_(options.kmm_bound) {
    for (Index f = 0; f < folds; ++f) {
      std::vector<Index> kept[2];
      std::vector<Index> held[2];
      for (Index i = 0; i < kernel.rows(); ++i) {
        const Index side = i < train ? 0 : 1;
        const Index position = side == 0 ? i : i - train;
        (position % folds == f ? held : kept)[side].push_back(i);
      }
      const auto outside = [&](const std::vector<Index>& rows) -> Outside {
        return {kernel(rows, kept[0]), kernel(rows, kept[1]).rowwise().mean()};
      };
      VectorXd share = weight(kept[0]);
      share /= share.sum();
      VectorXd held_share = weight(held[0]);
      held_share /= held_share.sum();
      fold_.push_back({Products(kernel(kept[0], kept[0])),
                       kernel(kept[0], kept[1]).rowwise().mean(), std::move(share),
                       std::move(held_share), outside(held[0]), outside(held[1]),
                       default_slack(options, static_cast<Index>(kept[0].size())),
                       std::vector<VectorXd>(rhos)});
    }
  }

  /// The mean of the folds for the k-th rho, starting from the answers for another.
  double loss(double rho, std::size_t k, std::size_t from) {
    double sum = 0;
    for (Fold& fold : fold_) {
      const KmmSolution fit = solve({fold.kernel, fold.kappa, fold.share, rho, bound_, fold.slack},
                                    fold_residual, fold.beta[from]);
      fold.beta[k] = fit.beta;
      const VectorXd mass = fit.beta.cwiseProduct(fold.share);
      const auto ratios = [&](const Outside& rows) -> VectorXd {
        const VectorXd f = rows.kernel * mass - rows.kappa;
        return (1 - fit.shift - f.array() / rho).max(0.0).min(bound_);
      };
      sum += 0.5 * fold.held_share.dot(ratios(fold.train).cwiseAbs2()) - ratios(fold.target).mean();
    }
    return sum / static_cast<double>(fold_.size());
  }

 private:
  struct Outside {  // held-out rows
    MatrixXd kernel;
    VectorXd kappa;
  };
  struct Fold {
    Products kernel;
    VectorXd kappa;
    VectorXd share;
    VectorXd held_share;
    Outside train;
    Outside target;
    double slack;
    std::vector<VectorXd> beta;  // of every rho that was tried
  };
  double bound_;
  std::vector<Fold> fold_;
};

KmmChoice cross_validate(const RatioOptions& options, const Samples& samples,
                         std::span<const std::size_t> train, std::span<const std::size_t> target,
                         const std::vector<double>& widths, const std::vector<double>& rhos) {
  const auto folds = static_cast<Index>(
      std::min({train.size(), target.size(), static_cast<std::size_t>(options.folds)}));
  if (folds < 2) {
    return {widths[widths.size() / 2], options.kernel_lambda.value_or(default_rho)};
  }
  const auto some_train = train.first(std::min(train.size(), kmm_validation_rows));
  const auto some_target = target.first(std::min(target.size(), kmm_validation_rows));
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
  std::vector<std::size_t> best(widths.size(), rhos.size() / 2);  // rho of a width
  RatioOptions one_thread = options;  // what a width keeps is not for several
  one_thread.threads = 1;
  const std::vector<double> losses =
      walk_losses(options, widths.size(), widths.size() / 2, [&](std::size_t w, std::size_t from) {
        KmmWidth width(gaussian_kernels(squared, widths[w]), n_train, weight, folds, rhos.size(),
                       options);
        const std::vector<double> of_rho = walk_losses(
            one_thread, rhos.size(), best[from],
            [&](std::size_t r, std::size_t before) { return width.loss(rhos[r], r, before); });
        best[w] = least(of_rho);
        return of_rho[best[w]];
      });
  const std::size_t w = least(losses);
  return {widths[w], rhos[best[w]]};
}

}  // namespace

KmmSolution solve_kmm(const MatrixXd& kernel, const VectorXd& kappa, const VectorXd& share,
                      double rho, double bound, double slack, double tolerance) {
  const Products products(kernel);
  return solve({products, kappa, share, rho, bound, slack}, tolerance, {});
}

std::unique_ptr<KernelRatio> fit_kmm(const RatioOptions& options, std::size_t cols,
                                     const Samples& samples) {
  const std::vector<std::size_t> train = drawing_order(samples.train, samples.weight, options.seed);
  const std::vector<std::size_t> target = drawing_order(samples.target, {}, options.seed);
  if (train.size() > row_limit) {
    fail_input(
        "kernel mean matching needs the square of {} training rows in memory (at most {}); "
        "use another density ratio, or a sample",
        train.size(), row_limit);
  }
  const std::vector<double> widths = candidate_widths(options.kernel_width, kmm_multiples, samples,
                                                      train, target, options.threads);
  const std::vector<double> rhos =
      candidate_lambdas(options.kernel_lambda, {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0});
  const KmmChoice choice = widths.size() * rhos.size() == 1
                               ? KmmChoice{widths[0], rhos[0]}
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
  Lanes(train.size()).each(options.threads, [&](std::size_t first, std::size_t last, std::size_t) {
    Centres::Buffer buffer;
    VectorXd squared(static_cast<Index>(target.size()));
    for (std::size_t i = first; i < last; ++i) {
      const auto k = static_cast<Index>(i);
      target_centres.squared_distances(samples.train, train[i], buffer, squared.data());
      to_kernels({squared.data(), target.size()}, choice.width);
      kappa[k] = squared.mean();
      to_kernels({kernel.col(k).data(), train.size()}, choice.width);
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
