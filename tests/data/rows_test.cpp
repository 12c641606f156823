// Copies of rows, and matrices with invalid entries.
#include "covshift/data/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {
namespace {

/// Rows of few different values: many are equal, but the last column distinguishes most.
Matrix made(std::size_t rows, Random& random) {
  Matrix m;
  m.rows = rows;
  m.cols = 4;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < 3; ++j) m.values.push_back(static_cast<double>(random.below(2)));
    m.values.push_back(static_cast<double>(random.below(rows / 4)) - 3.0);
  }
  return m;
}

/// The same rows as entries in any order, some split in two, some stored zeros, some of them -0.
Matrix scattered(const Matrix& from, Random& random) {
  Matrix m;
  m.rows = from.rows;
  m.cols = from.cols;
  m.sparse = true;
  m.offsets.push_back(0);
  for (std::size_t i = 0; i < from.rows; ++i) {
    std::vector<std::pair<std::int32_t, double>> entries;
    for (std::size_t j = 0; j < from.cols; ++j) {
      const double value = from.values[i * from.cols + j];
      const auto column = static_cast<std::int32_t>(j);
      if (value == 0 && random.below(2) == 0) continue;
      if (random.below(4) == 0) {
        entries.emplace_back(column, value - 8);
        entries.emplace_back(column, 8);
      } else {
        entries.emplace_back(column, value == 0 && random.below(2) == 0 ? -0.0 : value);
      }
    }
    for (std::size_t e = entries.size(); e > 1; --e) {
      std::swap(entries[e - 1], entries[random.below(e)]);
    }
    for (const auto& [column, value] : entries) {
      m.columns.push_back(column);
      m.values.push_back(value);
    }
    m.offsets.push_back(static_cast<std::int64_t>(m.columns.size()));
  }
  return m;
}

std::vector<std::size_t> originals(std::size_t rows, const std::vector<Copy>& found) {
  std::vector<std::size_t> original(rows);
  std::iota(original.begin(), original.end(), 0);
  for (const Copy& copy : found) original[copy.row] = copy.of;
  return original;
}

TEST(Copies, AreRowsEqualToAnEarlierOne) {
  Random random(5);
  for (const std::size_t rows : {60U, 300U, 9000U}) {
    const Matrix dense = made(rows, random);
    const Matrix sparse = scattered(dense, random);
    // The label is a function of the row, but for a few.
    std::vector<int> label(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      label[i] = dense.values[4 * i] > 0.5 ? 1 : 0;
      if (random.below(60) == 0) label[i] = 1 - label[i];
    }
    std::vector<double> weight(rows, 1.0);
    for (std::size_t i = 0; i < rows; i += 7) weight[i] = 0;
    std::vector<std::size_t> expected(rows);
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      expected[i] = i;
      for (std::size_t l = 0; l < i && weight[i] > 0 && expected[i] == i; ++l) {
        const double* a = dense.values.data() + i * 4;
        const double* b = dense.values.data() + l * 4;
        if (weight[l] > 0 && label[i] == label[l] && std::equal(a, a + 4, b)) {
          expected[i] = l;
          ++count;
        }
      }
    }
    ASSERT_GT(count, 0U);
    for (const Matrix* m : {&dense, &sparse}) {
      for (const int threads : {1, 3}) {
        const Rows view(m->view(), {});
        EXPECT_EQ(originals(rows, copies(view, weight, label, threads).copies), expected) << rows;
      }
    }
    const std::vector<double> merged = merge_copies(Rows(sparse.view(), {}), weight, label);
    for (std::size_t i = 0; i < rows; ++i) weight[expected[i]] += expected[i] == i ? 0 : weight[i];
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(merged[i], expected[i] == i ? weight[i] : 0) << i;
    }
  }
}

TEST(Copies, NumbersOfFewDigitsDoNotCollide) {
  // One 1 among zeros: the fingerprints of such rows must differ.
  const std::size_t rows = 3000;
  Matrix m;
  m.rows = rows;
  m.cols = rows;
  m.sparse = true;
  for (std::size_t i = 0; i <= rows; ++i) m.offsets.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < rows; ++i) m.columns.push_back(static_cast<std::int32_t>(i));
  m.values.assign(rows, 1.0);
  EXPECT_TRUE(copies(Rows(m.view(), {}), {}, {}).copies.empty());
  EXPECT_TRUE(merge_copies(Rows(m.view(), {}), {}).empty());
}

