// Equivalent problems have the same solution.
#include <numeric>

#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;

constexpr double tight = 1e-11;

Solution solve_tight(const Problem& p) { return solve(p, with(Solver::automatic, tight)); }

Data base(const std::string& loss) {
  Data data = make_data(loss, 24, 4, 3, 0.02, Weights::none, 21);
  add_views(data, 2, 1);
  return data;
}

/// Row i of `from`, appended to `to`.
void append_row(const Data& from, std::size_t i, Data& to) {
  to.x.insert(to.x.end(), from.x.begin() + static_cast<std::ptrdiff_t>(i * from.d),
              from.x.begin() + static_cast<std::ptrdiff_t>((i + 1) * from.d));
  to.y.push_back(from.y[i]);
  if (!from.log_w.empty()) to.log_w.push_back(from.log_w[i]);
  for (int v = 0; v < from.scales && !from.log_r.empty(); ++v) {
    to.log_r.push_back(from.log_r[i * from.scales + v]);
  }
  ++to.m;
}

Data empty_like(const Data& from, const std::string& loss) {
  Data data;
  data.d = from.d;
  data.k = from.k;
  data.game = game_of(loss, from.k);
  data.scales = from.scales;
  data.scale_of = from.scale_of;
  data.scale_of_bias = from.scale_of_bias;
  data.lambda = from.lambda;
  data.bias = from.bias;
  return data;
}

void expect_same(const Solution& a, const Solution& b, double lambda, const std::string& what) {
  expect_solved(a, what, tight);
  expect_solved(b, what, tight);
  EXPECT_NEAR(a.objective, b.objective, 3 * tight * std::max(1.0, a.objective)) << what;
  // ||T - T*||^2 <= gap / lambda
  double apart = 0;
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (std::size_t j = 0; j < a.weights.size(); ++j) {
    apart += (a.weights[j] - b.weights[j]) * (a.weights[j] - b.weights[j]);
  }
  EXPECT_LE(std::sqrt(apart), std::sqrt(a.gap / lambda) + std::sqrt(b.gap / lambda) + 1e-9) << what;
}

TEST(Reduction, integer_weights_equal_repeated_rows) {
  for (const std::string& loss : losses()) {
    Data weighted = base(loss);
    Data repeated = empty_like(weighted, loss);
    for (std::size_t i = 0; i < weighted.m; ++i) {
      weighted.weight.push_back(static_cast<double>(i % 4));
      for (std::size_t copy = 0; copy < i % 4; ++copy) append_row(weighted, i, repeated);
    }
    expect_same(solve_tight(weighted.problem()), solve_tight(repeated.problem()), weighted.lambda,
                loss);
    if (loss != "log") continue;
    const SolveOptions newton = with(Solver::newton, tight);
    const Solution a = solve(weighted.problem(), newton);
    expect_same_weights(a.weights, solve(repeated.problem(), newton).weights, 1e-6, loss);
  }
}

TEST(Reduction, common_factor_of_the_weights_does_not_matter) {
  Data data = base("zero-one");
  const Solution plain = solve_tight(data.problem());
  for (const double factor : {1e-300, 0.125, 1e300}) {
    data.weight.assign(data.m, factor);
    expect_same(solve_tight(data.problem()), plain, data.lambda, fmt::format("{}", factor));
  }
}

TEST(Reduction, losses_equivalent_to_zero_one) {
  for (const int k : {2, 3, 5}) {
    Data data = make_data("zero-one", 24, 4, k, 0.02, Weights::shift, 22);
    for (double& w : data.log_w) w /= 5;
    for (double& r : data.log_r) r /= 5;
    const Solution plain = solve_tight(data.problem());
    data.game = make_game("abstain:0.9", k);
    expect_same(solve_tight(data.problem()), plain, data.lambda, "abstain:0.9");
    CostMatrix c{k, k, std::vector<double>(static_cast<std::size_t>(k) * k, 1.0)};
    for (int y = 0; y < k; ++y) c.cost[static_cast<std::size_t>(y) * (k + 1)] = 0;
    data.game = cost_game(c);
    expect_same(solve_tight(data.problem()), plain, data.lambda, "1 - I");
  }
  Data data = make_data("zero-one", 24, 4, 2, 0.02, Weights::none, 23);
  const Solution plain = solve_tight(data.problem());
  for (const std::string loss : {"absolute", "squared"}) {
    data.game = make_game(loss, 2);
    expect_same(solve_tight(data.problem()), plain, data.lambda, loss + " of two classes");
  }
}

