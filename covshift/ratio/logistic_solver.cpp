#include "covshift/ratio/logistic_solver.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {

namespace {

constexpr Eigen::Index cholesky_limit = 500;  // columns; beyond, conjugate gradients
constexpr std::size_t small = 1U << 17U;  // numbers; so many rows are kept as they are worked with
constexpr std::size_t block = 128;        // of them, which stay in the nearest cache
constexpr int iteration_limit = 1000;
constexpr int inner_limit = 5000;
// Within such changes of the log odds the curvature changes by e^0.1 at most: full steps are safe.
constexpr double safe_change = 0.1;

/// A pass over little data takes less time than it takes to wake other threads.
bool worth_threads(const Samples& samples) {
  return (samples.train.size() + samples.target.size()) * samples.train.dims() > 200000;
}

[[noreturn]] void fail_numeric(double lambda) {
  throw Error(Error::Kind::numeric,
              fmt::format("the logistic density ratio did not converge with lambda {}; scale the "
                          "features or use a larger lambda",
                          lambda));
}

}  // namespace

struct LogisticSolver::State {
  Vector share;  // s_i / S
  Vector z;      // (u, b')
  Vector margin;
  double largest = 0;  // margin's size
  Vector gradient;
  Vector residual;
  Vector curvature;         // h_i = share_i p_i (1 - p_i)
  Eigen::MatrixXd hessian;  // where few columns are kept; row after row
};

LogisticSolver::LogisticSolver(const Samples& samples, int threads)
    : samples_(samples),
      threads_(worth_threads(samples) ? threads : 1),
      n_(samples.train.size() + samples.target.size()),
      d_(static_cast<Eigen::Index>(samples.train.dims())),
      pitch_(padded(n_)),
      lanes_(n_),
      mean_(Vector::Zero(d_)),
      side_(static_cast<Eigen::Index>(n_)) {
  const auto n = static_cast<Eigen::Index>(n_);
  for (Eigen::Index i = 0; i < n; ++i) side_[i] = is_target(static_cast<std::size_t>(i)) ? -1 : 1;
  const Vector total = collect(Vector::Constant(n, 1.0 / static_cast<double>(n_)));
  mean_ = total.head(d_);
  if (n_ * static_cast<std::size_t>(d_ + 1) > small) return;
  rows_.resize(pitch_ * static_cast<std::size_t>(d_ + 1), 1.0);
  for (std::size_t j = 0; j < static_cast<std::size_t>(d_); ++j) {
    std::fill_n(rows_.data() + j * pitch_, pitch_, -mean_[static_cast<Eigen::Index>(j)]);
  }
  for (std::size_t i = 0; i < n_; ++i) {
    each(i, [&](std::size_t j, double value) { rows_[j * pitch_ + i] += value; });
  }
}

void LogisticSolver::each_lane(
    const std::function<void(Eigen::Index, Eigen::Index, std::size_t)>& body) const {
  lanes_.each(threads_, [&](std::size_t first, std::size_t last, std::size_t lane) {
    body(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(last - first), lane);
  });
}

double LogisticSolver::margins(const Vector& z, const Vector& share, Vector& out) const {
  const double offset = z[d_] - mean_.dot(z.head(d_));
  out.resize(static_cast<Eigen::Index>(n_));
  std::vector<double> largest(lanes_.count);
  each_lane([&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
    if (!rows_.empty()) {
      largest[lane] = kernels().columns_times(
          static_cast<std::size_t>(count), static_cast<std::size_t>(d_ + 1), pitch_,
          rows_.data() + first, z.data(), share.data() + first, out.data() + first);
      return;
    }
    for (Eigen::Index i = first; i < first + count; ++i) {
      out[i] = share[i] > 0 ? dot(static_cast<std::size_t>(i), z.data()) + offset : 0.0;
    }
    const auto part = out.segment(first, count).array().abs();
    largest[lane] = part.allFinite() ? part.maxCoeff() : HUGE_VAL;
  });
  return *std::max_element(largest.begin(), largest.end());
}

LogisticSolver::Vector LogisticSolver::collect(const Vector& r) const {
  std::vector<Vector> partial(lanes_.count);
  each_lane([&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
    Vector& sum = partial[lane];
    sum = Vector::Zero(d_ + 1);
    if (!rows_.empty()) {
      kernels().columns_sums(static_cast<std::size_t>(count), static_cast<std::size_t>(d_ + 1),
                             pitch_, rows_.data() + first, r.data() + first, sum.data());
      return;
    }
    for (Eigen::Index i = first; i < first + count; ++i) {
      if (r[i] == 0) continue;
      each(static_cast<std::size_t>(i),
           [&](std::size_t j, double value) { sum[static_cast<Eigen::Index>(j)] += r[i] * value; });
      sum[d_] += r[i];
    }
    sum.head(d_) -= sum[d_] * mean_;
  });
  for (std::size_t lane = 1; lane < partial.size(); ++lane) partial[0] += partial[lane];
  return partial[0];
}

