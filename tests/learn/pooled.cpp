// Rows that stay in two matrices give what their copy in one gives.
#include "covshift/learn/examples.hpp"
#include "support.hpp"

namespace covshift {
namespace {

using namespace testing;

/// Some rows of two matrices, pooled, and as a matrix of their own, centred if they are dense.
struct Pool {
  Pool(const MatrixView& first, const MatrixView& second, std::span<const std::int32_t> columns,
       bool as_sparse)
      : rows({Rows(first, columns), std::vector<std::size_t>{0, 2, 3, 5}},
             {Rows(second, columns), {}}),
        sparse(as_sparse) {
    if (!sparse) {
      std::vector<double> centre(rows.dims());
      for (std::size_t j = 0; j < centre.size(); ++j) centre[j] = 0.5 + static_cast<double>(j);
      rows.set_centre(centre);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [part, row] = rows.at(i);
      copy.resize(copy.size() + rows.dims());
      double* const to = copy.data() + i * rows.dims();
      part->add(row, 1.0, to);
      for (std::size_t j = 0; j < rows.dims(); ++j) to[j] -= rows.centre()[j];
      labels.push_back(static_cast<int>(i % 2));
      weight.push_back(i == 1 ? 0.0 : 1.0 + static_cast<double>(i));
    }
  }
  [[nodiscard]] Problem problem(bool pooled) const {
    Problem p;
    p.game = game.get();
    p.lambda = 0.01;
    p.labels = labels;
    p.sample_weight = weight;
    p.features = MatrixView::dense(copy.data(), rows.size(), rows.dims());
    if (!pooled) return p;
    p.pooled = &rows;
    p.features.storage = DenseRows<double>{};
    if (sparse) p.features.storage = SparseRows<double>{};
    return p;
  }

  PooledRows rows;
  bool sparse;
  std::vector<double> copy;
  std::vector<int> labels;
  std::vector<double> weight;
  std::unique_ptr<Game> game = log_game(2);
};

void expect_same(const Pool& pool) {
  const Examples here(pool.problem(true), 1);
  const Examples there(pool.problem(false), 1);
  ASSERT_EQ(here.size(), there.size());
  RowMatrix t(here.dims(), 2);
  for (Eigen::Index j = 0; j < t.size(); ++j) t.data()[j] = std::sin(static_cast<double>(j));
  RowMatrix a;
  RowMatrix b;
  EXPECT_NEAR(here.pass(t, a).loss, there.pass(t, b).loss, 1e-13);
  EXPECT_LT((a - b).norm(), 1e-13);
  EXPECT_EQ(here.squares(), there.squares());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(here.norm2(i), there.norm2(i));
  std::vector<Eigen::MatrixXd> g;
  std::vector<Eigen::MatrixXd> h;
  const auto ones = [](std::size_t, std::size_t n, std::size_t, double* omega) {
    std::fill_n(omega, n, 1.0);
  };
  here.grams(1, ones, g);
  there.grams(1, ones, h);
  EXPECT_EQ(g[0], h[0]);
  const Solution found = solve(here, with(Solver::newton, 1e-12));
  const Solution wanted = solve(there, with(Solver::newton, 1e-12));
  EXPECT_NEAR(found.objective, wanted.objective, 1e-12);
}

Matrix random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix x;
  x.rows = rows;
  x.cols = cols;
  Random random(seed);
  for (std::size_t i = 0; i < rows * cols; ++i) x.values.push_back(random.uniform(-2, 2));
  return x;
}

Matrix as_sparse(const Matrix& x) {
  Matrix out;
  out.rows = x.rows;
  out.cols = x.cols;
  out.sparse = true;
  out.offsets.push_back(0);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = i % 2; j < x.cols; j += 2) {
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(x.values[i * x.cols + j]);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

TEST(PooledRows, DenseRowsOfAllColumnsAndOfSome) {
  const Matrix first = random_matrix(6, 5, 1);
  const Matrix second = random_matrix(7, 5, 2);
  expect_same(Pool(first.view(), second.view(), {}, false));
  const std::vector<std::int32_t> columns = {1, 4};
  expect_same(Pool(first.view(), second.view(), columns, false));
}

TEST(PooledRows, FloatsAreWidened) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  expect_same(
      Pool(MatrixView::dense(x.data(), 6, 2), MatrixView::dense(x.data(), 6, 2), {}, false));
}

TEST(PooledRows, SparseRowsAsTheyAreAndDensely) {
  const Matrix first = as_sparse(random_matrix(6, 9, 3));
  const Matrix second = as_sparse(random_matrix(8, 9, 4));
  expect_same(Pool(first.view(), second.view(), {}, true));
  expect_same(Pool(first.view(), second.view(), {}, false));
}

/// Blocks between rows that are left out are read in place, the others are copied.
TEST(ScaledRows, RowsLeftOutAreAsIfTheyWereNotThere) {
  constexpr std::size_t rows = 1000;
  const Matrix x = random_matrix(rows, 3, 5);
  const std::unique_ptr<Game> game = log_game(2);
  std::vector<int> labels(rows);
  std::vector<double> weight(rows, 1.0);
  Matrix kept;
  kept.cols = x.cols;
  std::vector<int> kept_labels;
  for (std::size_t i = 0; i < rows; ++i) {
    labels[i] = static_cast<int>(i % 3 == 0);
    if (i == 130 || i == 131 || i == 700 || i == rows - 1) {
      weight[i] = 0;
      continue;
    }
    const double* const row = x.values.data() + i * x.cols;
    kept.values.insert(kept.values.end(), row, row + x.cols);
    kept_labels.push_back(labels[i]);
    ++kept.rows;
  }
  Problem all;
  all.game = game.get();
  all.lambda = 0.01;
  all.features = x.view();
  all.labels = labels;
  all.sample_weight = weight;
  Problem some = all;
  some.features = kept.view();
  some.labels = kept_labels;
  some.sample_weight = {};
  const Examples here(all, 1);
  const Examples there(some, 1);
  RowMatrix t(here.dims(), 2);
  for (Eigen::Index j = 0; j < t.size(); ++j) t.data()[j] = std::cos(static_cast<double>(j));
  RowMatrix a;
  RowMatrix b;
  EXPECT_NEAR(here.pass(t, a).loss, there.pass(t, b).loss, 1e-13);
  EXPECT_LT((a - b).norm(), 1e-13);
}

}  // namespace
}  // namespace covshift
