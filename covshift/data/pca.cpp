#include "covshift/data/pca.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;

class PcaFit {
 public:
  explicit PcaFit(const MatrixView& data)
      : data_(data, {}),
        rows_(data.rows),
        cols_(data.cols),
        mean_(Eigen::VectorXd::Zero(index(cols_))) {
    for (std::size_t r = 0; r < rows_; ++r) {
      data_.each(
          r, [&](std::size_t c, double v) { mean_[index(c)] += v / static_cast<double>(rows_); });
    }
  }

  /// Orthonormal directions as rows, and the squared singular values of the centred data.
  void solve(std::size_t components, RowMatrix& directions, Eigen::VectorXd& squares) {
    const bool by_columns = cols_ <= rows_;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(by_columns ? column_products()
                                                                          : row_products());
    if (eigen.info() != Eigen::Success) {
      throw Error(Error::Kind::numeric, "PCA: the eigendecomposition failed; scale the data first");
    }
    const Index k = index(components);
    // Eigenvalues come in ascending order.
    squares = eigen.eigenvalues().tail(k).reverse().cwiseMax(0.0);
    const Eigen::MatrixXd vectors = eigen.eigenvectors().rightCols(k).rowwise().reverse();
    directions = by_columns ? RowMatrix(vectors.transpose()) : project_back(vectors);
    orthonormalise(directions);
    for (Index i = 0; i < k; ++i) {
      Index largest = 0;
      directions.row(i).cwiseAbs().maxCoeff(&largest);
      if (directions(i, largest) < 0.0) directions.row(i) *= -1.0;
    }
  }

  [[nodiscard]] const Eigen::VectorXd& mean() const { return mean_; }

 private:
  static Index index(std::size_t n) { return static_cast<Index>(n); }

  /// A block of centred rows: small, so that a dense matrix is never copied whole.
  [[nodiscard]] RowMatrix centred_rows(std::size_t begin, std::size_t count) const {
    RowMatrix block = -mean_.transpose().replicate(index(count), 1);
    for (std::size_t r = 0; r < count; ++r) {
      data_.each(begin + r, [&](std::size_t c, double v) { block(index(r), index(c)) += v; });
    }
    return block;
  }

  /// X'X of the centred data.
  [[nodiscard]] Eigen::MatrixXd column_products() const {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(index(cols_), index(cols_));
    if (data_.sparse()) {
      std::vector<std::pair<Index, double>> row;
      for (std::size_t r = 0; r < rows_; ++r) {
        row.clear();
        data_.each(r, [&](std::size_t c, double v) { row.emplace_back(index(c), v); });
        for (const auto& [i, a] : row) {
          for (const auto& [j, b] : row) gram(i, j) += a * b;
        }
      }
      gram.noalias() -= static_cast<double>(rows_) * mean_ * mean_.transpose();
    } else {
      constexpr std::size_t block_rows = 256;
      for (std::size_t begin = 0; begin < rows_; begin += block_rows) {
        const RowMatrix block = centred_rows(begin, std::min(block_rows, rows_ - begin));
        gram.selfadjointView<Eigen::Lower>().rankUpdate(block.transpose());
      }
      gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    }
    return gram;
  }

  /// XX' of the centred data.
  [[nodiscard]] Eigen::MatrixXd row_products() const {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(index(rows_), index(rows_));
    if (data_.sparse()) {
      // One centred row at a time against the entries of the others: (x_i - m)'x_j - (x_i - m)'m.
      for (std::size_t i = 0; i < rows_; ++i) {
        const RowMatrix centred = centred_rows(i, 1);
        const double shift = centred.row(0).dot(mean_);
        for (std::size_t j = 0; j <= i; ++j) {
          double product = -shift;
          data_.each(j, [&](std::size_t c, double v) { product += centred(0, index(c)) * v; });
          gram(index(i), index(j)) = product;
        }
      }
    } else {
      constexpr std::size_t block_cols = 256;
      for (std::size_t begin = 0; begin < cols_; begin += block_cols) {
        const std::size_t count = std::min(block_cols, cols_ - begin);
        std::vector<std::int32_t> columns(count);
        std::iota(columns.begin(), columns.end(), static_cast<std::int32_t>(begin));
        const Rows part(data_.matrix(), columns);
        Eigen::MatrixXd block(index(rows_), index(count));
        for (std::size_t r = 0; r < rows_; ++r) {
          part.each(r, [&](std::size_t c, double v) {
            block(index(r), index(c)) = v - mean_[index(begin + c)];
          });
        }
        gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
      }
    }
    gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    return gram;
  }