void LogisticSolver::differentiate(State& state, double lambda) const {
  state.residual.resize(static_cast<Eigen::Index>(n_));
  state.curvature.resize(static_cast<Eigen::Index>(n_));
  const auto respond = [&](Eigen::Index first, Eigen::Index count) {
    return kernels().logistic(static_cast<std::size_t>(count), side_.data() + first,
                              state.share.data() + first, state.margin.data() + first,
                              state.residual.data() + first, state.curvature.data() + first);
  };
  state.largest = 0;
  if (rows_.empty() || d_ > cholesky_limit) {
    std::vector<double> largest(lanes_.count);
    each_lane([&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
      largest[lane] = respond(first, count);
    });
    for (const double x : largest) state.largest = std::max(state.largest, x);
    state.gradient = collect(state.residual);
  } else {  // with the Hessian, all at once
    state.gradient.setZero(d_ + 1);
    state.hessian.setZero(d_ + 1, d_ + 1);
    const auto columns = static_cast<std::size_t>(d_ + 1);
    for (std::size_t first = 0; first < n_; first += block) {
      const std::size_t count = std::min(block, n_ - first);
      const double* const x = rows_.data() + first;
      state.largest = std::max(state.largest, respond(static_cast<Eigen::Index>(first),
                                                      static_cast<Eigen::Index>(count)));
      kernels().columns_sums(count, columns, pitch_, x, state.residual.data() + first,
                             state.gradient.data());
      kernels().weighted_moments(count, columns, pitch_, x, state.curvature.data() + first,
                                 state.hessian.data());
    }
  }
  state.gradient.head(d_) += 2 * lambda * state.z.head(d_);
}

/// sum_i h_i (x_i - mean, 1)(x_i - mean, 1)', the lower triangle.
Eigen::MatrixXd LogisticSolver::hessian(const State& state) const {
  if (!rows_.empty()) return state.hessian.transpose();
  std::vector<Eigen::MatrixXd> partial(lanes_.count);
  each_lane([&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
    Eigen::MatrixXd& sum = partial[lane];
    sum = Eigen::MatrixXd::Zero(d_ + 1, d_ + 1);
    Eigen::MatrixXd packed(d_ + 1, 64);  // a row of the data to a column
    Eigen::Index filled = 0;
    for (Eigen::Index i = first; i < first + count; ++i) {
      const double h = state.curvature[i];
      if (h > 0) {
        auto row = packed.col(filled++);
        row.head(d_) = -mean_;
        each(static_cast<std::size_t>(i),
             [&](std::size_t j, double value) { row[static_cast<Eigen::Index>(j)] += value; });
        row[d_] = 1;
        row *= std::sqrt(h);
      }
      if (filled == packed.cols() || (i + 1 == first + count && filled > 0)) {
        sum.selfadjointView<Eigen::Lower>().rankUpdate(packed.leftCols(filled));
        filled = 0;
      }
    }
  });
  for (std::size_t lane = 1; lane < partial.size(); ++lane) partial[0] += partial[lane];
  return partial[0];
}

/// -H^-1 gradient, H = sum_i h_i (x_i - mean, 1)(x_i - mean, 1)' + 2 lambda (all but intercept).
LogisticSolver::Vector LogisticSolver::cholesky_step(const State& state, double lambda) const {
  Eigen::MatrixXd h = hessian(state);
  h.diagonal().head(d_).array() += 2 * lambda;
  // Scaled to a unit diagonal, so that columns of any magnitude do.
  const Vector scale = h.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  h = scale.asDiagonal() * h * scale.asDiagonal();
  if (!h.allFinite()) fail_numeric(lambda);
  for (double damping = 0;; damping = damping == 0 ? 1e-14 : 100 * damping) {
    Eigen::MatrixXd damped = h;
    damped.diagonal().array() += damping;
    const Eigen::LLT<Eigen::MatrixXd> factor(damped);
    if (factor.info() == Eigen::Success) {
      return -scale.cwiseProduct(factor.solve(scale.cwiseProduct(state.gradient)));
    }
    if (damping > 1) fail_numeric(lambda);
  }
}

