// Log loss where exponentials overflow, underflow or are absorbed by rounding.
#include <gtest/gtest.h>

#include <limits>

#include "tests/game/support.hpp"

namespace covshift {
namespace {

using namespace covshift::testing;

TEST(LogLoss, IsFiniteForExtremePotentials) {
  const auto game = log_game(4);
  for (const double x : {1e300, 700.0, 710.0, 745.0, 1e-300, 0.0}) {
    for (const std::vector<double>& psi : {std::vector<double>{x, -x, 0, 1},
                                           {-x, -x, -x, -x},
                                           {x, x, x, x},
                                           {x, x, -x, -x},
                                           {-x, -x, -x, x}}) {
      const Moves m = moves(*game, psi);
      ASSERT_TRUE(std::isfinite(m.value)) << fmt::format("{}", psi);
      for (const auto& d : {m.p, m.q}) {
        EXPECT_NEAR(std::accumulate(d.begin(), d.end(), 0.0), 1, 1e-15) << fmt::format("{}", psi);
        for (const double v : d) EXPECT_TRUE(v >= 0 && v <= 1) << fmt::format("{} of {}", d, psi);
      }
      EXPECT_TRUE(std::isfinite(game->bayes_risk(m.q, 0)));
    }
  }
}

TEST(LogLoss, IsAccurateForSmallLosses) {
  // V - psi_top = log1p(e^-50): lost entirely by log(sum of exponentials).
  const double rest = std::exp(-50.0);
  EXPECT_NEAR(value_of(*log_game(2), {0, -50}) / rest, 1, 1e-15);
  EXPECT_NEAR(value_of(*log_game(3), {-50, 0, -50}) / (2 * rest), 1, 1e-15);
  EXPECT_EQ(value_of(*log_game(2), {-700, 0}), std::exp(-700.0));
}

TEST(LogLoss, EqualPotentialsGiveUniformPlayers) {
  for (const int k : {2, 3, 100}) {
    const Moves m = moves(*log_game(k), std::vector<double>(k, 5.0));
    EXPECT_NEAR(m.value, 5 + std::log(static_cast<double>(k)), 1e-14);
    for (const double p : m.p) EXPECT_NEAR(p, 1.0 / k, 1e-16);
    EXPECT_EQ(m.p, m.q);
  }
}

TEST(LogLoss, EntropyAndLoss) {
  const auto game = log_game(2);
  EXPECT_NEAR(game->bayes_risk(std::vector<double>{0.5, 0.5}, 0), std::log(2.0), 1e-16);
  EXPECT_EQ(game->bayes_risk(std::vector<double>{1, 0}, 0), 0);
  const std::vector<double> psi{0, std::log(3.0)};
  const std::vector<double> p{0.25, 0.75};
  EXPECT_NEAR(game->loss(psi, p, 0), std::log(4.0), 1e-15);
  EXPECT_NEAR(game->log_loss(psi, p, 1), std::log(4.0 / 3), 1e-15);
  // Finite where the probability underflows.
  EXPECT_NEAR(game->log_loss(std::vector<double>{0, 1000}, std::vector<double>{0, 1}, 0), 1000,
              1e-9);
  EXPECT_TRUE(game->smooth());
  EXPECT_EQ(game->costs(), nullptr);
}

}  // namespace
}  // namespace covshift