TEST(Places, EntriesOutsideTheMatrixAreRejected) {
  using Offsets = std::vector<std::int64_t>;
  using Columns = std::vector<std::int32_t>;
  const auto check = [](const Offsets& offsets, const Columns& columns, std::size_t cols) {
    check_places(offsets, columns, cols);
  };
  EXPECT_NO_THROW(check({0, 2, 2, 3}, {0, 4, 2}, 5));
  EXPECT_NO_THROW(check({0}, {}, 0));
  EXPECT_NO_THROW(check({0, 2}, {0, 4, 99}, 5));  // room at the end that is not used
  EXPECT_NO_THROW(check({0, 1}, {2147483646}, 2147483647));
  EXPECT_THROW(check({0, 1}, {0}, 2147483648), Error);
  for (const std::int32_t outside : {5, -1, 2147483647, -2147483647 - 1}) {
    EXPECT_THROW(check({0, 2, 2, 3}, {0, outside, 2}, 5), Error) << outside;
  }
  EXPECT_THROW(check({0, 2, 1, 3}, {0, 4, 2}, 5), Error);  // falls
  EXPECT_THROW(check({0, 2, 2, 4}, {0, 4, 2}, 5), Error);  // beyond the last entry
  EXPECT_THROW(check({1, 2, 2, 3}, {0, 4, 2}, 5), Error);
  EXPECT_THROW(check({-1, 2, 2, 3}, {0, 4, 2}, 5), Error);
  EXPECT_THROW(check({}, {}, 5), Error);
}

TEST(Copies, EqualRowsWithSeveralLabelsAreCells) {
  constexpr std::size_t rows = 600;
  Random random(7);
  std::vector<double> x;
  std::vector<double> other;
  std::vector<int> own(rows);
  std::vector<int> noisy(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t cell = random.below(150);
    x.push_back(0.1 * static_cast<double>(cell));
    other.push_back(0.1 * static_cast<double>(random.below(150)));
    own[i] = static_cast<int>(cell % 2);
    noisy[i] = random.uniform() < 0.7 ? own[i] : 1 - own[i];
  }
  const Rows view(MatrixView::dense(x.data(), rows, 1), {});
  for (const bool near : {false, true}) {
    const auto found = [&](const std::vector<int>& label) {
      return near ? near_copies(view, {}, label) : copies(view, {}, label);
    };
    EXPECT_FALSE(found(own).cells);
    EXPECT_GT(found(own).copies.size(), 400U);
    EXPECT_TRUE(found(noisy).cells);
    EXPECT_TRUE(found(noisy).copies.empty());
  }
  EXPECT_TRUE(share_cells(view, {}, Rows(MatrixView::dense(other.data(), rows, 1), {})));
  for (double& value : other) value += 0.05;
  EXPECT_FALSE(share_cells(view, {}, Rows(MatrixView::dense(other.data(), rows, 1), {})));
}

/// Enough rows that the search is split into parts.
TEST(Copies, AreTheSameForAnyNumberOfThreads) {
  constexpr std::size_t rows = 60'000;
  std::vector<double> x(rows);
  for (std::size_t i = 0; i < rows; ++i) x[i] = 0.1 * static_cast<double>(i % 59'990);
  for (const int threads : {1, 3}) {
    const std::vector<Copy> found =
        copies(Rows(MatrixView::dense(x.data(), rows, 1), {}), {}, {}, threads).copies;
    ASSERT_EQ(found.size(), 10U);
    for (const Copy& copy : found) EXPECT_EQ(copy.row, copy.of + 59'990);
  }
}

TEST(NearCopies, SurviveTheLastDigitsOfManyRareColumns) {
  // Unit scale: an entry that one row in 400 has is 20 deviations.
  constexpr std::size_t rows = 120;
  constexpr std::size_t cols = 400;
  Random random(31);
  std::vector<double> x(rows * cols, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (int k = 0; k < 5; ++k) x[i * cols + random.below(cols)] = 15 + 10 * random.uniform();
  }
  for (std::size_t i = 100; i < rows; ++i) {
    std::copy_n(x.data() + (i - 100) * cols, cols, x.data() + i * cols);
  }
  const auto found = [&] {
    return near_copies(Rows(MatrixView::dense(x.data(), rows, cols), {}), {}, {}).copies.size();
  };
  EXPECT_EQ(found(), 20U);
  for (double& v : x) v += 1e-7 * 20 * random.normal();
  EXPECT_EQ(found(), 20U);
  for (std::size_t i = 100; i < rows; ++i) x[i * cols] += 0.01;
  EXPECT_EQ(found(), 0U);
}

}  // namespace
}  // namespace covshift
