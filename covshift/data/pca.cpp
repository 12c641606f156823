#include "covshift/data/pca.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"

namespace covshift {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;

template <typename Storage>
struct is_sparse : std::false_type {};
template <typename T>
struct is_sparse<SparseRows<T>> : std::true_type {};

/// Calls visit(column, value) for the entries of a row.
template <typename Storage, typename Visit>
void visit_row(const Storage& rows, std::size_t row, std::size_t cols, const Visit& visit) {
  if constexpr (is_sparse<Storage>::value) {
    for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      visit(static_cast<Index>(rows.columns[k]), static_cast<double>(rows.values[k]));
    }
  } else {
    for (std::size_t c = 0; c < cols; ++c) {
      visit(static_cast<Index>(c), static_cast<double>(rows.data[row * rows.stride + c]));
    }
  }
}

template <typename Storage>
class PcaFit {
 public:
  PcaFit(const Storage& storage, std::size_t rows, std::size_t cols)
      : storage_(storage), rows_(rows), cols_(cols), mean_(Eigen::VectorXd::Zero(index(cols))) {
    for (std::size_t r = 0; r < rows_; ++r) {
      visit_row(storage_, r, cols_,
                [&](Index c, double v) { mean_[c] += v / static_cast<double>(rows_); });
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
      visit_row(storage_, begin + r, cols_, [&](Index c, double v) { block(index(r), c) += v; });
    }
    return block;
  }

  /// X'X of the centred data.
  [[nodiscard]] Eigen::MatrixXd column_products() const {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(index(cols_), index(cols_));
    if constexpr (is_sparse<Storage>::value) {
      std::vector<std::pair<Index, double>> row;
      for (std::size_t r = 0; r < rows_; ++r) {
        row.clear();
        visit_row(storage_, r, cols_, [&](Index c, double v) { row.emplace_back(c, v); });
        for (const auto& [i, a] : row) {
          for (const auto& [j, b] : row) gram(i, j) += a * b;
        }
      }
      gram.noalias() -= static_cast<double>(rows_) * mean_ * mean_.transpose();
    } else {
      constexpr std::size_t block_rows = 256;
      for (std::size_t begin = 0; begin < rows_; begin += block_rows) {
        const RowMatrix block = centred_rows(begin, std::min(block_rows, rows_ - begin));
        gram.template selfadjointView<Eigen::Lower>().rankUpdate(block.transpose());
      }
      gram.template triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    }
    return gram;
  }

  /// XX' of the centred data.
  [[nodiscard]] Eigen::MatrixXd row_products() const {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(index(rows_), index(rows_));
    if constexpr (is_sparse<Storage>::value) {
      // One centred row at a time against the entries of the others: (x_i - m)'x_j - (x_i - m)'m.
      for (std::size_t i = 0; i < rows_; ++i) {
        const RowMatrix centred = centred_rows(i, 1);
        const double shift = centred.row(0).dot(mean_);
        for (std::size_t j = 0; j <= i; ++j) {
          double product = -shift;
          visit_row(storage_, j, cols_, [&](Index c, double v) { product += centred(0, c) * v; });
          gram(index(i), index(j)) = product;
        }
      }
    } else {
      constexpr std::size_t block_cols = 256;
      for (std::size_t begin = 0; begin < cols_; begin += block_cols) {
        const std::size_t count = std::min(block_cols, cols_ - begin);
        Eigen::MatrixXd block(index(rows_), index(count));
        for (std::size_t r = 0; r < rows_; ++r) {
          for (std::size_t c = 0; c < count; ++c) {
            block(index(r), index(c)) =
                static_cast<double>(storage_.data[r * storage_.stride + begin + c]) -
                mean_[index(begin + c)];
          }
        }
        gram.template selfadjointView<Eigen::Lower>().rankUpdate(block);
      }
    }
    gram.template triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    return gram;
  }

  /// From directions among rows to directions among columns: X'u.
  [[nodiscard]] RowMatrix project_back(const Eigen::MatrixXd& vectors) const {
    Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(vectors.cols(), index(cols_));
    for (std::size_t r = 0; r < rows_; ++r) {
      const Eigen::VectorXd weights = vectors.row(index(r));
      visit_row(storage_, r, cols_, [&](Index c, double v) {
        directions.col(c) += (is_sparse<Storage>::value ? v : v - mean_[c]) * weights;
      });
    }
    if constexpr (is_sparse<Storage>::value) {
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

  const Storage& storage_;
  std::size_t rows_;
  std::size_t cols_;
  Eigen::VectorXd mean_;
};

}  // namespace

Pca Pca::fit(const MatrixView& data, std::size_t components) {
  if (data.rows < 2) fail_input("PCA needs at least 2 rows, the data have {}", data.rows);
  const std::size_t most = std::min(data.rows, data.cols);
  if (components == 0 || components > most) {
    fail_input("PCA: {} components were asked for; choose 1 to {} for {} rows and {} columns",
               components, most, data.rows, data.cols);
  }
  return std::visit(
      [&](const auto& storage) {
        PcaFit fit(storage, data.rows, data.cols);
        RowMatrix directions;
        Eigen::VectorXd squares;
        fit.solve(components, directions, squares);
        Pca pca;
        pca.mean_.assign(fit.mean().begin(), fit.mean().end());
        squares /= static_cast<double>(data.rows - 1);
        pca.variances_.assign(squares.begin(), squares.end());
        pca.directions_.assign(directions.data(), directions.data() + directions.size());
        return pca;
      },
      data.storage);
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
  std::visit(
      [&](const auto& storage) {
        constexpr bool sparse = is_sparse<std::decay_t<decltype(storage)>>::value;
        for (std::size_t r = 0; r < data.rows; ++r) {
          Eigen::Map<Eigen::VectorXd> row(result.values.data() + r * result.cols,
                                          static_cast<Index>(result.cols));
          if constexpr (sparse) {
            row = -offset;
          } else {
            row.setZero();
          }
          visit_row(storage, r, data.cols, [&](Index c, double v) {
            row += (sparse ? v : v - mean[c]) * by_column.col(c);
          });
        }
      },
      data.storage);
  return result;
}

nlohmann::json Pca::to_json() const {
  return {{"mean", mean_}, {"variances", variances_}, {"directions", directions_}};
}

Pca Pca::from_json(const nlohmann::json& json) {
  Pca pca;
  pca.mean_ = detail::json_field<std::vector<double>>(json, "mean", "PCA");
  pca.variances_ = detail::json_field<std::vector<double>>(json, "variances", "PCA");
  pca.directions_ = detail::json_field<std::vector<double>>(json, "directions", "PCA");
  if (pca.variances_.empty() || pca.mean_.empty() ||
      pca.directions_.size() != pca.mean_.size() * pca.variances_.size()) {
    fail_input("PCA: the sizes of its members disagree; the file is damaged or was edited");
  }
  return pca;
}

}  // namespace covshift
