// All kernels that this processor supports, against plain implementations.
#include "covshift/kernel/kernels.hpp"

#include "covshift/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "covshift/base/random.hpp"
#include "covshift/game/game.hpp"

namespace covshift {
namespace {

class Kernel : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernel = *GetParam();
  Random random{7};

  std::vector<double> numbers(std::size_t n, double scale = 1) {
    std::vector<double> x(n);
    for (double& v : x) v = scale * random.normal();
    return x;
  }
};

TEST_P(Kernel, DenseProductsAreTheirSums) {
  for (const std::size_t columns : {1U, 7U, 8U, 9U, 50U, 133U}) {
    for (const std::size_t labels : {1U, 2U, 3U, 4U, 5U, 11U}) {
      for (const std::size_t rows : {1U, 3U, 4U, 63U, 64U}) {
        const std::size_t pitch = padded(columns);
        // The padding of a row is the next row, which must be ignored.
        const std::vector<double> z = numbers((rows - 1) * columns + pitch);
        std::vector<double> t(labels * pitch);
        for (std::size_t y = 0; y < labels; ++y) {
          for (std::size_t j = 0; j < columns; ++j) t[y * pitch + j] = random.normal();
        }
        const DenseBlock block{z.data(), columns, rows, columns};
        std::vector<double> psi(labels * block_rows);
        kernel.times(block, t.data(), labels, psi.data());
        std::vector<double> sum(labels * pitch, 0.25);
        kernel.times_transposed(block, psi.data(), labels, sum.data());
        for (std::size_t y = 0; y < labels; ++y) {
          for (std::size_t b = 0; b < rows; ++b) {
            double expected = 0;
            for (std::size_t j = 0; j < columns; ++j) {
              expected += z[b * columns + j] * t[y * pitch + j];
            }
            ASSERT_NEAR(psi[y * block_rows + b], expected, 1e-12) << columns << ' ' << labels;
          }
          for (std::size_t j = 0; j < columns; ++j) {
            double expected = 0.25;
            for (std::size_t b = 0; b < rows; ++b) {
              expected += psi[y * block_rows + b] * z[b * columns + j];
            }
            ASSERT_NEAR(sum[y * pitch + j], expected, 1e-10) << columns << ' ' << labels;
          }
        }
      }
    }
  }
}

TEST_P(Kernel, WidensFloatsExactly) {
  for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 50U}) {
    std::vector<float> from(n + 1);  // from anywhere in memory
    for (float& x : from) x = static_cast<float>(random.normal());
    std::vector<double> to(n + 1, 7.0);
    kernel.widen(from.data() + 1, n, to.data());
    for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(to[j], static_cast<double>(from[j + 1])) << n;
    EXPECT_EQ(to[n], 7.0);
  }
}

TEST_P(Kernel, ProductsOfARowDoNotDependOnOtherRows) {
  constexpr std::size_t columns = 21;
  const std::vector<double> z = numbers(block_rows * columns + 8);
  std::vector<double> t = numbers(3 * padded(columns));
  for (std::size_t y = 0; y < 3; ++y) {
    std::fill(t.begin() + static_cast<long>(y * padded(columns) + columns),
              t.begin() + static_cast<long>((y + 1) * padded(columns)), 0.0);
  }
  std::vector<double> all(3 * block_rows);
  kernel.times({z.data(), columns, block_rows, columns}, t.data(), 3, all.data());
  for (std::size_t b = 0; b < block_rows; ++b) {
    std::vector<double> one(3 * block_rows);
    kernel.times({z.data() + b * columns, columns, 1, columns}, t.data(), 3, one.data());
    for (std::size_t y = 0; y < 3; ++y) ASSERT_EQ(one[y * block_rows], all[y * block_rows + b]);
  }
}

TEST_P(Kernel, SparseProductsAreTheirSums) {
  constexpr std::size_t columns = 40;
  for (const std::size_t labels : {1U, 2U, 3U, 4U, 5U, 8U, 19U, 40U}) {
    for (const std::size_t entries : {0U, 1U, 2U, 5U, 12U}) {
      const std::size_t pitch = sparse_pitch(labels);
      const std::vector<double> t = numbers(columns * pitch);
      const std::vector<double> values = numbers(entries);
      std::vector<std::int32_t> places(entries);
      for (auto& place : places) place = static_cast<std::int32_t>(random.below(columns));
      const SparseRow row{places.data(), values.data(), entries};
      std::vector<double> psi(labels * block_rows, 9.0);
      kernel.sparse_times(row, t.data(), labels, psi.data());
      std::vector<double> sum(columns * pitch);
      kernel.sparse_times_transposed(row, psi.data(), labels, sum.data());
      std::vector<double> expected(columns * labels);
      for (std::size_t y = 0; y < labels; ++y) {
        double dot = 0;
        for (std::size_t e = 0; e < entries; ++e) dot += values[e] * t[places[e] * pitch + y];
        ASSERT_NEAR(psi[y * block_rows], dot, 1e-13) << labels << ' ' << entries;
        for (std::size_t e = 0; e < entries; ++e) {
          expected[places[e] * labels + y] += values[e] * psi[y * block_rows];
        }
      }
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t y = 0; y < labels; ++y) {
          ASSERT_NEAR(sum[j * pitch + y], expected[j * labels + y], 1e-12) << labels;
        }
      }
    }
  }
}

