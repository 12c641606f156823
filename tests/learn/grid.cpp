// Problems of the paper's size, all of them solved; and data that is hard.
#include <cctype>
#include <functional>

#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;

class Grid : public ::testing::TestWithParam<std::string> {};

TEST_P(Grid, converges) {
  std::uint64_t seed = 1;
  int worst = 0;
  for (const int d : {6, 18, 57}) {
    for (const int k : {2, 3, 4}) {
      for (const int power : {-16, -12, -8, -4, 0}) {
        if (sanitized && (d != 18 || power != -8)) continue;
        for (const Weights weights : {Weights::none, Weights::w_only, Weights::shift}) {
          const Data data = make_data(GetParam(), 100, d, k, std::pow(2.0, power), weights, seed++);
          const Solution s = solve(data.problem());
          expect_solved(s, fmt::format("{} d={} k={} lambda=2^{} weights {}", GetParam(), d, k,
                                       power, static_cast<int>(weights)));
          worst = std::max(worst, s.iterations);
        }
      }
    }
  }
  EXPECT_LE(worst, 50) << "the number of steps hardly depends on the problem";
}

INSTANTIATE_TEST_SUITE_P(Losses, Grid, ::testing::ValuesIn(losses()), [](const auto& loss) {
  std::string name = loss.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(Grid, log_loss_by_newton) {
  for (const int d : {6, 57}) {
    for (const int k : {2, 4}) {
      for (const int power : {-16, -8, 0}) {
        for (const Weights weights : {Weights::none, Weights::w_only}) {
          const Data data = make_data("log", 100, d, k, std::pow(2.0, power), weights, 3);
          expect_solved(solve(data.problem(), with(Solver::newton)),
                        fmt::format("newton d={} k={} lambda=2^{}", d, k, power));
        }
      }
    }
  }
}

/// Every loss, a small and a large lambda, without and with shift.
void expect_all_solved(const std::string& what, std::size_t m, std::size_t d, int k,
                       const std::function<void(Data&)>& change, double smallest = 0x1p-16) {
  for (const std::string& loss : losses()) {
    for (const double lambda : {smallest, 1e-2, 1.0}) {
      for (const Weights weights : {Weights::none, Weights::shift}) {
        const bool slow = loss == "cost" || loss == "abstain:0.6";
        if (slow && lambda == 1) continue;  // linear programs: what is hard is a small lambda
        Data data = make_data(loss, m, d, k, lambda, weights, 17);
        change(data);
        const Solution s = solve(data.problem());
        expect_solved(s, fmt::format("{}: {} lambda={} weights {}", what, loss, lambda,
                                     static_cast<int>(weights)));
        ASSERT_EQ(s.weights.size(), data.parameters());
      }
    }
  }
}

TEST(Hard, separable) {
  expect_all_solved("separable", 30, 3, 3, [](Data& s) {
    for (std::size_t i = 0; i < s.m; ++i) s.x[i * s.d + s.y[i]] += 20;
  });
}
TEST(Hard, duplicated_rows) {
  expect_all_solved("duplicates", 40, 4, 3, [](Data& s) {
    for (std::size_t i = 4; i < s.m; ++i) {
      std::copy_n(&s.x[i % 4 * s.d], s.d, &s.x[i * s.d]);
    }
  });
}
TEST(Hard, constant_features) {
  expect_all_solved("constant", 30, 4, 3, [](Data& s) {
    for (std::size_t i = 0; i < s.m; ++i) s.x[i * s.d] = s.x[i * s.d + 1] = 1;
  });
}
TEST(Hard, a_dominant_feature) {
  expect_all_solved("dominant", 30, 4, 3, [](Data& s) {
    for (std::size_t i = 0; i < s.m; ++i) s.x[i * s.d + 2] *= 1e4;
  });
}
TEST(Hard, a_class_that_never_occurs) {
  expect_all_solved("absent class", 30, 4, 4, [](Data& s) {
    for (int& y : s.y) y = y == 1 ? 2 : y;
  });
}
TEST(Hard, only_one_class_occurs) {
  expect_all_solved("one class", 20, 4, 3, [](Data& s) { s.y.assign(s.m, 1); });
}
TEST(Hard, features_all_zero) {
  expect_all_solved("zero", 20, 3, 3, [](Data& s) { s.x.assign(s.x.size(), 0.0); });
  expect_all_solved("zero without bias", 20, 3, 3, [](Data& s) {
    s.x.assign(s.x.size(), 0.0);
    s.bias = false;
  });
}
TEST(Hard, more_features_than_examples) {
  expect_all_solved("m < d", 8, 25, 3, [](Data&) {});
}
TEST(Hard, one_feature) {
  expect_all_solved("one feature", 30, 1, 3, [](Data&) {});
}
TEST(Hard, no_feature_but_the_bias) {
  expect_all_solved("bias only", 30, 0, 3, [](Data&) {});
}
TEST(Hard, few_examples) {
  for (const std::size_t m : {1, 2, 3}) {
    expect_all_solved("m of 1 to 3", m, 4, 3, [](Data&) {});
  }
}
TEST(Hard, many_classes) {
  for (const int k : {6, 10}) expect_all_solved("many classes", 40, 4, k, [](Data&) {});
}
TEST(Hard, features_of_many_magnitudes) {
  expect_all_solved("magnitudes", 30, 5, 3, [](Data& s) {
    for (std::size_t i = 0; i < s.m; ++i) {
      for (std::size_t j = 0; j < s.d; ++j) {
        s.x[i * s.d + j] *= std::pow(10.0, 2.0 * static_cast<double>(j) - 6);
      }
    }
  });
}
TEST(Hard, tiny_and_huge_lambda) {
  expect_all_solved(
      "lambda 1e-9", 30, 4, 3, [](Data&) {}, 1e-9);
  expect_all_solved("lambda 1e6", 30, 4, 3, [](Data& s) { s.lambda *= 1e6; });
}

TEST(Hard, scales_beyond_exp) {
  for (const std::string& loss : losses()) {
    for (const double log_r : {600.0, -600.0, 1e4}) {
      Data data = make_data(loss, 20, 3, 3, 0.01);
      data.log_w.assign(data.m, 0);
      data.log_r.assign(data.m, 0);
      data.log_r[4] = log_r;  // w r = 1
      data.log_w[4] = -log_r;
      const Solution s = solve(data.problem());
      expect_solved(s, fmt::format("{} log r = {}", loss, log_r));
      // The limit of V(r x)/r: the largest potential; the same as a merely large scale.
      if (log_r > 0) {
        data.log_r[4] = 60;
        data.log_w[4] = -60;
        expect_same_optimum(solve(data.problem()), s, loss);
      }
    }
  }
}

TEST(Hard, an_example_far_outside_still_counts) {
  // r = 0 for all purposes: nothing to learn from it, but its share of the loss, w V(0), remains.
  for (const std::string& loss : losses()) {
    Data data = make_data(loss, 10, 3, 3, 0.01);
    data.log_r.assign(data.m, 0);
    data.log_r[2] = -1000;
    const Solution s = solve(data.problem());
    expect_solved(s, loss);
    EXPECT_NEAR(s.objective, static_cast<double>(naive(data, s.weights).objective), 1e-9) << loss;
  }
}

TEST(Hard, all_weights_vanish) {
  for (const std::string& loss : losses()) {
    for (const Solver solver : {Solver::interior, Solver::newton, Solver::dual_ascent}) {
      if ((solver == Solver::newton) != (loss == "log") && solver != Solver::interior) continue;
      Data data = make_data(loss, 10, 3, 3, 0.01);
      data.log_w.assign(data.m, -1000);
      const Solution s = solve(data.problem(), with(solver));
      expect_solved(s, loss);
      EXPECT_EQ(s.weights, std::vector<double>(data.parameters(), 0.0)) << loss;
    }
  }
}

TEST(Hard, weights_beyond_numbers_are_an_error) {
  Data data = make_data("log", 10, 3, 3, 0.01);
  data.log_w.assign(data.m, 0);
  data.log_r.assign(data.m, 0);
  data.log_w[6] = 400;
  data.log_r[6] = 300;
  EXPECT_NE(message_of(data.problem()).find("example 7: log weight + log scale = 700"),
            std::string::npos)
      << message_of(data.problem());
  data.log_w[6] = 1000;
  data.log_r[6] = -1000;
  EXPECT_NE(message_of(data.problem()).find("example 7: log weight = 1000"), std::string::npos)
      << message_of(data.problem());
  data.log_w[6] = 0;
  data.log_r[6] = 0;
  data.weight.assign(data.m, 1e308);
  EXPECT_NE(message_of(data.problem()).find("the sum of the sample weights overflows a double"),
            std::string::npos)
      << message_of(data.problem());
}

}  // namespace
}  // namespace covshift
