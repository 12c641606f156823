// Trains a three-class problem under zero-one loss through the installed library and checks its
// certificate: exit 0 only if the solver converged and the gap proves it.
#include <covshift/base/random.hpp>
#include <covshift/learn/solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

int main() {
  try {
    constexpr int rows = 150;
    constexpr int columns = 4;
    constexpr int classes = 3;
    covshift::Random random(7);
    std::vector<double> x;
    std::vector<int> y;
    for (int i = 0; i < rows; ++i) {
      y.push_back(i % classes);
      for (int j = 0; j < columns; ++j) x.push_back(random.normal() + (j == y.back() ? 2 : 0));
    }

    const auto game = covshift::make_game("zero-one", classes);
    covshift::Problem problem;
    problem.game = game.get();
    problem.features = covshift::MatrixView::dense(x.data(), rows, columns);
    problem.labels = y;
    problem.lambda = 0.01;
    covshift::SolveOptions options;
    options.tolerance = 1e-6;
    const covshift::Solution solution = covshift::solve(problem, options);

    std::printf("status %s, objective %.9f, dual %.9f, gap %.2e, %d iterations\n",
                std::string(covshift::to_string(solution.status)).c_str(), solution.objective,
                solution.dual, solution.gap, solution.iterations);
    const double allowed = options.tolerance * std::max(1.0, std::abs(solution.objective));
    // Weights 0 give 2/3, the loss of guessing; separated classes must do better.
    const bool good = solution.status == covshift::Status::converged && solution.gap >= 0 &&
                      solution.gap <= allowed && solution.dual <= solution.objective &&
                      solution.objective < 0.6 &&
                      solution.weights.size() == std::size_t{columns + 1} * classes;
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