TEST_P(Kernel, LogGameIsAccurate) {
  for (const std::size_t labels : {2U, 3U, 5U, 30U}) {
    for (const double scale : {1e-9, 1e-3, 1.0, 30.0, 700.0, 1e5}) {
      std::vector<double> psi = numbers(labels * block_rows, scale);
      for (std::size_t b = 0; b < 8; ++b) psi[b] = psi[block_rows + b];  // ties
      std::vector<double> value(block_rows);
      std::vector<double> q(labels * block_rows);
      kernel.log_game(block_rows, labels, psi.data(), value.data(), q.data());
      for (std::size_t b = 0; b < block_rows; ++b) {
        // Differences are rounded as in the kernel.
        double top = psi[b];
        for (std::size_t y = 0; y < labels; ++y) top = std::max(top, psi[y * block_rows + b]);
        long double sum = 0;
        for (std::size_t y = 0; y < labels; ++y) {
          sum += expl(static_cast<long double>(psi[y * block_rows + b] - top));
        }
        const long double rest = logl(sum);
        const auto error = static_cast<double>(value[b] - (top + rest));
        ASSERT_LE(std::abs(error), 4e-16 * (std::abs(top) + static_cast<double>(rest)) + 1e-300);
        for (std::size_t y = 0; y < labels; ++y) {
          const auto expected = static_cast<double>(
              expl(static_cast<long double>(psi[y * block_rows + b] - top)) / sum);
          ASSERT_NEAR(q[y * block_rows + b], expected, 2e-15 * expected + 1e-300);
        }
      }
    }
  }
}

// Potentials relative to the true label, which is the largest: the value is the loss.
TEST_P(Kernel, SmallLogLossesAreAccurate) {
  std::vector<double> psi(2 * block_rows);
  std::vector<double> value(block_rows);
  std::vector<double> q(2 * block_rows);
  for (std::size_t b = 0; b < block_rows; ++b)
    psi[block_rows + b] = -11.0 * (static_cast<double>(b) + 0.3);
  kernel.log_game(block_rows, 2, psi.data(), value.data(), q.data());
  for (std::size_t b = 0; b < block_rows; ++b) {
    const double expected = std::log1p(std::exp(psi[block_rows + b]));
    ASSERT_NEAR(value[b], expected, 1e-15 * expected) << psi[block_rows + b];
  }
}