/// The same by conjugate gradients, preconditioned by the diagonal, to a residual of `precision`
/// times the gradient.
LogisticSolver::Vector LogisticSolver::gradient_step(const State& state, double lambda,
                                                     double precision) const {
  std::vector<Vector> squares(lanes_.count);
  std::vector<Vector> sums(lanes_.count);
  lanes_.each(threads_, [&](std::size_t first, std::size_t last, std::size_t lane) {
    squares[lane] = Vector::Zero(d_);
    sums[lane] = Vector::Zero(d_);
    for (std::size_t i = first; i < last; ++i) {
      const double h = state.curvature[static_cast<Eigen::Index>(i)];
      if (h == 0) continue;
      each(i, [&](std::size_t j, double value) {
        squares[lane][static_cast<Eigen::Index>(j)] += h * value * value;
        sums[lane][static_cast<Eigen::Index>(j)] += h * value;
      });
    }
  });
  for (std::size_t lane = 1; lane < lanes_.count; ++lane) {
    squares[0] += squares[lane];
    sums[0] += sums[lane];
  }
  const double total = state.curvature.sum();
  Vector diagonal(d_ + 1);
  diagonal.head(d_) =
      (squares[0] - 2 * mean_.cwiseProduct(sums[0]) + total * mean_.cwiseAbs2()).cwiseMax(0.0);
  diagonal.head(d_).array() += 2 * lambda;
  diagonal[d_] = std::max(total, 1e-300);

  Vector step = Vector::Zero(d_ + 1);
  Vector residual = -state.gradient;
  Vector scaled = residual.cwiseQuotient(diagonal);
  Vector direction = scaled;
  Vector change;
  double squared = residual.dot(scaled);
  const double enough = precision * precision * squared;
  for (int j = 0; j < inner_limit && squared > enough; ++j) {
    margins(direction, state.share, change);
    Vector product = collect(change.cwiseProduct(state.curvature));
    product.head(d_) += 2 * lambda * direction.head(d_);
    const double length = squared / direction.dot(product);
    if (!std::isfinite(length)) break;
    step += length * direction;
    residual -= length * product;
    scaled = residual.cwiseQuotient(diagonal);
    const double next = residual.dot(scaled);
    direction = scaled + next / squared * direction;
    squared = next;
  }
  return step;
}

double LogisticSolver::objective(const State& state, const Vector& z, const Vector& m,
                                 double lambda) const {
  std::vector<double> partial(lanes_.count);
  each_lane([&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
    const Eigen::ArrayXd a = side_.segment(first, count).array() * m.segment(first, count).array();
    // log(1 + exp(a)), to 16 digits after the point
    partial[lane] =
        (state.share.segment(first, count).array() * (a.max(0.0) + (1 + (-a.abs()).exp()).log()))
            .sum();
  });
  double sum = lambda * z.head(d_).squaredNorm();
  for (const double p : partial) sum += p;
  return sum;
}

double LogisticSolver::go(const Vector& step, const Vector& change, double lambda, bool safe,
                          State& state) const {
  const Vector from = state.z;
  const double slope = state.gradient.dot(step);
  const auto move = [&](double length) {
    state.z = from + length * step;
    state.margin += length * change;
    differentiate(state, lambda);
  };
  // The whole step first: what judges it is what the next step needs.
  move(1);
  if (safe || std::abs(state.gradient.dot(step)) <= 0.5 * -slope) return 1;
  margins(from, state.share, state.margin);
  const double here = objective(state, from, state.margin, lambda);
  for (double length = 1; length > 1e-12; length /= 2) {
    const double there =
        objective(state, from + length * step, state.margin + length * change, lambda);
    if (!(there <= here + 1e-4 * length * slope)) continue;  // nor if not a number
    move(length);
    return length;
  }
  fail_numeric(lambda);
}

LogisticFit LogisticSolver::solve(double lambda, std::span<const double> weight, double tolerance,
                                  const LogisticFit* start) const {
  State state;
  double total = 0;
  double target = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    total += weight[i];
    if (is_target(i)) target += weight[i];
  }
  state.share = Eigen::Map<const Vector>(weight.data(), static_cast<Eigen::Index>(n_)) / total;
  state.z = Vector::Zero(d_ + 1);
  if (start != nullptr) {
    std::copy(start->weights.begin(), start->weights.end(), state.z.data());
    state.z[d_] = start->intercept + mean_.dot(state.z.head(d_));
  } else {
    state.z[d_] = std::log(target / (total - target));
  }

  Vector change;
  double last = HUGE_VAL;
  margins(state.z, state.share, state.margin);
  differentiate(state, lambda);
  for (int iteration = 1; iteration <= iteration_limit; ++iteration) {
    const Vector step = d_ <= cholesky_limit
                            ? cholesky_step(state, lambda)
                            : gradient_step(state, lambda, last > 1e-2 ? 1e-2 : 1e-8);
    const double largest = margins(step, state.share, change);
    const double scale = std::max(1.0, state.largest);
    if (!std::isfinite(largest) || !std::isfinite(scale)) fail_numeric(lambda);
    // A small step that no longer shrinks is rounding: lambda is tiny, the best there is.
    const bool rounding = largest <= 1e-5 * scale && largest > 0.5 * last;
    if (largest <= tolerance * scale || rounding) {
      state.z += step;
      LogisticFit fit;
      fit.weights.assign(state.z.data(), state.z.data() + d_);
      fit.intercept = state.z[d_] - mean_.dot(state.z.head(d_));
      fit.iterations = iteration;
      fit.accuracy = largest;
      return fit;
    }
    const double length = go(step, change, lambda, largest <= safe_change, state);
    last = length == 1.0 ? largest : HUGE_VAL;
  }
  fail_numeric(lambda);
}

}  // namespace covshift
