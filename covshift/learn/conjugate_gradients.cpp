#include "covshift/learn/conjugate_gradients.hpp"

#include <cmath>

#include "covshift/learn/pieces.hpp"

namespace covshift {

bool conjugate_gradients(Function& function, const Preconditioner& preconditioner,
                         const GradientLimits& limits, RowMatrix& residual, RowMatrix& step) {
  const int threads = function.threads();
  step.setZero(residual.rows(), residual.cols());
  // The residual, preconditioned, or a product with the Hessian: never both.
  RowMatrix work(residual.rows(), residual.cols());
  preconditioner.solve(residual, work);
  RowMatrix direction = work;
  const auto inner_product = [&] {
    return sum_pieces(threads, work.size(), [&](Eigen::Index begin, Eigen::Index end) {
      double sum = 0;
      for (Eigen::Index j = begin; j < end; ++j) sum += residual.data()[j] * work.data()[j];
      return sum;
    });
  };
  double squared = inner_product();
  const double enough = limits.enough(std::sqrt(squared));
  for (std::size_t round = 0; std::sqrt(squared) > enough; ++round) {
    if (round == limits.products) return false;
    if (limits.interrupted()) break;
    const double curvature = function.hessian_times(direction, work);
    if (!(curvature > 0)) break;
    const double length = squared / curvature;
    sum_pieces(threads, step.size(), [&](Eigen::Index begin, Eigen::Index end) {
      for (Eigen::Index j = begin; j < end; ++j) {
        step.data()[j] += length * direction.data()[j];
        residual.data()[j] -= length * work.data()[j];
      }
      return 0.0;
    });
    preconditioner.solve(residual, work);
    const double next = inner_product();
    sum_pieces(threads, step.size(), [&](Eigen::Index begin, Eigen::Index end) {
      for (Eigen::Index j = begin; j < end; ++j) {
        direction.data()[j] = work.data()[j] + next / squared * direction.data()[j];
      }
      return 0.0;
    });
    squared = next;
  }
  return true;
}

}  // namespace covshift
