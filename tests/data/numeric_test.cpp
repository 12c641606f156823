// Scaling and principal components.
#include <Eigen/Dense>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "covshift/base/row_matrix.hpp"
#include "covshift/data/pca.hpp"
#include "covshift/data/scaling.hpp"
#include "tests/data/support.hpp"

namespace covshift {
namespace {

using testing::dense;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

Matrix to_sparse(const Matrix& from) {
  Matrix m;
  m.rows = from.rows;
  m.cols = from.cols;
  m.sparse = true;
  m.offsets.push_back(0);
  for (std::size_t r = 0; r < from.rows; ++r) {
    for (std::size_t c = 0; c < from.cols; ++c) {
      const double v = from.values[r * from.cols + c];
      if (v == 0.0) continue;
      m.columns.push_back(static_cast<std::int32_t>(c));
      m.values.push_back(v);
    }
    m.offsets.push_back(static_cast<std::int64_t>(m.values.size()));
  }
  return m;
}

TEST(Scaling, Unit) {
  Matrix train = dense(3, 2, {-1, 5, 0, 5, 3, 5});
  const Scaler scaler = Scaler::fit(ScaleKind::unit, train);
  scaler.apply(train);
  EXPECT_THAT(train.values, ElementsAre(0, 0, 0.25, 0, 1, 0));
  Matrix other = dense(1, 2, {7, 6});
  scaler.apply(other);
  EXPECT_THAT(other.values, ElementsAre(2, 1));
}

TEST(Scaling, Standard) {
  Matrix train = dense(4, 2, {1, 0.1, 3, 0.1, 1, 0.1, 3, 0.1});
  const Scaler scaler = Scaler::fit(ScaleKind::standard, train);
  scaler.apply(train);
  EXPECT_THAT(train.values, ElementsAre(-1, 0, 1, 0, -1, 0, 1, 0));
  // A small deviation from a large mean is accurate.
  Matrix large = dense(2, 1, {1e9, 1e9 + 2});
  Scaler::fit(ScaleKind::standard, large).apply(large);
  EXPECT_THAT(large.values, ElementsAre(DoubleEq(-1), DoubleEq(1)));
}

TEST(Scaling, extreme_values_have_a_deviation) {
  Matrix expected = dense(4, 1, {-2, 1, 4, 0.5});
  Scaler::fit(ScaleKind::standard, expected).apply(expected);
  for (const double size : {0x1p-1000, 0x1p-500, 0x1p400, 0x1p1000}) {
    Matrix matrix = dense(4, 1, {-2 * size, size, 4 * size, 0.5 * size});
    Scaler::fit(ScaleKind::standard, matrix).apply(matrix);
    EXPECT_EQ(matrix.values, expected.values) << size;
  }
}

TEST(Scaling, SparseDataAreOnlyDivided) {
  const Matrix values = dense(4, 3, {0, -4, 0, 2, 0, 0, 0, 0, 0, 2, 2, 0});
  Matrix unit = to_sparse(values);
  const Scaler scaler = Scaler::fit(ScaleKind::unit, unit);
  scaler.apply(unit);
  EXPECT_THAT(unit.values, ElementsAre(-1, 1, 1, 0.5));
  EXPECT_THAT(scaler.offsets(), ElementsAre(0, 0, 0));
  Matrix standard = to_sparse(values);
  Scaler::fit(ScaleKind::standard, standard).apply(standard);
  EXPECT_THAT(standard.values,
              ElementsAre(DoubleEq(-4 / std::sqrt(4.75)), 2, 2, DoubleEq(2 / std::sqrt(4.75))));
  // A scaler fitted on sparse data treats dense data the same way.
  Matrix same = values;
  scaler.apply(same);
  EXPECT_THAT(same.values, ElementsAre(0, -1, 0, 1, 0, 0, 0, 0, 0, 1, 0.5, 0));
}

TEST(Scaling, WeightTwoEqualsTheRowTwiceAndZeroItsAbsence) {
  const Matrix rows = dense(4, 2, {1, 0, 0.1, 7, 3, 0, -90, 50});
  const Matrix repeated = dense(4, 2, {3, 0, 1, 0, 0.1, 7, 1, 0});
  const std::vector<double> weight = {2, 1, 1, 0};
  for (const ScaleKind kind : {ScaleKind::unit, ScaleKind::standard}) {
    for (const bool sparse : {false, true}) {
      const Scaler a = Scaler::fit(kind, sparse ? to_sparse(rows) : rows, weight);
      const Scaler b = Scaler::fit(kind, sparse ? to_sparse(repeated) : repeated);
      EXPECT_EQ(a.offsets(), b.offsets());
      EXPECT_EQ(a.scales(), b.scales());
    }
  }
  EXPECT_THROW(Scaler::fit(ScaleKind::unit, rows, std::vector<double>(4, 0.0)), Error);
}

TEST(Scaling, ScaledCopyEqualsApply) {
  const Matrix values = dense(3, 2, {0, 4, 2, 0, 0, 8});
  for (const bool fitted_sparse : {false, true}) {
    const Scaler scaler = Scaler::fit(ScaleKind::unit, fitted_sparse ? to_sparse(values) : values);
    Matrix expected = values;
    scaler.apply(expected);
    EXPECT_EQ(scaler.scaled(values.view()).values, expected.values);
    const Matrix from_sparse = scaler.scaled(to_sparse(values).view());
    EXPECT_EQ(from_sparse.sparse, scaler.offsets() == std::vector<double>(2, 0.0));
    EXPECT_EQ(from_sparse.values,
              from_sparse.sparse ? to_sparse(expected).values : expected.values);
    const std::vector<float> single(values.values.begin(), values.values.end());
    EXPECT_EQ(scaler.scaled(MatrixView::dense(single.data(), 3, 2)).values, expected.values);
  }
}

TEST(Scaling, NoneAndErrors) {
  Matrix m = dense(2, 1, {3, 4});
  Scaler::fit(ScaleKind::none, m).apply(m);
  EXPECT_THAT(m.values, ElementsAre(3, 4));
  const Scaler unit = Scaler::fit(ScaleKind::unit, m);
  Matrix wide = dense(1, 2, {1, 2});
  EXPECT_THROW(unit.apply(wide), Error);
  Matrix sparse = to_sparse(m);
  EXPECT_THROW(unit.apply(sparse), Error);
  EXPECT_THROW(Scaler::fit(ScaleKind::unit, dense(0, 1, {})), Error);
  EXPECT_THROW(Scaler::fit(ScaleKind::unit, dense(2, 1, {-1.7e308, 1.7e308})), Error);
  EXPECT_THROW(parse_scale_kind("units"), Error);
  EXPECT_EQ(parse_scale_kind("standard"), ScaleKind::standard);
}

TEST(Scaling, JsonRoundTrip) {
  const Matrix m = dense(3, 2, {0.1, 1e-100, 0.7, 3, 1.0 / 3, 1e100});
  for (const ScaleKind kind : {ScaleKind::none, ScaleKind::unit, ScaleKind::standard}) {
    const Scaler scaler = Scaler::fit(kind, m);
    const Scaler back = Scaler::from_json(nlohmann::json::parse(scaler.to_json().dump()));
    EXPECT_EQ(back.kind(), kind);
    EXPECT_EQ(back.offsets(), scaler.offsets());
    EXPECT_EQ(back.scales(), scaler.scales());
  }
  for (const char* text : {"{}", "3", R"({"kind": "unit", "offsets": [0], "scales": [0]})",
                           R"({"kind": "unit", "offsets": [0], "scales": [1, 2]})",
                           R"({"kind": "unit", "offsets": [null], "scales": [1]})",
                           R"({"kind": "odd", "offsets": [], "scales": []})"}) {
    EXPECT_THROW(Scaler::from_json(nlohmann::json::parse(text)), Error) << text;
  }
}

Matrix random_matrix(std::size_t rows, std::size_t cols, double mean, double zeros) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Matrix m = dense(rows, cols, std::vector<double>(rows * cols));
  for (std::size_t k = 0; k < m.values.size(); ++k) {
    const double spread = 1.0 + static_cast<double>(k % cols);
    m.values[k] = uniform(random) < zeros ? 0.0 : mean + spread * normal(random);
  }
  return m;
}

void expect_pca_is_svd(const Matrix& data, const Matrix& given, std::size_t components) {
  const Eigen::Map<const RowMatrix> x(data.values.data(), static_cast<Eigen::Index>(data.rows),
                                      static_cast<Eigen::Index>(data.cols));
  const RowMatrix centred = x.rowwise() - x.colwise().mean();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Pca pca = Pca::fit(given.view(), components);
  const Matrix scores = pca.transform(given.view());
  const double scale = svd.singularValues()[0];
  for (std::size_t k = 0; k < components; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    Eigen::VectorXd v = svd.matrixV().col(i);
    Eigen::Index largest = 0;
    v.cwiseAbs().maxCoeff(&largest);
    if (v[largest] < 0) v = -v;
    const double sigma = svd.singularValues()[i];
    EXPECT_NEAR(pca.variances()[k], sigma * sigma / static_cast<double>(data.rows - 1),
                1e-9 * scale * scale);
    for (std::size_t c = 0; c < data.cols; ++c) {
      EXPECT_NEAR(pca.directions()[k * data.cols + c], v[static_cast<Eigen::Index>(c)], 1e-7);
    }
    const Eigen::VectorXd projected = centred * v;
    for (std::size_t r = 0; r < data.rows; ++r) {
      EXPECT_NEAR(scores.values[r * components + k], projected[static_cast<Eigen::Index>(r)],
                  1e-6 * scale);
    }
  }
}

TEST(Pca, MatchesSingularValues) {
  const Matrix tall = random_matrix(300, 6, 100.0, 0.0);
  expect_pca_is_svd(tall, tall, 6);
  const Matrix wide = random_matrix(8, 300, 100.0, 0.0);
  expect_pca_is_svd(wide, wide, 7);
  const Matrix tall_zeros = random_matrix(60, 7, 1.0, 0.6);
  expect_pca_is_svd(tall_zeros, to_sparse(tall_zeros), 5);
  const Matrix wide_zeros = random_matrix(9, 40, 1.0, 0.6);
  expect_pca_is_svd(wide_zeros, to_sparse(wide_zeros), 8);
}

TEST(Pca, FloatAndDoubleAgree) {
  const Matrix m = random_matrix(20, 4, 0.0, 0.0);
  const std::vector<float> floats(m.values.begin(), m.values.end());
  const Pca a = Pca::fit(m.view(), 2);
  const Pca b = Pca::fit(MatrixView::dense(floats.data(), m.rows, m.cols), 2);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(a.directions()[k], b.directions()[k], 1e-5);
}

TEST(Pca, DirectionsStayOrthonormalWithoutVariance) {
  // Rank one: all other directions are arbitrary, but must be orthonormal.
  Matrix m = dense(4, 6, std::vector<double>(24));
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 6; ++c) m.values[r * 6 + c] = static_cast<double>(r * (c + 1));
  }
  for (const Matrix& given : {m, to_sparse(m), dense(4, 6, std::vector<double>(24, 2.5))}) {
    const Pca pca = Pca::fit(given.view(), 4);
    const Eigen::Map<const RowMatrix> v(pca.directions().data(), 4, 6);
    EXPECT_LT((v * v.transpose() - Eigen::MatrixXd::Identity(4, 4)).norm(), 1e-10);
    EXPECT_NEAR(pca.variances()[1], 0.0, 1e-10);
  }
}

TEST(Pca, RejectsInvalidArguments) {
  const Matrix m = random_matrix(20, 4, 3.0, 0.0);
  const Pca pca = Pca::fit(m.view(), 2);
  EXPECT_THROW(Pca::fit(m.view(), 5), Error);
  EXPECT_THROW(Pca::fit(m.view(), 0), Error);
  EXPECT_THROW(Pca::fit(dense(1, 1, {1}).view(), 1), Error);
  EXPECT_THROW(static_cast<void>(pca.transform(dense(1, 1, {1}).view())), Error);
}

}  // namespace
}  // namespace covshift
