#include "covshift/ratio/domain_problem.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/threads.hpp"
#include "covshift/kernel/kernels.hpp"
#include "covshift/learn/leave_one_out.hpp"

namespace covshift {
namespace {

constexpr std::size_t dense_limit = 500;  // columns; sparse rows of fewer are read densely
// Rows times columns squared up to which all of Newton's last steps are made. Beyond it one step
// is, if there are few columns: a Hessian then takes no longer than a few passes. Without it, the
// objective of 4,000,000 x 50 differed by 4e-9 between one process and two.
constexpr double polish_work = 2e9;
constexpr std::size_t polish_columns = 64;
// Numbers up to which rows are copied: passes over what the cache holds are faster without
// subtracting the centre.
constexpr std::size_t copied = std::size_t{1} << 21U;

/// The share of all rows that `most` of them are.
double share_of(const Samples& samples, std::size_t most) {
  const std::size_t rows = samples.train.size() + samples.target.size();
  return rows > most ? static_cast<double>(most) / static_cast<double>(rows) : 1.0;
}

/// Rows of positive weight, or a share of them evenly spaced.
PooledRows::Part take(const Rows& rows, std::span<const double> weight, double share) {
  PooledRows::Part part{rows, {}};
  const bool all = std::none_of(weight.begin(), weight.end(), [](double w) { return w == 0; });
  if (all && share == 1) return part;
  std::vector<std::size_t>& row = part.taken.emplace();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weight.empty() || weight[i] > 0) row.push_back(i);
  }
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(row.size()));
  const std::size_t count = std::min(std::max<std::size_t>(wanted, 1), row.size());
  for (std::size_t k = 0; k < count; ++k) row[k] = row[k * row.size() / count];
  row.resize(count);
  row.shrink_to_fit();
  return part;
}

}  // namespace

DomainProblem::DomainProblem(const Samples& samples, std::size_t most)
    : reducer_(samples.reducer),
      rows_(take(samples.train, samples.weight, share_of(samples, most)),
            take(samples.target, samples.target_weight, share_of(samples, most))),
      sparse_(samples.train.sparse() && samples.train.dims() > dense_limit),
      sampled_(share_of(samples, most)),
      game_(log_game(2)) {
  begin_pass(reducer_);
  for (const PooledRows::Part* part : {&rows_.first(), &rows_.second()}) {
    const bool target = part == &rows_.second();
    const std::span<const double> weight = target ? samples.target_weight : samples.weight;
    labels_.insert(labels_.end(), part->size(), target ? 1 : 0);
    for (std::size_t k = 0; k < part->size(); ++k) {
      weight_.push_back(weight.empty() ? 1.0 : weight[part->row(k)]);
    }
  }
  for (const double s : weight_) total_ += s;
  total_ = sum_over(reducer_, total_);
  if (!sparse_) centre();
  // A sparse matrix must have the view's columns only.
  if (sparse_ ? !samples.train.all_columns() : size() * dims() <= copied) copy();
}

void DomainProblem::centre() {
  const double rows = sum_over(reducer_, static_cast<double>(size()));
  std::vector<double> mean(dims());
  std::vector<double> row(dims());
  for (std::size_t i = 0; i < size(); ++i) {
    rows_.copy(i, row.data());
    for (std::size_t j = 0; j < dims(); ++j) mean[j] += row[j] / rows;
  }
  sum_over(reducer_, mean);
  rows_.set_centre(std::move(mean));
}

void DomainProblem::copy() {
  Matrix& to = copy_.emplace();
  to.rows = size();
  to.cols = dims();
  to.sparse = sparse_;
  if (sparse_) to.offsets.push_back(0);
  const std::size_t stride = padded(dims());
  if (!sparse_) to.values.resize(size() * stride);
  for (std::size_t i = 0; i < size(); ++i) {
    if (!sparse_) {
      rows_.copy(i, to.values.data() + i * stride);
      continue;
    }
    const auto [rows, row] = rows_.at(i);
    rows->each(row, [&](std::size_t j, double value) {
      to.columns.push_back(static_cast<std::int32_t>(j));
      to.values.push_back(value);
    });
    to.offsets.push_back(static_cast<std::int64_t>(to.values.size()));
  }
}

