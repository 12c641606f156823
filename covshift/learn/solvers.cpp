#include "covshift/learn/solvers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "covshift/base/error.hpp"

namespace covshift {

Certifier::Certifier(const Examples& examples) : examples_(examples) {
  const Examples& e = examples;
  if (!e.free_bias()) return;
  const auto k = static_cast<std::size_t>(e.labels());
  class_weight_.resize(k);
  for (std::size_t i = 0; i < e.size(); ++i) class_weight_[e.label()[i]] += e.c()[i];
  e.reducer().sum(class_weight_);
  for (std::size_t y = 0; y < k; ++y) {
    if (class_weight_[y] > 0) continue;
    fail_input("class {} has no examples, so a bias without penalty has no optimum", y);
  }
  e.collect(
      [&](const BlockOf& block) {
        for (std::size_t y = 0; y < k; ++y) {
          for (std::size_t b = 0; b < block.rows; ++b) {
            const std::size_t i = block.first + b;
            const bool own = static_cast<std::size_t>(e.label()[i]) == y;
            block.back[y * block_rows + b] = own ? e.a()[i] : 0;
          }
        }
      },
      class_sums_);
}

Bounds Certifier::operator()(PassTotals totals, const RowMatrix& t, const RowMatrix& a) const {
  const double lambda = examples_.lambda();
  if (!examples_.free_bias()) {
    return {totals.loss + lambda * t.squaredNorm(),
            totals.slack + (2 * lambda * t - a).squaredNorm() / (4 * lambda),
            totals.risk - a.squaredNorm() / (4 * lambda)};
  }
  // The bias' row of A(pi) is share - total pi; it cancels that of A(q) for
  //     pi = (share + A(q) (1 - e) / e) / total,
  // which is a distribution if no number is negative.
  const Eigen::Index features = t.rows() - 1;
  const Eigen::RowVectorXd share = class_sums_.row(features);
  const double needed = std::max(0.0, (-a.row(features)).cwiseQuotient(share).maxCoeff());
  const double mixed = needed / (1 + needed);
  Eigen::RowVectorXd pi = share;
  if (needed > 0) pi += a.row(features) / needed;
  pi = pi.cwiseMax(0.0) / pi.cwiseMax(0.0).sum();
  const RowMatrix a_pi = class_sums_ - class_sums_.rowwise().sum() * pi;
  double risk_pi = 0;
  for (std::size_t y = 0; y < class_weight_.size(); ++y) {
    risk_pi += class_weight_[y] *
               examples_.game().bayes_risk({pi.data(), class_weight_.size()}, static_cast<int>(y));
  }
  // sum_i c_i [V(psi_i) - psi_i'pi - H(pi)]
  const double slack_pi = totals.loss + t.cwiseProduct(a_pi).sum() - risk_pi;
  const auto a_mixed = ((1 - mixed) * a + mixed * a_pi).topRows(features);
  const auto weights = t.topRows(features);
  return {totals.loss + lambda * weights.squaredNorm(),
          (1 - mixed) * totals.slack + mixed * std::max(0.0, slack_pi) +
              (2 * lambda * weights - a_mixed).squaredNorm() / (4 * lambda),
          (1 - mixed) * totals.risk + mixed * risk_pi - a_mixed.squaredNorm() / (4 * lambda)};
}

Monitor::Monitor(const Examples& examples, const SolveOptions& options, Solver solver,
                 int max_iterations)
    : reducer_(examples.reducer()),
      options_(options),
      max_iterations_(options.max_iterations > 0 ? options.max_iterations : max_iterations),
      begin_(std::chrono::steady_clock::now()) {
  solution_.solver = solver;
  solution_.weights.assign(static_cast<std::size_t>(examples.dims()) * examples.labels(), 0.0);
}

double Monitor::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

double Monitor::target(double objective) const {
  return options_.tolerance * std::max(1.0, std::abs(objective));
}

bool Monitor::out_of_time() const {
  if (!(options_.time_limit > 0)) return false;
  double up = seconds() >= options_.time_limit ? 1 : 0;
  reducer_.max({&up, 1});  // clocks differ, decisions must not
  return up > 0;
}

bool Monitor::stop(const RowMatrix& t, const Bounds& certificate, int iteration) {
  Solution& s = solution_;
  if (!std::isfinite(certificate.objective) || !std::isfinite(certificate.gap) ||
      !std::isfinite(certificate.dual)) {
    s.status = Status::non_finite;
    if (!any_) {  // not even the first weights could be judged: certify nothing
      s.objective = certificate.objective;
      s.gap = std::numeric_limits<double>::infinity();
      s.dual = -s.gap;
    }
    return true;
  }
  // The best weights and the best dual value may come from different iterations.
  const double dual = certificate.dual;
  if (!any_ || certificate.objective < s.objective) {
    s.objective = certificate.objective;
    std::copy_n(t.data(), t.size(), s.weights.begin());
  }
  best_dual_ = any_ ? std::max(best_dual_, dual) : dual;
  any_ = true;
  s.gap = std::max(0.0, s.objective - best_dual_);
  // Where both are of this iteration the certificate knows the gap to more digits.
  if (s.objective == certificate.objective && best_dual_ == dual) s.gap = certificate.gap;
  s.dual = s.objective - s.gap;
  if (s.gap <= target(s.objective)) {
    s.status = Status::converged;
    return true;
  }
  double halt = 0;
  if (options_.observer && !options_.observer({iteration, s.objective, s.gap, seconds()})) halt = 1;
  reducer_.max({&halt, 1});  // one observer speaks for all
  if (halt > 0) {
    s.status = Status::stopped;
    return true;
  }
  if (out_of_time()) {
    s.status = Status::time_limit;
    return true;
  }
  if (iteration >= max_iterations_) {
    s.status = Status::iteration_limit;
    return true;
  }
  return false;
}

Solution Monitor::finish(int iterations) {
  solution_.iterations = iterations;
  solution_.seconds = seconds();
  return std::move(solution_);
}

namespace {

/// weight contrast' B contrast, its lower triangle with numbers `block_rows` apart, for contrasts
/// that compare a label with those before it, each to be multiplied by its scale: running sums of
/// rows, then of columns. B is written over; `sum` is room for a row.
void to_contrasts(RowMatrix& b, std::span<const double> scale, double weight,
                  Eigen::RowVectorXd& sum, double* out) {
  const auto n = static_cast<int>(scale.size());
  sum.setZero();
  for (int x = 0; x < n; ++x) {
    sum += b.row(x);
    b.row(x) = (scale[x] * weight) * (sum - (x + 1.0) * b.row(x + 1));
    double left = 0;
    for (int y = 0; y <= x; ++y) {
      left += b(x, y);
      *out = scale[y] * (left - (y + 1.0) * b(x, y + 1));
      out += block_rows;
    }
  }
}

}  // namespace

NewtonSystem::NewtonSystem(const Examples& examples) : examples_(examples), factored_(0) {
  // Helmert's contrasts: column j compares class j + 1 with the mean of those before it.
  const int k = examples.labels();
  contrast_ = Eigen::MatrixXd::Zero(k, k - 1);
  for (int j = 0; j < k - 1; ++j) {
    scale_.push_back(1 / std::sqrt((j + 1.0) * (j + 2.0)));
    contrast_.col(j).head(j + 1).setConstant(scale_[j]);
    contrast_(j + 1, j) = -(j + 1) * scale_[j];
  }
}

void NewtonSystem::factor(const std::function<void(std::size_t, std::size_t, double*)>& fill) {
  const Examples& e = examples_;
  const Eigen::Index k = e.labels();
  const Eigen::Index n = k - 1;
  const Eigen::Index pairs = n * (n + 1) / 2;
  std::vector<Eigen::MatrixXd> grams;
  e.grams(
      static_cast<int>(pairs),
      [&](std::size_t first, std::size_t rows, std::size_t lane, double* omega) {
        RowMatrix b(k, k);
        Eigen::RowVectorXd sum(k);
        for (std::size_t i = first; i < first + rows; ++i, ++omega) {
          fill(i, lane, b.data());
          to_contrasts(b, scale_, e.a()[i] * e.r(i), sum, omega);
        }
      },
      grams);
  factor(grams, n);
}

void NewtonSystem::factor_alike() {
  const Examples& e = examples_;
  std::vector<Eigen::MatrixXd> grams;
  e.grams(
      1,
      [&](std::size_t first, std::size_t rows, std::size_t /*lane*/, double* omega) {
        for (std::size_t i = first; i < first + rows; ++i)
          *omega++ = e.a()[i] * e.r(i) / e.labels();
      },
      grams);
  factor(grams, 1);
}

void NewtonSystem::factor(const std::vector<Eigen::MatrixXd>& grams, Eigen::Index contrasts) {
  const Examples& e = examples_;
  const Eigen::Index d = e.dims();
  const auto size = static_cast<std::size_t>(contrasts * d);
  if (factored_.size() != size) factored_ = Cholesky(size);
  // With `more` added to the diagonal; its sum says how large that is, and whether it is finite.
  const auto fill_in = [&](double more) {
    double trace = 0;
    std::size_t pair = 0;
    for (Eigen::Index x = 0; x < contrasts; ++x) {
      for (Eigen::Index y = 0; y <= x; ++y) {
        const Eigen::MatrixXd& gram = grams[pair++];  // symmetric, its lower triangle is there
        for (Eigen::Index j = 0; j < d; ++j) {
          double* to = factored_.row(static_cast<std::size_t>(y * d + j)) + x * d;
          for (Eigen::Index l = 0; l < j; ++l) to[l] = gram(j, l);
          for (Eigen::Index l = j; l < d; ++l) to[l] = gram(l, j);
          if (x == y) to[j] += e.ridge()[j] + more;
          if (x == y) trace += to[j];
        }
      }
    }
    return trace;
  };
  double more = 0;
  double trace = fill_in(more);
  while (!factored_.factor(e.threads()) && more < 1e300 && std::isfinite(trace)) {
    more += 10 * std::max(2 * e.lambda() + more, 1e-14 * trace);
    trace = fill_in(more);
  }
}

void NewtonSystem::solve(const RowMatrix& right, RowMatrix& t) const {
  Eigen::MatrixXd x = right * contrast_;  // column-major: contrast after contrast, as in factor()
  for (Eigen::Index at = 0; at < x.size(); at += static_cast<Eigen::Index>(factored_.size())) {
    factored_.solve(x.data() + at);
  }
  t.noalias() = x * contrast_.transpose();
}

bool cheap_steps(const Examples& examples) {
  const auto parameters = static_cast<double>(NewtonSystem::size(examples));
  auto size = static_cast<double>(examples.size());
  examples.reducer().sum({&size, 1});  // all holders must choose alike
  return parameters <= 200 && size * parameters * parameters < 2e9;
}

}  // namespace covshift
