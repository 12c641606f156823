#include "covshift/learn/low_rank.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

constexpr Eigen::Index vectors = 48;
constexpr double negligible = 1e-12;  // of the largest eigenvalue: rounding

/// Of all holders, who must choose alike.
double examples_of_all(const Examples& examples) {
  auto size = static_cast<double>(examples.size());
  examples.reducer().sum({&size, 1});
  return size;
}

/// Runs body(first, count, lane) over fixed ranges of `rows` rows.
constexpr std::size_t lanes = 8;
template <typename Body>
void each_range(int threads, Eigen::Index rows, Body body) {
  parallel_tasks(threads, lanes, [&](std::size_t lane) {
    const auto at = [&](std::size_t l) { return rows * static_cast<Eigen::Index>(l) / lanes; };
    body(at(lane), at(lane + 1) - at(lane), lane);
  });
}

/// a'b, of many rows.
Eigen::MatrixXd product(int threads, const RowMatrix& a, const RowMatrix& b) {
  std::array<Eigen::MatrixXd, lanes> partial;
  each_range(threads, a.rows(), [&](Eigen::Index first, Eigen::Index count, std::size_t lane) {
    partial[lane] = a.middleRows(first, count).transpose() * b.middleRows(first, count);
  });
  for (std::size_t lane = 1; lane < lanes; ++lane) partial[0] += partial[lane];
  return partial[0];
}

}  // namespace

bool LowRank::worth(const Examples& examples) {
  return !examples.sparse() && examples.dims() >= 8 * vectors &&
         examples_of_all(examples) >= 8 * vectors;
}

LowRank::LowRank(const Examples& examples, double trace, std::uint64_t seed)
    : threads_(examples.threads()) {
  const double k = examples.labels();
  RowMatrix random(examples.dims(), vectors);  // of signs
  Random source(seed);
  static_assert(vectors <= 64);
  for (Eigen::Index j = 0; j < random.rows(); ++j) {
    std::uint64_t bits = source.next();
    for (Eigen::Index v = 0; v < vectors; ++v, bits >>= 1U)
      random(j, v) = (bits & 1U) != 0 ? 1 : -1;
  }
  examples.moments_times(random, image_);
  image_ /= trace;  // numbers near 1 do not overflow: from here on M is M / trace
  // M is about Y C^+ Y', C = Omega'Y. With C = Q c Q' and W = Q c^-1/2 that is (Y W)(Y W)'; its
  // eigenvalues are those of W'(Y'Y)W = V e V', its eigenvectors the columns of Y W V e^-1/2.
  const Eigen::MatrixXd c = product(threads_, random, image_);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_c(0.5 * (c + c.transpose()));
  const auto inverse_root = [](const Eigen::VectorXd& x) -> Eigen::VectorXd {
    const double least = negligible * std::max(x.maxCoeff(), 0.0);
    return (x.array() > least).select(x.array().max(1e-300).rsqrt(), 0.0);
  };
  const Eigen::MatrixXd w = of_c.eigenvectors() * inverse_root(of_c.eigenvalues()).asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_m(w.transpose() *
                                                            product(threads_, image_, image_) * w);
  const Eigen::VectorXd e = trace * of_m.eigenvalues().cwiseMax(0.0);
  const double others = std::min<double>(examples_of_all(examples), examples.dims()) - vectors;
  const double ridge = 2 * examples.lambda();
  rest_ = ridge + std::max(0.0, trace - e.sum()) / others / k;
  const Eigen::MatrixXd to_eigenvectors =
      w * of_m.eigenvectors() * inverse_root(of_m.eigenvalues()).asDiagonal();
  const Eigen::VectorXd change = (ridge + e.array() / k).inverse() - 1 / rest_;
  core_ = to_eigenvectors * change.asDiagonal() * to_eigenvectors.transpose();
}

void LowRank::solve(const RowMatrix& right, RowMatrix& t) const {
  const Eigen::MatrixXd inner = core_ * product(threads_, image_, right);
  t.resize(right.rows(), right.cols());
  each_range(threads_, right.rows(), [&](Eigen::Index first, Eigen::Index count, std::size_t) {
    t.middleRows(first, count) = right.middleRows(first, count) / rest_;
    t.middleRows(first, count).noalias() += image_.middleRows(first, count) * inner;
  });
}

}  // namespace covshift
