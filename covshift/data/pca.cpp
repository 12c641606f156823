#include "covshift/data/pca.hpp"

#include <Eigen/Dense>
#include <algorithm>

#include "covshift/base/error.hpp"
#include "covshift/base/row_matrix.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

namespace {

using Eigen::Index;

/// Row i minus the mean.
Eigen::RowVectorXd centred(const Rows& rows, std::size_t i, const Eigen::RowVectorXd& mean) {
  Eigen::RowVectorXd row = -mean;
  rows.add(i, 1.0, row.data());
  return row;
}

/// X'X of the centred rows, the lower triangle.
Eigen::MatrixXd column_products(const Rows& rows, const Eigen::RowVectorXd& mean) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(mean.size(), mean.size());
  constexpr std::size_t block_rows = 256;  // data are never copied whole
  for (std::size_t begin = 0; begin < rows.size(); begin += block_rows) {
    const std::size_t count = std::min(block_rows, rows.size() - begin);
    Eigen::MatrixXd block(mean.size(), static_cast<Index>(count));
    for (std::size_t b = 0; b < count; ++b) {
      block.col(static_cast<Index>(b)) = centred(rows, begin + b, mean);
    }
    gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
  }
  return gram;
}

/// XX' of the centred rows, the lower triangle. A sparse row is multiplied as it is stored:
/// (x_i - m)'(x_j - m) = (x_i - m)'x_j - (x_i - m)'m.
Eigen::MatrixXd row_products(const Rows& rows, const Eigen::RowVectorXd& mean) {
  const auto n = static_cast<Index>(rows.size());
  Eigen::MatrixXd gram(n, n);
  for (Index i = 0; i < n; ++i) {
    const Eigen::RowVectorXd row = centred(rows, static_cast<std::size_t>(i), mean);
    const double shift = rows.sparse() ? row.dot(mean) : 0;
    for (Index j = 0; j <= i; ++j) {
      const auto other = static_cast<std::size_t>(j);
      gram(i, j) =
          rows.sparse() ? rows.dot(other, row.data()) - shift : row.dot(centred(rows, other, mean));
    }
  }
  return gram;
}

/// From directions among rows to directions among columns: X'u.
RowMatrix project_back(const Rows& rows, const Eigen::RowVectorXd& mean,
                       const Eigen::MatrixXd& vectors) {
  RowMatrix directions = RowMatrix::Zero(vectors.cols(), mean.size());
  for (Index i = 0; i < vectors.rows(); ++i) {
    directions.noalias() +=
        vectors.row(i).transpose() * centred(rows, static_cast<std::size_t>(i), mean);
  }
  return directions;
}

/// Gram-Schmidt, twice, because one pass leaves rounding errors. A direction without variance,
/// which is only rounding error when projected back, is replaced by a coordinate axis made
/// orthogonal to the others.
void orthonormalise(RowMatrix& directions) {
  constexpr double negligible = 1e-10;
  const double largest = directions.rowwise().norm().maxCoeff();
  Index axis = 0;
  for (Index i = 0; i < directions.rows(); ++i) {
    auto row = directions.row(i);
    const auto remainder = [&] {
      for (int pass = 0; pass < 2; ++pass) {
        for (Index j = 0; j < i; ++j) row -= row.dot(directions.row(j)) * directions.row(j);
      }
      return row.norm();
    };
    bool usable = row.norm() > negligible * largest && remainder() > negligible * largest;
    while (!usable) {
      row.setZero();
      row[axis++] = 1;
      usable = remainder() > negligible;
    }
    row.normalize();
  }
}

}  // namespace

Pca Pca::fit(const MatrixView& data, std::size_t components) {
  if (data.rows < 2) fail_input("PCA needs at least 2 rows, the data have {}", data.rows);
  const std::size_t most = std::min(data.rows, data.cols);
  if (components == 0 || components > most) {
    fail_input("PCA: {} components were requested; choose 1 to {} for {} rows and {} columns",
               components, most, data.rows, data.cols);
  }
  const Rows rows(data, {});
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(static_cast<Index>(data.cols));
  for (std::size_t i = 0; i < data.rows; ++i) {
    rows.add(i, 1 / static_cast<double>(data.rows), mean.data());
  }
  const bool by_columns = data.cols <= data.rows;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      by_columns ? column_products(rows, mean) : row_products(rows, mean));
  if (eigen.info() != Eigen::Success) {
    throw Error(Error::Kind::numeric, "PCA: the eigendecomposition failed; scale the data first");
  }
  const auto k = static_cast<Index>(components);
  // Eigenvalues come in ascending order.
  const Eigen::MatrixXd vectors = eigen.eigenvectors().rightCols(k).rowwise().reverse();
  RowMatrix directions =
      by_columns ? RowMatrix(vectors.transpose()) : project_back(rows, mean, vectors);
  orthonormalise(directions);
  for (Index i = 0; i < k; ++i) {
    Index largest = 0;
    directions.row(i).cwiseAbs().maxCoeff(&largest);
    if (directions(i, largest) < 0.0) directions.row(i) *= -1.0;
  }
  const Eigen::VectorXd variances =
      eigen.eigenvalues().tail(k).reverse().cwiseMax(0.0) / static_cast<double>(data.rows - 1);
  Pca pca;
  pca.mean_.assign(mean.begin(), mean.end());
  pca.variances_.assign(variances.begin(), variances.end());
  pca.directions_.assign(directions.data(), directions.data() + directions.size());
  return pca;
}

Matrix Pca::transform(const MatrixView& data) const {
  if (data.cols != cols()) {
    fail_input("PCA was fitted on {} columns, the data have {}; use the same features", cols(),
               data.cols);
  }
  Matrix result;
  result.rows = data.rows;
  result.cols = components();
  result.values.resize(result.rows * result.cols);
  const auto k = static_cast<Index>(components());
  const Eigen::Map<const RowMatrix> directions(directions_.data(), k, static_cast<Index>(cols()));
  const Eigen::Map<const Eigen::RowVectorXd> mean(mean_.data(), static_cast<Index>(cols()));
  const Rows rows(data, {});
  for (std::size_t i = 0; i < data.rows; ++i) {
    Eigen::Map<Eigen::VectorXd>(result.values.data() + i * result.cols, k).noalias() =
        directions * centred(rows, i, mean).transpose();
  }
  return result;
}

}  // namespace covshift
