// Density ratios and training problems of a few rows, with numbers of any size.
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "covshift/learn/solve.hpp"
#include "covshift/ratio/ratio.hpp"
#include "fuzz/targets.hpp"

namespace covshift::fuzz {
namespace {

std::vector<double> several(Numbers& from, std::size_t count) {
  std::vector<double> x(count);
  for (double& v : x) v = from.number();
  return x;
}

/// The matrix as compressed sparse rows, zeros left out.
struct Sparse {
  Sparse(const std::vector<double>& x, std::size_t rows, std::size_t cols) {
    offsets.push_back(0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) {
        if (x[i * cols + j] == 0) continue;
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(x[i * cols + j]);
      }
      offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
    view = {rows, cols, SparseRows<double>{offsets.data(), columns.data(), values.data()}};
  }
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  MatrixView view;
};

struct SmallProblem {
  /// Unless `long_run`, few iterations and no norm as penalty, which takes a problem for each step.
  SmallProblem(Numbers& from, bool long_run)
      : m(static_cast<std::size_t>(from.from(1, 6))),
        d(static_cast<std::size_t>(from.from(1, 3))),
        k(from.from(2, 4)) {
    constexpr std::string_view losses[] = {"log",         "zero-one", "absolute", "squared",
                                           "abstain:0.3", "hinge",    "log"};
    game = make_game(std::string(losses[static_cast<std::size_t>(from.from(0, 6))]), k);
    const unsigned flags = from.byte();
    problem.lambda = std::pow(2.0, -from.from(0, 20));
    problem.bias = flags % 2 == 0;
    problem.penalty = long_run && flags % 8 == 7 ? Penalty::norm : Penalty::squared;
    options.tolerance = 1e-6;
    if (!long_run) options.max_iterations = 30;
    options.threads = 1;
    x = several(from, m * d);
    for (std::size_t i = 0; i < m; ++i) y.push_back(from.from(0, k - 1));
    if ((flags & 16U) != 0) log_weight = several(from, m);
    if ((flags & 32U) != 0) log_scale = several(from, m);
    if ((flags & 64U) != 0) {
      for (std::size_t i = 0; i < m; ++i) weight.push_back(from.from(0, 5));
    }
    problem.game = game.get();
    problem.features = MatrixView::dense(x.data(), m, d);
    problem.labels = y;
    problem.log_weight = log_weight;
    problem.log_scale = log_scale;
    problem.sample_weight = weight;
  }

  std::size_t m, d;
  int k;
  std::unique_ptr<Game> game;
  std::vector<double> x, log_weight, log_scale, weight;
  std::vector<int> y;
  Problem problem;
  SolveOptions options;
};

bool finite(std::span<const double> x) {
  for (const double v : x) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

void check_solution(const Solution& s) {
  ensure(finite(s.weights), "a weight is not finite, {}", to_string(s.status));
  if (s.status == Status::non_finite) return;
  ensure(std::isfinite(s.objective) && std::isfinite(s.gap), "objective {}, gap {}", s.objective,
         s.gap);
  ensure(s.gap >= 0, "gap {}", s.gap);
  if (s.status == Status::converged) {
    ensure(s.gap <= 1e-6 * std::max(1.0, std::abs(s.objective)) * (1 + 1e-9), "converged, gap {}",
           s.gap);
  }
}

}  // namespace

void ratio(std::string_view bytes) {
  Numbers from(bytes);
  constexpr RatioMethod methods[] = {RatioMethod::logistic, RatioMethod::gaussian,
                                     RatioMethod::ulsif,    RatioMethod::rulsif,
                                     RatioMethod::kliep,    RatioMethod::kmm};
  RatioOptions options;
  options.method = methods[static_cast<std::size_t>(from.from(0, 5))];
  const int choice = from.from(0, 15);
  if (choice != 0) {  // the search for it takes most of the time
    options.lambda = {RatioLambda::Rule::value, std::pow(2.0, -choice)};
    options.kernel_width = 0.5 * choice;
    options.kernel_lambda = std::pow(2.0, -choice);
  }
  options.threads = 1;
  options.folds = 2;
  const auto n = static_cast<std::size_t>(from.from(1, 5));
  const auto m = static_cast<std::size_t>(from.from(1, 5));
  const auto d = static_cast<std::size_t>(from.from(1, 3));
  const std::vector<double> train = several(from, n * d);
  const std::vector<double> target = several(from, m * d);
  const MatrixView rows = MatrixView::dense(target.data(), m, d);
  std::unique_ptr<DensityRatio> fitted;
  std::vector<double> answer;
  const std::string refused = refusal([&] {
    fitted = fit_ratio(options, MatrixView::dense(train.data(), n, d), rows);
    answer = fitted->log_ratio(rows, 1);
  });
  if (!refused.empty()) return;
  ensure(finite(answer), "a log ratio is not finite");
  ensure(ratio_from_json(fitted->to_json())->log_ratio(rows, 1) == answer,
         "a ratio changes when stored");
}

void solve(std::string_view bytes) {
  Numbers from(bytes);
  const std::uint32_t h = hash(bytes);
  const SmallProblem small(from, h % 16 == 0);
  Solution dense;
  if (!refusal([&] { dense = covshift::solve(small.problem, small.options); }).empty()) return;
  check_solution(dense);
  if (h % 16 == 1) {
    const Sparse rows(small.x, small.m, small.d);
    Problem problem = small.problem;
    problem.features = rows.view;
    const Solution sparse = covshift::solve(problem, small.options);
    check_solution(sparse);
    if (sparse.status == Status::converged && dense.status == Status::converged) {
      const double apart = std::abs(sparse.objective - dense.objective);
      ensure(apart <= sparse.gap + dense.gap + 1e-9 * std::max(1.0, std::abs(dense.objective)),
             "sparse {}, dense {}", sparse.objective, dense.objective);
    }
  }
  if (h % 1024 == 2) {
    SolveOptions options = small.options;
    options.threads = 2;
    const Solution again = covshift::solve(small.problem, options);
    ensure(again.weights == dense.weights && again.status == dense.status,
           "the solution depends on the number of threads");
  }
}

}  // namespace covshift::fuzz