  /// From directions among rows to directions among columns: X'u.
  [[nodiscard]] RowMatrix project_back(const Eigen::MatrixXd& vectors) const {
    Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(vectors.cols(), index(cols_));
    for (std::size_t r = 0; r < rows_; ++r) {
      const Eigen::VectorXd weights = vectors.row(index(r));
      data_.each(r, [&](std::size_t c, double v) {
        directions.col(index(c)) += (data_.sparse() ? v : v - mean_[index(c)]) * weights;
      });
    }
    if (data_.sparse()) {
      const Eigen::VectorXd sums = vectors.colwise().sum();
      directions.noalias() -= sums * mean_.transpose();
    }
    return directions;
  }

  /// Gives length 1. A direction without variance is replaced by any that is orthogonal to the
  /// others: projected back, it is nothing but rounding.
  static void orthonormalise(RowMatrix& directions) {
    const double largest = directions.rowwise().norm().maxCoeff();
    constexpr double negligible = 1e-10;
    Index axis = 0;
    for (Index i = 0; i < directions.rows(); ++i) {
      auto row = directions.row(i);
      if (row.norm() <= negligible * largest) row.setZero();
      remove_projections(directions, i);
      while (row.norm() <= negligible * largest || row.norm() == 0.0) {
        row.setZero();
        row[axis++] = std::max(largest, 1.0);
        remove_projections(directions, i);
      }
      row.normalize();
    }
  }

  /// Twice, since once leaves a rest of the order of rounding.
  static void remove_projections(RowMatrix& directions, Index i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (Index j = 0; j < i; ++j) {
        directions.row(i) -= directions.row(i).dot(directions.row(j)) * directions.row(j);
      }
    }
  }

  Rows data_;
  std::size_t rows_;
  std::size_t cols_;
  Eigen::VectorXd mean_;
};

}  // namespace

Pca Pca::fit(const MatrixView& data, std::size_t components) {
  if (data.rows < 2) fail_input("PCA needs at least 2 rows, the data have {}", data.rows);
  const std::size_t most = std::min(data.rows, data.cols);
  if (components == 0 || components > most) {
    fail_input("PCA: cannot compute {} components; choose 1 to {} for {} rows and {} columns",
               components, most, data.rows, data.cols);
  }
  PcaFit fit(data);
  RowMatrix directions;
  Eigen::VectorXd squares;
  fit.solve(components, directions, squares);
  Pca pca;
  pca.mean_.assign(fit.mean().begin(), fit.mean().end());
  squares /= static_cast<double>(data.rows - 1);
  pca.variances_.assign(squares.begin(), squares.end());
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
  const Eigen::Map<const RowMatrix> directions(directions_.data(), static_cast<Index>(components()),
                                               static_cast<Index>(cols()));
  const Eigen::Map<const Eigen::VectorXd> mean(mean_.data(), static_cast<Index>(cols()));
  // By columns: a sparse row touches whole columns of the directions.
  const Eigen::MatrixXd by_column = directions;
  const Eigen::VectorXd offset = by_column * mean;
  const Rows rows(data, {});
  for (std::size_t r = 0; r < data.rows; ++r) {
    Eigen::Map<Eigen::VectorXd> row(result.values.data() + r * result.cols,
                                    static_cast<Index>(result.cols));
    row.setZero();
    if (rows.sparse()) row = -offset;
    rows.each(r, [&](std::size_t c, double v) {
      const auto column = static_cast<Index>(c);
      row += (rows.sparse() ? v : v - mean[column]) * by_column.col(column);
    });
  }
  return result;
}

}  // namespace covshift