TEST(Reduction, other_losses_differ_from_zero_one) {
  Data data = make_data("zero-one", 24, 4, 3, 0.02, Weights::none, 22);
  const double plain = solve_tight(data.problem()).objective;
  for (const std::string loss : {"abstain:0.3", "absolute", "squared", "hinge", "cost"}) {
    data.game = game_of(loss, 3);
    EXPECT_GT(std::abs(solve_tight(data.problem()).objective - plain), 1e-4) << loss;
  }
}

TEST(Reduction, class_order_permutes_the_weights) {
  const std::vector<int> to = {2, 0, 1};
  for (const std::string loss : {"log", "zero-one", "abstain:0.3", "abstain:0.6", "hinge"}) {
    Data data = base(loss);
    const Solution before = solve_tight(data.problem());
    for (int& y : data.y) y = to[y];
    Solution after = solve_tight(data.problem());
    std::vector<double> back(after.weights.size());
    for (std::size_t j = 0; j < data.dims(); ++j) {
      for (std::size_t y = 0; y < 3; ++y) back[j * 3 + y] = after.weights[j * 3 + to[y]];
    }
    after.weights = back;
    expect_same(after, before, data.lambda, loss);
  }
}

TEST(Reduction, row_order_does_not_matter_and_column_order_permutes) {
  for (const std::string& loss : losses()) {
    const Data data = base(loss);
    const Solution before = solve_tight(data.problem());
    Data shuffled = empty_like(data, loss);
    std::vector<std::size_t> order(data.m);
    std::iota(order.begin(), order.end(), 0);
    Random(4).shuffle(std::span(order));
    for (const std::size_t i : order) append_row(data, i, shuffled);
    expect_same(solve_tight(shuffled.problem()), before, data.lambda, loss + " rows");

    Data reversed = base(loss);
    for (std::size_t i = 0; i < data.m; ++i) {
      std::reverse(reversed.x.begin() + static_cast<std::ptrdiff_t>(i * data.d),
                   reversed.x.begin() + static_cast<std::ptrdiff_t>((i + 1) * data.d));
    }
    std::reverse(reversed.scale_of.begin(), reversed.scale_of.end());
    Solution after = solve_tight(reversed.problem());
    std::vector<double> back(after.weights);
    for (std::size_t j = 0; j < data.d; ++j) {
      std::copy_n(&after.weights[j * 3], 3, &back[(data.d - 1 - j) * 3]);
    }
    after.weights = back;
    expect_same(after, before, data.lambda, loss + " columns");
  }
}

TEST(Reduction, scales_multiply_the_features) {
  for (const std::string& loss : losses()) {
    Data data = make_data(loss, 24, 4, 3, 0.02, Weights::none, 24);
    const Solution plain = solve_tight(data.problem());
    data.log_r.assign(data.m, 0);  // all 1
    EXPECT_EQ(solve_tight(data.problem()).weights, plain.weights) << loss;
    data.scales = 3;
    data.scale_of = {2, 0, 1, 1};
    data.scale_of_bias = 2;
    data.log_r.clear();  // several, all 1
    expect_same(solve_tight(data.problem()), plain, data.lambda, loss + " scales left out");

    Data one = make_data(loss, 24, 4, 3, 0.02, Weights::shift, 25);
    for (double& w : one.log_w) w /= 5;
    for (double& r : one.log_r) r /= 5;
    const Solution single = solve_tight(one.problem());
    Data equal = make_data(loss, 24, 4, 3, 0.02, Weights::shift, 25);
    equal.log_w = one.log_w;
    equal.log_r.clear();
    for (const double r : one.log_r) equal.log_r.insert(equal.log_r.end(), 3, r);
    equal.scales = 3;
    equal.scale_of = {2, 0, 1, 1};
    equal.scale_of_bias = 1;
    expect_same(solve_tight(equal.problem()), single, one.lambda, loss + " equal scales");

    // A scale is a factor of the features: multiplied out by hand.
    Data views = base(loss);
    const Solution scaled = solve_tight(views.problem());
    Data by_hand = base(loss);
    by_hand.scales = 1;
    by_hand.scale_of.clear();
    by_hand.scale_of_bias = 0;
    by_hand.log_r.clear();
    by_hand.bias = false;
    by_hand.d = views.d + 1;
    by_hand.x.clear();
    for (std::size_t i = 0; i < views.m; ++i) {
      for (std::size_t j = 0; j <= views.d; ++j) {
        const int v = j < views.d ? views.scale_of[j] : views.scale_of_bias;
        const double value = j < views.d ? views.x[i * views.d + j] : 1;
        by_hand.x.push_back(std::exp(views.log_r[i * 2 + v]) * value);
      }
    }
    expect_same(solve_tight(by_hand.problem()), scaled, views.lambda, loss + " by hand");
  }
}

