// What cannot be a problem is an Error that names the place; never a crash, never an answer.
#include <gmock/gmock.h>

#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const double nan = std::numeric_limits<double>::quiet_NaN();
const double inf = std::numeric_limits<double>::infinity();

Data good() { return make_data("zero-one", 10, 3, 3, 0.1); }

TEST(BadInput, the_good_one_is_good) { EXPECT_EQ(message_of(good().problem()), ""); }

TEST(BadInput, features) {
  for (const double bad : {nan, inf, -inf}) {
    Data data = good();
    data.x[4 * 3 + 1] = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("feature 2 of example 5 is"));
    std::vector<float> single(data.x.begin(), data.x.end());
    Problem p = data.problem();
    p.features = MatrixView::dense(single.data(), data.m, data.d);
    EXPECT_THAT(message_of(p), HasSubstr("feature 2 of example 5 is"));
  }
}

TEST(BadInput, sparse_features) {
  const Data data = good();
  std::vector<std::int64_t> offsets = {0, 1, 3, 3, 4, 5, 5, 5, 5, 5, 6};
  std::vector<std::int32_t> columns = {0, 2, 1, 0, 2, 2};
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  Problem p = data.problem();
  p.features.storage = SparseRows<double>{offsets.data(), columns.data(), values.data()};
  EXPECT_EQ(message_of(p), "");
  values[2] = nan;
  EXPECT_THAT(message_of(p), HasSubstr("feature 2 of example 2 is nan"));
  values[2] = -inf;
  EXPECT_THAT(message_of(p), HasSubstr("feature 2 of example 2 is -inf"));
  values[2] = 0;
  columns[3] = 3;
  EXPECT_THAT(message_of(p), HasSubstr("example 4 has an entry in column 4"));
  columns[3] = -1;
  EXPECT_THAT(message_of(p), HasSubstr("example 4 has an entry in column 0"));
  columns[3] = 0;
  offsets[3] = 2;
  EXPECT_THAT(message_of(p), HasSubstr("example 3"));
  offsets[3] = 3;
  offsets[0] = -1;
  EXPECT_THAT(message_of(p), HasSubstr("example 1"));
}

TEST(BadInput, sample_weights) {
  for (const double bad : {-1.0, -1e-300, nan, inf}) {
    Data data = good();
    data.weight.assign(data.m, 1);
    data.weight[3] = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("the weight of example 4 is"));
  }
  Data data = good();
  data.weight.assign(data.m, 0);
  EXPECT_THAT(message_of(data.problem()), HasSubstr("no example has a positive weight"));
  data.weight.pop_back();
  EXPECT_THAT(message_of(data.problem()), HasSubstr("sample weights: 9 numbers for 10 examples"));
}

TEST(BadInput, no_examples) {
  Data data = make_data("log", 0, 3, 3, 0.1);
  EXPECT_THAT(message_of(data.problem()), HasSubstr("no examples"));
}

TEST(BadInput, nothing_to_learn) {
  Data data = make_data("log", 5, 0, 3, 0.1);
  data.bias = false;
  EXPECT_THAT(message_of(data.problem()), HasSubstr("no features and no bias"));
}

TEST(BadInput, no_game) {
  const Data data = good();
  Problem p = data.problem();
  p.game = nullptr;
  EXPECT_THAT(message_of(p), HasSubstr("needs a game"));
}

TEST(BadInput, lambda) {
  for (const double bad : {0.0, -1.0, nan, inf}) {
    Data data = good();
    data.lambda = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("lambda must be a positive number"));
  }
}

TEST(BadInput, labels) {
  for (const int bad : {-1, 3, 1000000}) {
    Data data = good();
    data.y[8] = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr(fmt::format("label {} of example 9", bad)));
  }
  Data data = good();
  data.y.pop_back();
  EXPECT_THAT(message_of(data.problem()), HasSubstr("9 labels for 10 examples"));
}

TEST(BadInput, log_weights_and_scales) {
  for (const double bad : {nan, inf, -inf}) {
    Data data = good();
    data.log_w.assign(data.m, 0);
    data.log_w[2] = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("the log weight of example 3 is"));
    data = good();
    data.scales = 2;
    data.log_r.assign(2 * data.m, 0);
    data.log_r[2 * 6 + 1] = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("log scale 2 of example 7 is"));
  }
  Data data = good();
  data.log_w.assign(data.m + 1, 0);
  EXPECT_THAT(message_of(data.problem()), HasSubstr("log weights: 11 numbers for 10 examples"));
  data = good();
  data.scales = 2;
  data.log_r.assign(data.m, 0);
  EXPECT_THAT(message_of(data.problem()), HasSubstr("10 numbers for 10 examples of 2 scales"));
  data = good();
  data.scales = 0;
  EXPECT_THAT(message_of(data.problem()), HasSubstr("at least one scale"));
}

TEST(BadInput, scale_indices) {
  for (const int bad : {-1, 2}) {
    Data data = good();
    data.scales = 2;
    data.scale_of = {0, bad, 1};
    EXPECT_THAT(message_of(data.problem()), HasSubstr("has a scale outside 0..1"));
    data.scale_of = {0, 0, 1};
    data.scale_of_bias = bad;
    EXPECT_THAT(message_of(data.problem()), HasSubstr("has a scale outside 0..1"));
  }
  Data data = good();
  data.scale_of = {0, 0};
  EXPECT_THAT(message_of(data.problem()), HasSubstr("scale_of_column has 2 numbers for 3 columns"));
}

TEST(BadInput, options) {
  const Data data = good();
  for (const double bad : {0.0, -1e-6, nan}) {
    EXPECT_THAT(message_of(data.problem(), with(Solver::automatic, bad)), HasSubstr("tolerance"));
  }
  EXPECT_THAT(message_of(data.problem(), with(Solver::newton)), HasSubstr("does not fit"));
  const Data log = make_data("log", 10, 3, 3, 0.1);
  EXPECT_THAT(message_of(log.problem(), with(Solver::dual_ascent)), HasSubstr("does not fit"));
  SolveOptions options;
  std::vector<double> start(data.parameters() + 1, 0.0);
  options.start = start;
  EXPECT_THAT(message_of(data.problem(), options), HasSubstr("13 weights, but the problem has 12"));
  start.pop_back();
  start[7] = nan;
  options.start = start;
  EXPECT_THAT(message_of(data.problem(), options), HasSubstr("feature 3 and class 1 is nan"));
  options.start = {};
  std::vector<double> adversary(data.m * 3, 1.0 / 3);
  adversary[5] = 0.5;
  options.start_adversary = adversary;
  EXPECT_THAT(message_of(data.problem(), options),
              HasSubstr("adversary of example 2 is not a probability distribution"));
  adversary.pop_back();
  options.start_adversary = adversary;
  EXPECT_THAT(message_of(data.problem(), options), HasSubstr("the starting adversary has"));
  EXPECT_THROW(evaluate(data.problem(), std::vector<double>(3)), Error);
  EXPECT_THROW(evaluate(data.problem(), start), Error);
}

}  // namespace
}  // namespace covshift
