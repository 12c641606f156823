#include "covshift/ratio/domain_problem.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/threads.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/learn/leave_one_out.hpp"

namespace covshift {
namespace {

constexpr std::size_t dense_limit = 500;  // columns; sparse rows of fewer are kept densely
constexpr double polish_work = 2e9;       // rows times columns squared

/// Rows of positive weight, or a share of them evenly spaced, and how often each counts.
struct Taken {
  Taken(const Rows& rows, std::span<const double> weight, double share) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (weight.empty() || weight[i] > 0) row.push_back(i);
    }
    const auto wanted = static_cast<std::size_t>(share * static_cast<double>(row.size()));
    const std::size_t count = std::min(std::max<std::size_t>(wanted, 1), row.size());
    for (std::size_t k = 0; k < count; ++k) row[k] = row[k * row.size() / count];
    row.resize(count);
    for (const std::size_t i : row) times.push_back(weight.empty() ? 1.0 : weight[i]);
  }
  std::vector<std::size_t> row;
  std::vector<double> times;
};

}  // namespace

DomainProblem::DomainProblem(const Samples& samples, std::size_t most)
    : reducer_(samples.reducer),
      dims_(samples.train.dims()),
      stride_(padded(dims_ + 1)),
      game_(log_game(2)) {
  begin_pass(reducer_);
  const std::size_t rows = samples.train.size() + samples.target.size();
  if (rows > most) sampled_ = static_cast<double>(most) / static_cast<double>(rows);
  features_.cols = dims_;
  features_.sparse = samples.train.sparse() && dims_ > dense_limit;
  if (features_.sparse) {
    features_.offsets.push_back(0);
  } else {
    features_.values.reserve(std::min(rows, most + 2) * stride_);
  }
  for (const Rows* part : {&samples.train, &samples.target}) {
    const bool target = part == &samples.target;
    const Taken taken(*part, target ? samples.target_weight : samples.weight, sampled_);
    weight_.insert(weight_.end(), taken.times.begin(), taken.times.end());
    labels_.insert(labels_.end(), taken.row.size(), target ? 1 : 0);
    for (const std::size_t i : taken.row) {
      if (features_.sparse) {
        part->each(i, [&](std::size_t j, double value) {
          features_.columns.push_back(static_cast<std::int32_t>(j));
          features_.values.push_back(value);
        });
        features_.offsets.push_back(static_cast<std::int64_t>(features_.values.size()));
      } else {
        const std::size_t at = features_.values.size();
        features_.values.resize(at + stride_, 0.0);
        part->add(i, 1.0, features_.values.data() + at);
        features_.values[at + dims_] = 1;
      }
    }
  }
  features_.rows = labels_.size();
  for (const double s : weight_) total_ += s;
  total_ = sum_over(reducer_, total_);
  mean_.assign(dims_, 0.0);
  if (!features_.sparse) centre();
}

void DomainProblem::centre() {
  const double rows = sum_over(reducer_, static_cast<double>(size()));
  for (std::size_t i = 0; i < size(); ++i) {
    const double* row = features_.values.data() + i * stride_;
    for (std::size_t j = 0; j < dims_; ++j) mean_[j] += row[j] / rows;
  }
  sum_over(reducer_, mean_);
  for (std::size_t i = 0; i < size(); ++i) {
    double* row = features_.values.data() + i * stride_;
    for (std::size_t j = 0; j < dims_; ++j) row[j] -= mean_[j];
  }
}

Problem DomainProblem::problem(double lambda, std::span<const double> weight) const {
  Problem problem;
  problem.game = game_.get();
  problem.features = features_.view();
  if (!features_.sparse) {
    problem.features.storage = DenseRows<double>{features_.values.data(), stride_};
  }
  problem.labels = labels_;
  problem.lambda = 2 * lambda;
  problem.penalise_bias = false;
  problem.sample_weight = weight.empty() ? std::span<const double>(weight_) : weight;
  return problem;
}

Examples& DomainProblem::examples(double lambda, int threads) const {
  const Problem own = problem(lambda, {});
  if (!examples_ || examples_->threads() != threads) {
    examples_ = std::make_unique<Examples>(own, threads, reducer_);
  }
  examples_->set_lambda(own.lambda);
  return *examples_;
}