TEST(Storage, does_not_change_the_solution) {
  for (const std::string& loss : losses()) {
    for (const bool views : {false, true}) {
      Data data = base(loss);
      if (!views) {
        data.scales = 1;
        data.scale_of.clear();
        data.scale_of_bias = 0;
        data.log_r.clear();
      }
      Random random(3);
      for (double& v : data.x) v = random.below(3) == 0 ? 0 : static_cast<float>(v);
      data.weight.assign(data.m, 1);
      if (views) data.weight[5] = 0;  // a row left out
      const std::string what = fmt::format("{} {}", loss, views ? "views" : "plain");
      const std::vector<float> single(data.x.begin(), data.x.end());
      std::vector<double> wide(data.m * 9, std::numeric_limits<double>::quiet_NaN());
      std::vector<float> wide_single(data.m * 9, std::numeric_limits<float>::quiet_NaN());
      for (std::size_t i = 0; i < data.m; ++i) {
        std::copy_n(&data.x[i * data.d], data.d, &wide[i * 9]);
        std::copy_n(&single[i * data.d], data.d, &wide_single[i * 9]);
      }
      const Sparse<double> sparse(data);
      const Sparse<double> split(data, true);
      const Sparse<float> sparse_single(data);
      std::vector<Problem> others(4, data.problem());
      others[0].features = MatrixView::dense(single.data(), data.m, data.d);
      others[1].features.storage = DenseRows<double>{wide.data(), 9};
      others[2].features.storage = DenseRows<float>{wide_single.data(), 9};
      others[3] = sparse.in(data);
      others.push_back(split.in(data));
      others.push_back(sparse_single.in(data));

      const std::vector<double> t = random_weights(data, 0.7, 2);
      const Evaluation at = evaluate(data.problem(), t);
      std::vector<Solver> solvers = {Solver::interior,
                                     loss == "log" ? Solver::newton : Solver::dual_ascent};
      for (const Solver solver : solvers) {
        SolveOptions options = with(solver, solver == Solver::dual_ascent ? 1e-4 : 1e-9);
        options.max_iterations = 300;
        const Solution dense = solve(data.problem(), options);
        for (std::size_t other = 0; other < others.size(); ++other) {
          const Solution same = solve(others[other], options);
          expect_same_optimum(dense, same, what);
          if (solver == Solver::interior) {  // the same steps, not merely the same certificate
            EXPECT_LE(std::abs(same.iterations - dense.iterations), 1) << what << other;
          }
          if (other < 3) {
            EXPECT_NEAR(same.objective, dense.objective, 1e-9) << what << other;
          }
          if (other == 1) {
            EXPECT_EQ(same.weights, dense.weights) << what;
          }
        }
      }
      for (const Problem& other : others) {
        const Evaluation same = evaluate(other, t);
        EXPECT_NEAR(same.objective, at.objective, 1e-12 * at.objective) << what;
        EXPECT_NEAR(same.gap, at.gap, 1e-11 * std::max(1.0, at.gap)) << what;
        for (std::size_t j = 0; j < t.size(); ++j) {
          EXPECT_NEAR(same.gradient[j], at.gradient[j], 1e-12 * std::max(1.0, at.objective))
              << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace covshift
