#include "covshift/lab/simulated_fit.hpp"

namespace covshift {
namespace {

constexpr std::size_t truth_rows = 20000;
constexpr double alpha = 0.1;

GivenDensities given(const SimulatedRows& rows, bool exact) {
  GivenDensities densities;
  if (!exact) return densities;
  densities.log_ratio = rows.log_ratio;
  for (const std::vector<double>& view : rows.view_log_ratio) densities.views.push_back({view, {}});
  return densities;
}

void compare_with_truth(const SimulatedProblem& problem, bool exact, Random& random,
                        SimulatedFit& fit) {
  const SimulatedRows rows = problem.draw(true, truth_rows, random);
  const Predictions found = fit.model.predict(rows.view(), given(rows, exact), 1);
  const std::vector<std::uint8_t> sets = fit.model.sets(found, alpha);
  const auto k = static_cast<std::size_t>(problem.classes());
  std::vector<double> q(k);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    problem.probabilities({rows.x.data() + i * rows.cols, rows.cols}, q);
    for (std::size_t y = 0; y < k; ++y) {
      const double loss =
          fit.model.game().loss_at({found.psi.data() + i * k, k}, static_cast<int>(y));
      fit.truth += q[y] * loss / truth_rows;
      fit.covered += q[y] * sets[i * k + y] / truth_rows;
      fit.set_size += static_cast<double>(sets[i * k + y]) / truth_rows;
    }
  }
}

}  // namespace

SimulatedFit fit_simulated(const SimulatedProblem& problem, std::uint64_t seed,
                           const std::string& method, bool exact, const Fitter& fit_to) {
  Random random(seed);
  const SimulatedRows train = problem.draw(false, problem.train_rows(), random);
  const SimulatedRows target = problem.draw(true, problem.target_rows(), random);
  const MatrixView target_rows = target.view();
  TrainingData data;
  data.features = train.view();
  data.labels = train.y;
  data.classes = problem.classes();
  data.target = &target_rows;
  data.views = problem.views();
  data.given_train = given(train, exact);
  data.given_target = given(target, exact);
  FitOptions options;
  options.method = method;
  options.shift.given_ratio = exact;
  options.solve.threads = 1;
  SimulatedFit fit{fit_to(data, options)};
  compare_with_truth(problem, exact, random, fit);
  return fit;
}

}  // namespace covshift