TEST_P(Kernel, ZeroOneGameAgreesWithTheScalarOne) {
  for (const int labels : {2, 3, 5, 17}) {
    const auto k = static_cast<std::size_t>(labels);
    const auto game = zero_one_game(labels);
    for (const double scale : {1e-8, 0.3, 1.0, 50.0}) {
      std::vector<double> psi = numbers(k * block_rows, scale);
      for (std::size_t b = 0; b < 8; ++b) psi[b] = psi[block_rows + b];         // ties
      for (std::size_t b = 8; b < 12; ++b) psi[b] = psi[block_rows + b] + 1.0;  // on the border
      std::vector<double> value(block_rows);
      std::vector<double> q(k * block_rows);
      kernel.zero_one_game(block_rows, k, psi.data(), value.data(), q.data());
      for (std::size_t b = 0; b < block_rows; ++b) {
        std::vector<double> row(k);
        std::vector<double> answer(k);
        for (std::size_t y = 0; y < k; ++y) row[y] = psi[y * block_rows + b];
        double expected = 0;
        game->play(1, row.data(), nullptr, &expected, answer.data());
        ASSERT_NEAR(value[b], expected, 1e-14 * (1 + std::abs(expected)));
        // With ties several answers are correct: any distribution that attains the value.
        double sum = 0;
        double pays = 0;
        for (std::size_t y = 0; y < k; ++y) {
          answer[y] = q[y * block_rows + b];
          ASSERT_GE(answer[y], 0);
          sum += answer[y];
          pays += answer[y] * row[y];
        }
        ASSERT_NEAR(sum, 1, 1e-14);
        ASSERT_NEAR(pays + game->bayes_risk(answer, 0), expected, 1e-13 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST_P(Kernel, AddBiasFromTruthAndSettleAreTheirFormulas) {
  for (const std::size_t labels : {2U, 3U, 5U, 20U}) {
    for (const std::size_t rows : {1U, 7U, 8U, 63U, 64U}) {
      const std::vector<double> given = numbers(labels * block_rows);
      const std::vector<double> answer = numbers(labels * block_rows);
      const std::vector<double> a = numbers(rows);  // not padded
      std::vector<double> left = numbers(block_rows);
      const std::vector<double> before = left;
      std::vector<int> label(rows);
      for (int& y : label) y = static_cast<int>(random.below(labels));
      std::vector<double> psi = given;
      std::vector<double> q = answer;
      const std::vector<double> bias = numbers(labels);
      kernel.add_bias(rows, labels, bias.data(), psi.data());
      for (std::size_t y = 0; y < labels; ++y) {
        for (std::size_t b = 0; b < rows; ++b) {
          const std::size_t at = y * block_rows + b;
          ASSERT_EQ(psi[at], given[at] + bias[y]) << labels << ' ' << rows;
        }
      }
      psi = given;
      kernel.from_truth(rows, labels, label.data(), psi.data());
      kernel.settle(rows, labels, label.data(), a.data(), psi.data(), left.data(), q.data());
      for (std::size_t b = 0; b < rows; ++b) {
        double expected = before[b];
        for (std::size_t y = 0; y < labels; ++y) {
          const std::size_t at = y * block_rows + b;
          const auto own = static_cast<std::size_t>(label[b]);
          ASSERT_EQ(psi[at], given[at] - given[own * block_rows + b]) << labels << ' ' << rows;
          expected -= psi[at] * answer[at];
          ASSERT_NEAR(q[at], a[b] * ((own == y ? 1 : 0) - answer[at]), 1e-14);
        }
        ASSERT_NEAR(left[b], expected, 1e-12);
      }
    }
  }
}

TEST_P(Kernel, WeighIsItsFormula) {
  for (const std::size_t rows : {1U, 7U, 64U}) {
    const std::size_t columns = 5;
    const std::vector<double> weight = numbers(block_rows);
    const std::vector<double> from = numbers(columns * block_rows);
    std::vector<double> to(columns * block_rows);
    kernel.weigh(rows, columns, weight.data(), from.data(), to.data());
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t b = 0; b < rows; ++b) {
        ASSERT_EQ(to[j * block_rows + b], weight[b] * from[j * block_rows + b]) << rows;
      }
    }
  }
}

TEST_P(Kernel, SinesAreAccurate) {
  std::vector<double> x = {
      0, -0.0, 1e-300, 1.5707963267948966, -1.5707963267948968, 3.14159265358979};
  while (x.size() < 4000) x.push_back(random.uniform(-40, 40));
  while (x.size() < 8000) x.push_back(random.uniform(-sine_limit, sine_limit));
  std::vector<double> found = x;
  kernel.sines(found.size(), found.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(found[i], std::sin(x[i]), 4e-16) << x[i];
  }
}

TEST_P(Kernel, SumsOfColumnsAreWeighted) {
  for (const std::size_t n : {1U, 7U, 8U, 30U, 32U, 75U}) {
    for (const std::size_t columns : {1U, 4U, 6U, 9U}) {
      const std::size_t pitch = n + 2;
      const std::vector<double> y = numbers((columns - 1) * pitch + n);
      const std::vector<double> weight = numbers(n);
      std::vector<double> sums(columns, 0.25);
      kernel.columns_sums(n, columns, pitch, y.data(), weight.data(), sums.data());
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0.25;
        for (std::size_t i = 0; i < n; ++i) sum += weight[i] * y[j * pitch + i];
        ASSERT_NEAR(sums[j], sum, 1e-12) << n << ' ' << columns;
      }
    }
  }
}

TEST_P(Kernel, NonFinitePotentialsGiveNonFiniteValues) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
    std::vector<double> psi(3 * block_rows);
    psi[5] = bad;
    std::vector<double> value(block_rows);
    std::vector<double> q(3 * block_rows);
    kernel.log_game(block_rows, 3, psi.data(), value.data(), q.data());
    EXPECT_FALSE(std::isfinite(value[5]));
    EXPECT_TRUE(std::isfinite(value[4]));
    kernel.zero_one_game(block_rows, 3, psi.data(), value.data(), q.data());
    EXPECT_FALSE(std::isfinite(value[5]));
    EXPECT_TRUE(std::isfinite(value[4]));
  }
}

TEST(Kernels, AreChosenByName) {
  for (const Kernels* k : runnable_kernels()) {
    EXPECT_EQ(&kernels_named(std::string(k->name).c_str()), k);
  }
  EXPECT_EQ(&kernels_named(nullptr), runnable_kernels().back());
  EXPECT_EQ(&kernels_named(""), runnable_kernels().back());
}

TEST(Kernels, UnknownNameIsAnErrorThatListsTheKernels) {
  try {
    kernels_named("avx3");
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), Error::Kind::input);
    EXPECT_EQ(message.find("COVSHIFT_KERNELS is 'avx3'; this processor runs baseline"), 0U)
        << message;
  }
}

std::string name_of(const testing::TestParamInfo<const Kernels*>& info) {
  return std::string(info.param->name);
}
INSTANTIATE_TEST_SUITE_P(Sets, Kernel,
                         testing::ValuesIn(runnable_kernels().begin(), runnable_kernels().end()),
                         name_of);

}  // namespace
}  // namespace covshift
