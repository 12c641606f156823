#include "covshift/learn/newton_system.hpp"

#include <algorithm>
#include <cmath>

namespace covshift {
namespace {

/// The lower triangle of weight contrast' B contrast, elements `block_rows` apart, for Helmert's
/// contrasts with the given scales: running sums of rows, then of columns. Overwrites B; `sum` is a
/// workspace for a row.
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

void NewtonSystem::factor_alike() { factor({&examples_.curvature(), 1}, 1); }

void NewtonSystem::factor(std::span<const Eigen::MatrixXd> grams, Eigen::Index contrasts) {
  const Examples& e = examples_;
  const Eigen::Index d = e.dims();
  const auto size = static_cast<std::size_t>(contrasts * d);
  if (factored_.size() != size) factored_ = Cholesky(size);
  // Adds `more` to the diagonal and returns the trace.
  const auto fill_in = [&](double more) {
    double trace = 0;
    std::size_t pair = 0;
    for (Eigen::Index x = 0; x < contrasts; ++x) {
      for (Eigen::Index y = 0; y <= x; ++y) {
        const Eigen::MatrixXd& gram = grams[pair++];  // lower triangle
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
  Eigen::MatrixXd x = right * contrast_;  // column-major: contrast by contrast, as in factor()
  for (Eigen::Index at = 0; at < x.size(); at += static_cast<Eigen::Index>(factored_.size())) {
    factored_.solve(x.data() + at);
  }
  t.noalias() = x * contrast_.transpose();
}

}  // namespace covshift
