// Learns logistic regression from a few rows: exit 0 only if the gap proves that it is the best.
#include <covshift/covshift.hpp>

#include <cstdio>
#include <exception>
#include <vector>

int main() {
  try {
    const std::vector<double> x = {-2, -1, 0.5, 1, 2, -0.5};
    const std::vector<int> y = {0, 0, 0, 1, 1, 1};
    const auto game = covshift::make_game("log", 2);
    covshift::Problem problem;
    problem.game = game.get();
    problem.features = covshift::MatrixView::dense(x.data(), x.size(), 1);
    problem.labels = y;
    problem.lambda = 0.1;
    const covshift::Solution solution = covshift::solve(problem, {});
    std::printf("objective %.6f, gap %.1e\n", solution.objective, solution.gap);
    return solution.status == covshift::Status::converged ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
