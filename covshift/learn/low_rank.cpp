#include "covshift/learn/low_rank.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

constexpr Eigen::Index kept = LowRank::vectors;
constexpr double negligible = 1e-12;  // of the largest eigenvalue: rounding

/// Summed over all holders.
double examples_of_all(const Examples& examples) {
  auto size = static_cast<double>(examples.size());
  examples.reducer().sum({&size, 1});
  return size;
}

/// Runs body(block of rows, the first of them, lane) over all rows of a.
constexpr std::size_t lanes = 8;
template <typename Body>
void each_block(int threads, const RowMatrix& a, Body body) {
  static_assert(padded(kept) == kept);
  const auto rows = static_cast<std::size_t>(a.rows());
  parallel_tasks(threads, lanes, [&](std::size_t lane) {
    const std::size_t end = rows * (lane + 1) / lanes;
    for (std::size_t first = rows * lane / lanes; first < end; first += block_rows) {
      body(DenseBlock{a.data() + first * kept, kept, std::min(block_rows, end - first), kept},
           static_cast<Eigen::Index>(first), lane);
    }
  });
}

/// a'b, of many rows.
Eigen::MatrixXd product(int threads, const RowMatrix& a, const RowMatrix& b) {
  const auto columns = static_cast<std::size_t>(b.cols());
  std::array<std::vector<double>, lanes> sums;
  for (std::vector<double>& sum : sums) sum.assign(columns * kept, 0.0);
  each_block(threads, a, [&](const DenseBlock& z, Eigen::Index first, std::size_t lane) {
    std::vector<double> of_b(columns * block_rows);
    for (std::size_t i = 0; i < z.rows; ++i) {
      const double* row = b.data() + (static_cast<std::size_t>(first) + i) * columns;
      for (std::size_t y = 0; y < columns; ++y) of_b[y * block_rows + i] = row[y];
    }
    kernels().times_transposed(z, of_b.data(), columns, sums[lane].data());
  });
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(kept, b.cols());
  for (const std::vector<double>& sum : sums) {
    out += Eigen::Map<const Eigen::MatrixXd>(sum.data(), kept, b.cols());
  }
  return out;
}

/// take(j, y, x): x is number y of row j of a b.
template <typename Take>
void multiply(int threads, const RowMatrix& a, const Eigen::MatrixXd& b, Take take) {
  const auto columns = static_cast<std::size_t>(b.cols());
  each_block(threads, a, [&](const DenseBlock& z, Eigen::Index first, std::size_t /*lane*/) {
    std::vector<double> block(columns * block_rows);
    kernels().times(z, b.data(), columns, block.data());
    for (std::size_t i = 0; i < z.rows; ++i) {
      for (std::size_t y = 0; y < columns; ++y) {
        take(first + static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(y),
             block[y * block_rows + i]);
      }
    }
  });
}
void multiply(int threads, RowMatrix& a, const Eigen::MatrixXd& b) {
  multiply(threads, a, b, [&](Eigen::Index j, Eigen::Index y, double x) { a(j, y) = x; });
}

}  // namespace

LowRank::LowRank(const Examples& examples, std::uint64_t seed) : threads_(examples.threads()) {
  const double k = examples.labels();
  RowMatrix random(examples.dims(), kept);  // of signs
  Random source(seed);
  static_assert(kept <= 64);
  for (Eigen::Index j = 0; j < random.rows(); ++j) {
    std::uint64_t bits = source.next();
    for (Eigen::Index v = 0; v < kept; ++v, bits >>= 1U) random(j, v) = (bits & 1U) != 0 ? 1 : -1;
  }
  const double trace = examples.moments_times(random, vectors_);
  if (!(trace > 0 && std::isfinite(trace))) return;
  vectors_ /= trace;  // numbers near 1 do not overflow: from here on M is M / trace
  const auto inverse_root = [](const Eigen::VectorXd& x) -> Eigen::VectorXd {
    const double least = negligible * std::max(x.maxCoeff(), 0.0);
    return (x.array() > least).select(x.array().max(1e-300).rsqrt(), 0.0);
  };
  // M is about Y C^+ Y', Y = M Omega, C = Omega'Y. With C = Q c Q' that is B B', B = Y Q c^-1/2;
  // its eigenvalues are those of B'B = V e V', its eigenvectors U = B V e^-1/2. All are worked out
  // as they stand here: products of the small matrices would lose twice as many digits where one
  // eigenvalue is far above the others, as that of columns which are not centred is.
  const Eigen::MatrixXd c = product(threads_, random, vectors_);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_c(0.5 * (c + c.transpose()));
  multiply(threads_, vectors_, of_c.eigenvectors() * inverse_root(of_c.eigenvalues()).asDiagonal());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> of_m(product(threads_, vectors_, vectors_));
  const Eigen::VectorXd root = inverse_root(of_m.eigenvalues());
  multiply(threads_, vectors_, of_m.eigenvectors() * root.asDiagonal());
  const Eigen::VectorXd e = trace * of_m.eigenvalues().cwiseMax(0.0);
  const double others = std::min<double>(examples_of_all(examples), examples.dims()) - kept;
  const double ridge = 2 * examples.lambda();
  rest_ = ridge + std::max(0.0, trace - e.sum()) / others / k;
  // H^-1 as a square, (I - U s U')^2 / rest, which is positive definite even where rounding has
  // left the eigenvectors a little askew.
  const Eigen::VectorXd s =
      (root.array() > 0).select(1 - (rest_ / (ridge + e.array() / k)).sqrt(), 0.0);
  core_ = s.asDiagonal() * product(threads_, vectors_, vectors_) * s.asDiagonal();
  core_.diagonal() -= 2 * s;
  core_ /= rest_;
}

void LowRank::solve(const RowMatrix& right, RowMatrix& t) const {
  t.resize(right.rows(), right.cols());
  multiply(threads_, vectors_, core_ * product(threads_, vectors_, right),
           [&](Eigen::Index j, Eigen::Index y, double x) { t(j, y) = right(j, y) / rest_ + x; });
}

}  // namespace covshift
