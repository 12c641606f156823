#include "covshift/learn/preconditioners.hpp"

#include <algorithm>

#include "covshift/base/random.hpp"

namespace covshift {

DiagonalPreconditioner::DiagonalPreconditioner(const Examples& examples, const Certifier& certifier)
    : threads_(examples.threads()) {
  std::vector<double> squares = examples.squares();
  if (examples.free_bias() && examples.problem().log_scale.empty()) {
    const Eigen::VectorXd sums = certifier.class_sums().rowwise().sum();  // sum_i a_i z_i
    const Eigen::Index features = sums.size() - 1;
    mean_ = sums.head(features) / sums[features];
    for (Eigen::Index j = 0; j < features; ++j) {
      double& square = squares[static_cast<std::size_t>(j)];
      square = std::max(square - mean_[j] * sums[j], 1e-12 * square);
    }
  }
  const double k = examples.labels();
  const Eigen::Map<const Eigen::ArrayXd> moments(squares.data(), examples.ridge().size());
  inverse_ = (examples.ridge().array() + (k - 1) / (k * k) * moments).inverse();
}

void DiagonalPreconditioner::solve(const RowMatrix& right, RowMatrix& t) const {
  const Eigen::Index features = mean_.size();
  if (features > 0) {
    const Eigen::RowVectorXd of_bias = right.row(features);
    t.topRows(features) =
        inverse_.head(features).asDiagonal() * (right.topRows(features) - mean_ * of_bias);
    t.row(features) = inverse_[features] * of_bias - mean_.transpose() * t.topRows(features);
    return;
  }
  sum_pieces(threads_, right.size(), [&](Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index j = begin; j < end; ++j) {
      t.data()[j] = right.data()[j] * inverse_[j / right.cols()];
    }
    return 0.0;
  });
}

void FactoredHessian::update(const RowMatrix& t) {
  const auto k = static_cast<std::size_t>(examples_.labels());
  std::vector<double> q(examples_.size() * k);
  RowMatrix a;
  examples_.pass(t, a, nullptr, keep_rows(examples_.labels(), nullptr, q.data()));
  system_.factor([&](std::size_t i, std::size_t /*lane*/, double* b) {
    const double* own = q.data() + i * k;
    for (std::size_t x = 0; x < k; ++x) {
      for (std::size_t y = 0; y < k; ++y) b[x * k + y] = (x == y ? own[x] : 0) - own[x] * own[y];
    }
  });
}

namespace {

/// Of `rows` drawn from all holders, this one's part.
std::size_t own_rows(const Examples& examples, std::size_t rows) {
  const auto own = static_cast<double>(examples.problem().features.rows);
  const double all = sum_over(&examples.reducer(), own);
  return static_cast<std::size_t>(static_cast<double>(rows) * (own / all));
}

std::vector<double> sample_weight(const Problem& problem, std::size_t rows, std::uint64_t seed) {
  const std::size_t all = problem.features.rows;
  std::vector<double> weight(all, 0.0);
  Random random(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t begin = all * i / rows;
    const std::size_t row = begin + random.below(all * (i + 1) / rows - begin);
    weight[row] = problem.sample_weight.empty() ? 1 : problem.sample_weight[row];
  }
  return weight;
}

}  // namespace

DrawnRows::DrawnRows(const Problem& all, std::vector<double> weight)
    : problem_(all), sample_weight_(std::move(weight)) {
  const auto scales = static_cast<std::size_t>(all.scales);
  if (!is_sparse(all.features)) {
    const std::size_t cols = all.features.cols;
    std::vector<double> kept;
    for (std::size_t i = 0; i < sample_weight_.size(); ++i) {
      if (sample_weight_[i] == 0) continue;
      features_.resize(features_.size() + cols);
      copy_row(all, i, features_.data() + features_.size() - cols);
      kept.push_back(sample_weight_[i]);
      labels_.push_back(all.labels[i]);
      if (!all.log_weight.empty()) log_weight_.push_back(all.log_weight[i]);
      if (!all.log_scale.empty()) {
        const auto own = all.log_scale.subspan(i * scales, scales);
        log_scale_.insert(log_scale_.end(), own.begin(), own.end());
      }
    }
    sample_weight_ = std::move(kept);
    problem_.features = MatrixView::dense(features_.data(), sample_weight_.size(), cols);
    problem_.pooled = nullptr;
    problem_.labels = labels_;
    problem_.log_weight = log_weight_;
    problem_.log_scale = log_scale_;
  }
  problem_.sample_weight = sample_weight_;
}

SampledHessian::SampledHessian(const Examples& all, std::size_t rows, std::uint64_t seed)
    : rows_(rows),
      reducer_(all.reducer()),
      drawn_(all.problem(), sample_weight(all.problem(), own_rows(all, rows), seed)),
      examples_(drawn_.problem(), all.threads(), &reducer_),
      hessian_(examples_) {}

void SampledHessian::update(const RowMatrix& t) {
  // Factoring costs as much as about eight products with all rows.
  constexpr std::size_t many = 8;
  if (!factored_ || solved_ > many) hessian_.update(t);
  factored_ = true;
  solved_ = 0;
}

bool SampledHessian::usable() const {
  std::vector<double> seen(static_cast<std::size_t>(examples_.labels()) + 1);
  for (const int y : examples_.label()) ++seen[static_cast<std::size_t>(y)];
  seen.back() = static_cast<double>(examples_.size());
  examples_.reducer().sum(seen);
  const bool every_class = std::find(seen.begin(), seen.end(), 0.0) == seen.end();
  return 2 * seen.back() >= static_cast<double>(rows_) && (every_class || !examples_.free_bias());
}

}  // namespace covshift
