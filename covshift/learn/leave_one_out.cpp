#include "covshift/learn/leave_one_out.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace covshift {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// G, lower triangular, with H^-1 = G'G; empty if H is singular. In terms of the difference of the
/// two classes' weights H has the curvature p (1 - p) and half of the ridge.
RowMatrix inverse_root(Examples& e, std::span<const double> log_odds) {
  std::vector<Eigen::MatrixXd> gram;
  e.grams(
      1,
      [&](std::size_t first, std::size_t n, std::size_t, double* omega) {
        for (std::size_t i = first; i < first + n; ++i) {
          const double p = sigmoid(log_odds[i]);
          *omega++ = e.a()[i] * e.r(i) * p * (1 - p);
        }
      },
      gram);
  Eigen::MatrixXd& h = gram[0];
  e.set_curvature(2 * h);
  h.diagonal() += e.ridge() / 2;
  // Scaled to a unit diagonal, so that columns of any magnitude do.
  const Eigen::VectorXd scale = h.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  h = scale.asDiagonal() * h * scale.asDiagonal();
  const Eigen::LLT<Eigen::MatrixXd> root(h);
  if (root.info() != Eigen::Success) return {};
  RowMatrix g = RowMatrix::Identity(h.rows(), h.cols());
  root.matrixL().solveInPlace(g);
  return g * scale.asDiagonal();
}

}  // namespace

std::vector<double> leave_one_out(Examples& examples, std::span<const double> log_odds) {
  Examples& e = examples;
  const RowMatrix g = inverse_root(e, log_odds);
  if (g.size() == 0) return {};
  const std::vector<double> leverage = e.squared_norms(g);
  std::vector<double> odds(log_odds.begin(), log_odds.end());
  for (std::size_t i = 0; i < odds.size(); ++i) {
    const double p = sigmoid(odds[i]);
    // Of all examples' sum; a and not c r, which may overflow.
    const double weighed = e.a()[i] * e.r(i) * leverage[i];
    const double kept = std::max(1 - weighed * p * (1 - p), 1e-3);
    odds[i] += weighed * (p - e.label()[i]) / kept;
  }
  return odds;
}

}  // namespace covshift
