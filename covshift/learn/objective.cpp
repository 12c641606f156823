#include "covshift/learn/objective.hpp"

#include <algorithm>
#include <array>
#include <numeric>

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
      [&](const ExampleBlock& block) {
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
  // The bias row of A(pi) is share - total pi. It cancels that of A(q) for
  //     pi = (share + A(q) (1 - e) / e) / total,
  // which is a distribution if no entry is negative.
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

LogObjective::LogObjective(const Examples& examples)
    : examples_(examples),
      labels_(static_cast<std::size_t>(examples.labels())),
      certify_(examples),
      q_(examples.size() * (labels_ - 1)) {}

Bounds LogObjective::evaluate(const RowMatrix& t, RowMatrix& gradient) {
  const PassTotals totals = examples_.pass(t, gradient, nullptr, [&](const ExampleBlock& block) {
    float* out = q_.data() + block.first * (labels_ - 1);
    for (std::size_t y = 1; y < labels_; ++y) {
      for (std::size_t b = 0; b < block.rows; ++b) {
        *out++ = static_cast<float>(block.back[y * block_rows + b]);
      }
    }
  });
  const Bounds bounds = certify_(totals, t, gradient);
  gradient = examples_.ridge().asDiagonal() * t - gradient;
  return bounds;
}

double LogObjective::hessian_times(const RowMatrix& x, RowMatrix& out) {
  examples_.fused(x, out, [&](const ExampleBlock& block) {
    const float* q = q_.data() + block.first * (labels_ - 1);
    std::array<double, block_rows> mean{};
    for (std::size_t y = 1; y < labels_; ++y) {
      const double* move = block.psi + y * block_rows;
      for (std::size_t b = 0; b < block.rows; ++b) mean[b] += q[(y - 1) * block.rows + b] * move[b];
    }
    for (std::size_t y = 1; y < labels_; ++y) {
      const double* move = block.psi + y * block_rows;
      double* back = block.back + y * block_rows;
      for (std::size_t b = 0; b < block.rows; ++b) {
        back[b] =
            examples_.a()[block.first + b] * q[(y - 1) * block.rows + b] * (move[b] - mean[b]);
      }
    }
  });
  const auto k = static_cast<Eigen::Index>(labels_);
  return sum_pieces(threads(), x.size(), [&](Eigen::Index begin, Eigen::Index end) {
    double sum = 0;
    for (Eigen::Index j = begin; j < end; ++j) {
      out.data()[j] += examples_.ridge()[j / k] * x.data()[j];
      sum += x.data()[j] * out.data()[j];
    }
    return sum;
  });
}

void LogObjective::set_line(const RowMatrix& t, const RowMatrix& step) {
  psi_.resize(examples_.size() * labels_);
  move_.resize(examples_.size() * labels_);
  examples_.reducer().pass();
  examples_.potentials(t, psi_.data());
  examples_.potentials(step, move_.data());
  const auto ridge = examples_.ridge().asDiagonal();
  ridge_slope_ = (ridge * t).cwiseProduct(step).sum();
  ridge_curvature_ = (ridge * step).cwiseProduct(step).sum();
}

double LogObjective::slope(double length) {
  std::vector<double> partial(examples_.lanes());
  examples_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    for (std::size_t first = begin; first < end; first += block_rows) {
      partial[lane] += block_slope(first, std::min(block_rows, end - first), length);
    }
  });
  double total = std::accumulate(partial.begin(), partial.end(), 0.0);
  examples_.reducer().sum({&total, 1});
  return ridge_slope_ + length * ridge_curvature_ + total;
}

/// sum_i c_i (q_i - e_y_i)'move_i with q_i the adversary at psi_i + length move_i.
double LogObjective::block_slope(std::size_t first, std::size_t n, double length) const {
  const std::size_t k = labels_;
  const int* label = examples_.label().data() + first;
  const double* from = psi_.data() + first * k;
  const double* move = move_.data() + first * k;
  std::vector<double> psi(k * block_rows);
  std::vector<double> q(k * block_rows);
  std::array<double, block_rows> value{};
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t y = 0; y < k; ++y) {
      psi[y * block_rows + b] = from[b * k + y] + length * move[b * k + y];
    }
  }
  examples_.game().play_block(n, psi.data(), label, value.data(), q.data());
  double sum = 0;
  for (std::size_t b = 0; b < n; ++b) {
    double change = -move[b * k + static_cast<std::size_t>(label[b])];
    for (std::size_t y = 0; y < k; ++y) change += q[y * block_rows + b] * move[b * k + y];
    sum += examples_.c()[first + b] * change;
  }
  return sum;
}

}  // namespace covshift
