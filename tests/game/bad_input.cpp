// Invalid games throw an Error that contains the offending value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <limits>

#include "tests/game/support.hpp"

namespace covshift {
namespace {

using ::testing::HasSubstr;

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input) << error.what();
    return error.what();
  }
  return "(no error)";
}

TEST(BadInput, NonFiniteCosts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto with = [](double x) { return [x] { cost_game({2, 3, {0, 1, 1, 1, x, 1}}); }; };
  for (const auto& [bad, text] : {std::pair{nan, "nan"}, {inf, "inf"}, {-inf, "-inf"}}) {
    EXPECT_THAT(message(with(bad)), HasSubstr(text));
    EXPECT_THAT(message(with(bad)), HasSubstr("row 2, column 2"));
  }
}

TEST(BadInput, WrongShapes) {
  EXPECT_THAT(message([] { cost_game({2, 3, {0, 1, 1, 1, 0}}); }), HasSubstr("not 5"));
  EXPECT_THAT(message([] { cost_game({2, 3, {0, 1, 1, 1, 0, 1, 1}}); }), HasSubstr("not 7"));
  EXPECT_THAT(message([] { cost_game({0, 3, {}}); }), HasSubstr("not 0"));
  EXPECT_THAT(message([] { cost_game({-2, 3, {}}); }), HasSubstr("not -2"));
  EXPECT_THAT(message([] { cost_game({2, 1, {0, 1}}); }), HasSubstr("not 1"));
  EXPECT_THAT(message([] { cost_game({2, 0, {}}); }), HasSubstr("not 0"));
}

TEST(BadInput, FewerThanTwoLabels) {
  for (const char* loss : {"log", "zero-one", "absolute", "squared", "hinge", "abstain:0.3",
                           "abstain:0.6", "abstain:1"}) {
    for (const int labels : {1, 0, -1, -100000, INT_MIN}) {
      EXPECT_THAT(message([&] { make_game(loss, labels); }),
                  HasSubstr(fmt::format("not {}", labels)))
          << loss;
    }
  }
}

TEST(BadInput, InvalidCostOfAbstaining) {
  for (const char* cost : {"-0.1", "1.5", "nan", "inf", "-1e-300"}) {
    const std::string text = message([&] { make_game(fmt::format("abstain:{}", cost), 3); });
    EXPECT_THAT(text, HasSubstr(cost));
    EXPECT_THAT(text, HasSubstr("[0, 1]"));
  }
  for (const char* cost : {"x", "", "0.3x", " 0.3", "0,3", "0.3 ", "--1"}) {
    EXPECT_THAT(message([&] { make_game(fmt::format("abstain:{}", cost), 3); }),
                HasSubstr(fmt::format("'abstain:{}'", cost)));
  }
  EXPECT_THAT(message([] { abstain_game(3, std::nextafter(1.0, 2.0)); }),
              HasSubstr("1.0000000000000002"));
}

TEST(BadInput, UnknownLoss) {
  for (const char* loss : {"", "Log", "zero_one", "brier", "abstain", "abstain0.3", "log "}) {
    EXPECT_THAT(message([&] { make_game(loss, 3); }), HasSubstr(fmt::format("'{}'", loss)));
  }
}

TEST(Names, AreThoseGivenToMakeGame) {
  for (const char* loss : {"log", "zero-one", "absolute", "squared", "hinge", "abstain:0",
                           "abstain:0.3", "abstain:0.6", "abstain:1"}) {
    const auto game = make_game(loss, 5);
    EXPECT_EQ(game->name(), loss);
    EXPECT_EQ(game->labels(), 5);
    EXPECT_EQ(game->actions(), std::string(loss).starts_with("abstain") ? 6 : 5) << loss;
  }
}

}  // namespace
}  // namespace covshift