template <typename F>
void DomainProblem::each(std::size_t i, std::vector<double>& buffer, F&& f) const {
  if (sparse_) {
    const auto [rows, row] = rows_.at(i);
    return rows->each(row, f);
  }
  buffer.resize(dims());
  rows_.copy(i, buffer.data());
  for (std::size_t j = 0; j < dims(); ++j) f(j, buffer[j]);
}

Problem DomainProblem::problem(double lambda, std::span<const double> weight) const {
  Problem problem;
  problem.game = game_.get();
  if (copy_) {
    problem.features = copy_->view();
    if (!sparse_)
      problem.features.storage = DenseRows<double>{copy_->values.data(), padded(dims())};
  } else {
    problem.pooled = &rows_;
    problem.features = {size(), dims(), {}};
    if (sparse_) problem.features.storage = SparseRows<double>{};
  }
  problem.features.finite = true;
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
  fit.intercept = t[2 * dims() + 1] - t[2 * dims()];
  for (std::size_t j = 0; j < dims(); ++j) {
    fit.weights.push_back(t[2 * j + 1] - t[2 * j]);
    fit.intercept -= fit.weights[j] * rows_.centre()[j];
    if (!std::isfinite(fit.weights[j])) return {};
  }
  return fit;
}

std::vector<double> DomainProblem::log_odds(const Fit& fit, int threads) const {
  double offset = fit.intercept;
  for (std::size_t j = 0; j < dims(); ++j) offset += fit.weights[j] * rows_.centre()[j];
  std::vector<double> out(size());
  Lanes(size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<double> buffer;
    for (std::size_t i = first; i < last; ++i) {
      double sum = 0;
      each(i, buffer, [&](std::size_t j, double value) { sum += value * fit.weights[j]; });
      out[i] = sum + offset;
    }
  });
  return out;
}

std::optional<DomainProblem::Factored> DomainProblem::factor(double lambda,
                                                             std::span<const double> log_odds,
                                                             int threads) const {
  const auto d = static_cast<Eigen::Index>(dims() + 1);
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

Eigen::VectorXd DomainProblem::gradient(const Fit& fit, double lambda,
                                        std::span<const double> log_odds, int threads) const {
  const auto d = static_cast<Eigen::Index>(dims());
  const Lanes lanes(size());
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(d + 1, static_cast<Eigen::Index>(lanes.count));
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    std::vector<double> buffer;
    double* sum = sums.col(static_cast<Eigen::Index>(lane)).data();
    for (std::size_t i = first; i < last; ++i) {
      const double p = 1 / (1 + std::exp(is_target(i) ? log_odds[i] : -log_odds[i]));
      const double residual = weight_[i] / total_ * (is_target(i) ? -p : p);
      each(i, buffer, [&](std::size_t j, double value) { sum[j] += residual * value; });
      sum[d] += residual;
    }
  });
  Eigen::VectorXd out = sums.rowwise().sum();
  sum_over(reducer_, {out.data(), dims() + 1});
  for (Eigen::Index j = 0; j < d; ++j) out[j] += 2 * lambda * fit.weights[j];
  return out;
}

void DomainProblem::polish(Fit& fit, double lambda, int threads) const {
  const auto columns = static_cast<double>(dims() + 1);
  const double size_of_all = sum_over(reducer_, static_cast<double>(size()));
  const bool little = size_of_all * columns * columns <= polish_work;
  if (!little && dims() > polish_columns) return;
  const auto d = static_cast<Eigen::Index>(dims());
  double last = 1e-3;
  for (int step = 0; step < (little ? 4 : 1); ++step) {
    const std::vector<double> odds = log_odds(fit, threads);
    const std::optional<Factored> factored = factor(lambda, odds, threads);
    if (!factored) return;
    const Eigen::VectorXd slope = gradient(fit, lambda, odds, threads);
    const Eigen::VectorXd move =
        factored->scale.cwiseProduct(factored->root.solve(factored->scale.cwiseProduct(slope)));
    const double largest = move.lpNorm<Eigen::Infinity>();
    if (!(largest < last)) return;  // as close as rounding lets it come
    last = largest / 2;
    fit.intercept -= move[d];
    for (Eigen::Index j = 0; j < d; ++j) {
      fit.weights[j] -= move[j];
      fit.intercept += move[j] * rows_.centre()[j];
    }
  }
}

std::vector<double> DomainProblem::leave_one_out(double lambda, std::span<const double> log_odds,
                                                 int threads) const {
  return covshift::leave_one_out(examples(lambda, threads), log_odds);
}

}  // namespace covshift