std::optional<DomainProblem::Fit> DomainProblem::solve(double lambda, double tolerance, int threads,
                                                       const Fit* start,
                                                       std::span<const double> weight) const {
  SolveOptions options;
  options.solver = Solver::newton;
  options.tolerance = tolerance;
  options.threads = threads;
  options.reducer = reducer_;
  if (start != nullptr) options.start = start->solution.weights;
  Fit fit;
  fit.solution =
      weight.empty()
          ? covshift::solve(examples(lambda, threads), options)
          : covshift::solve(Examples(problem(lambda, weight), threads, reducer_), options);
  throw_if_stopped();
  // Out of steps at the last digits is as good an answer as there is.
  const double accepted = std::max(tolerance, 1e-9) * std::max(1.0, fit.solution.objective);
  if (fit.solution.status != Status::converged && !(fit.solution.gap <= accepted)) return {};
  const std::vector<double>& t = fit.solution.weights;
  fit.intercept = t[2 * dims_ + 1] - t[2 * dims_];
  for (std::size_t j = 0; j < dims_; ++j) {
    fit.weights.push_back(t[2 * j + 1] - t[2 * j]);
    fit.intercept -= fit.weights[j] * mean_[j];
    if (!std::isfinite(fit.weights[j])) return {};
  }
  return fit;
}

std::vector<double> DomainProblem::log_odds(const Fit& fit, int threads) const {
  double offset = fit.intercept;
  for (std::size_t j = 0; j < dims_; ++j) offset += fit.weights[j] * mean_[j];
  std::vector<double> out(size());
  MatrixView view = problem(1, {}).features;
  const Rows rows(view, {});
  Lanes(size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t i = first; i < last; ++i) out[i] = rows.dot(i, fit.weights.data()) + offset;
  });
  return out;
}

std::optional<DomainProblem::Factored> DomainProblem::factor(double lambda,
                                                             std::span<const double> log_odds,
                                                             int threads) const {
  const auto d = static_cast<Eigen::Index>(dims_ + 1);
  std::vector<Eigen::MatrixXd> gram;
  examples(lambda, threads)
      .grams(
          1,
          [&](std::size_t first, std::size_t n, std::size_t, double* omega) {
            for (std::size_t b = 0; b < n; ++b) {
              const double p = 1 / (1 + std::exp(-log_odds[first + b]));
              omega[b] = weight_[first + b] / total_ * p * (1 - p);
            }
          },
          gram);
  Eigen::MatrixXd& h = gram[0];
  h.diagonal().head(d - 1).array() += 2 * lambda;
  // Scaled to a unit diagonal, so that columns of any magnitude do.
  Factored factored;
  factored.scale = h.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  h = factored.scale.asDiagonal() * h * factored.scale.asDiagonal();
  factored.root.compute(h);
  if (factored.root.info() != Eigen::Success) return {};
  return factored;
}

void DomainProblem::polish(Fit& fit, double lambda, int threads) const {
  const auto columns = static_cast<double>(dims_ + 1);
  const double size_of_all = sum_over(reducer_, static_cast<double>(size()));
  if (size_of_all * columns * columns > polish_work) return;
  const MatrixView view = problem(lambda, {}).features;
  const Rows rows(view, {});
  const auto d = static_cast<Eigen::Index>(dims_);
  double last = 1e-3;
  for (int step = 0; step < 4; ++step) {
    const std::vector<double> odds = log_odds(fit, threads);
    const std::optional<Factored> factored = factor(lambda, odds, threads);
    if (!factored) return;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(d + 1);
    for (std::size_t i = 0; i < size(); ++i) {
      const double p = 1 / (1 + std::exp(is_target(i) ? odds[i] : -odds[i]));
      const double residual = weight_[i] / total_ * (is_target(i) ? -p : p);
      rows.add(i, residual, gradient.data());
      gradient[d] += residual;
    }
    sum_over(reducer_, {gradient.data(), dims_ + 1});
    for (Eigen::Index j = 0; j < d; ++j) gradient[j] += 2 * lambda * fit.weights[j];
    const Eigen::VectorXd move =
        factored->scale.cwiseProduct(factored->root.solve(factored->scale.cwiseProduct(gradient)));
    const double largest = move.lpNorm<Eigen::Infinity>();
    if (!(largest < last)) return;  // as close as rounding lets it come
    last = largest / 2;
    fit.intercept -= move[d];
    for (Eigen::Index j = 0; j < d; ++j) {
      fit.weights[j] -= move[j];
      fit.intercept += move[j] * mean_[j];
    }
  }
}

std::vector<double> DomainProblem::leave_one_out(double lambda, std::span<const double> log_odds,
                                                 int threads) const {
  return covshift::leave_one_out(examples(lambda, threads), log_odds);
}

}  // namespace covshift
