// Nystroem features of the Gaussian kernel k (Williams and Seeger 2001): with landmarks z_1..z_N,
// means of clusters of training and target rows (Zhang, Tsang and Kwok 2008), K_ij = k(z_i, z_j) =
// V D V' and k(x) the kernels of a row with all landmarks, phi(x) = s (D^-1/2 V' k(x) - c), without
// the eigenvalues below 1e-6 of the largest; s and c from normalise(). Inner products of phi are
// those of K^-1/2 k(x).
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "covshift/base/error.hpp"
#include "covshift/base/row_matrix.hpp"
#include "covshift/data/gaussian_map.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

double squared_norm(const double* x, std::size_t n) {
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += x[j] * x[j];
  return sum;
}

/// Products of standardised rows with landmarks where most columns are 0, as those of words are:
/// the product of a row of zeros, and what each column that is not 0 adds to it. A row of 20
/// entries in 50,000 columns takes 20 of 50,000 multiplications for a landmark (bench/notes.md).
class FromZero {
 public:
  FromZero(const Standardised& columns, const PaddedRows& landmarks)
      : columns_(columns),
        count_(landmarks.rows()),
        zero_(columns.columns()),
        product_(count_, 0.0),
        by_column_(columns.columns() * count_) {
    for (std::size_t j = 0; j < zero_.size(); ++j) {
      zero_[j] = columns.value(j, 0);
      squared_norm_ += zero_[j] * zero_[j];
      for (std::size_t l = 0; l < count_; ++l) {
        by_column_[j * count_ + l] = landmarks.row(l)[j];
        product_[l] += zero_[j] * landmarks.row(l)[j];
      }
    }
  }

  /// False if too many columns are not 0. Otherwise the products, to out[l * stride], and the
  /// row's squared norm.
  bool products(const double* row, double* out, std::size_t stride, double& squared_norm) const {
    const auto zeros = static_cast<std::size_t>(std::count(row, row + zero_.size(), 0.0));
    if ((zero_.size() - zeros) * 8 > zero_.size()) return false;
    std::vector<double> sum = product_;
    squared_norm = squared_norm_;
    for (std::size_t j = 0; j < zero_.size(); ++j) {
      if (row[j] == 0) continue;
      const double z = columns_.value(j, row[j]);
      const double more = z - zero_[j];
      squared_norm += more * (z + zero_[j]);
      const double* const landmark = by_column_.data() + j * count_;
      for (std::size_t l = 0; l < count_; ++l) sum[l] += more * landmark[l];
    }
    for (std::size_t l = 0; l < count_; ++l) out[l * stride] = sum[l];
    return true;
  }

 private:
  Standardised columns_;
  std::size_t count_;
  std::vector<double> zero_;  ///< a row of zeros, standardised
  double squared_norm_ = 0;
  std::vector<double> product_;    ///< of that row with each landmark
  std::vector<double> by_column_;  ///< the landmarks' values of a column together
};

class Nystroem final : public FeatureMap {
 public:
  /// `projection`: a row of weights of the kernels for each output.
  Nystroem(Standardised columns, double width, PaddedRows landmarks, PaddedRows projection,
           std::vector<double> centre)
      : columns_(std::move(columns)),
        width_(width),
        landmarks_(std::move(landmarks)),
        projection_(std::move(projection)),
        centre_(std::move(centre)) {
    for (std::size_t l = 0; l < landmarks_.rows(); ++l) {
      squared_norms_.push_back(squared_norm(landmarks_.row(l), landmarks_.columns));
    }
    constexpr std::size_t many = 1000;
    if (columns_.columns() >= many) from_zero_.emplace(columns_, landmarks_);
  }

  [[nodiscard]] std::size_t outputs() const override { return centre_.size(); }
  void apply(const DenseBlock& x, double* out, std::size_t stride) const override {
    const std::size_t pitch = padded(landmarks_.rows());
    const std::vector<double> kernel = kernel_rows(x);
    std::vector<double> result(outputs() * block_rows);
    kernels().times({kernel.data(), pitch, x.rows, landmarks_.rows()}, projection_.values.data(),
                    outputs(), result.data());
    for (std::size_t b = 0; b < x.rows; ++b) {
      for (std::size_t j = 0; j < outputs(); ++j) {
        out[b * stride + j] = result[j * block_rows + b] - centre_[j];
      }
    }
  }
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::string> /*columns*/) const override {
    std::vector<std::string> list;
    for (std::size_t j = 0; j < outputs(); ++j) list.push_back(fmt::format("nystroem{}", j + 1));
    return list;
  }
  [[nodiscard]] MapSpec spec() const override { return {"nystroem", landmarks_.rows(), width_}; }
  [[nodiscard]] nlohmann::json store() const override {
    return {{"columns", columns_.to_json()},
            {"width", width_},
            {"landmarks", landmarks_.to_json()},
            {"projection", projection_.to_json()},
            {"centre", centre_}};
  }

  /// Kernels of the rows with the landmarks: row b at b * padded(landmarks), 0 beyond.
  [[nodiscard]] std::vector<double> kernel_rows(const DenseBlock& x) const {
    const std::size_t count = landmarks_.rows();
    // -||z - l||^2 / (2 width^2) = (z'l - ||z||^2/2 - ||l||^2/2) / width^2
    std::vector<double> product(count * block_rows);
    std::vector<double> half(block_rows, 0.0);
    products(x, product, half);
    const double precision = 1 / (width_ * width_);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t b = 0; b < x.rows; ++b) {
        double& value = product[l * block_rows + b];
        value = std::min(0.0, (value - half[b] - squared_norms_[l] / 2) * precision);
      }
    }
    kernels().exponentials(product.size(), product.data());
    std::vector<double> rows(block_rows * padded(count), 0.0);
    for (std::size_t b = 0; b < x.rows; ++b) {
      for (std::size_t l = 0; l < count; ++l) {
        rows[b * padded(count) + l] = product[l * block_rows + b];
      }
    }
    return rows;
  }
  /// Products of the standardised rows with the landmarks, row b of landmark l at l * block_rows +
  /// b, and half the rows' squared norms. What becomes of a row does not depend on the others.
  void products(const DenseBlock& x, std::vector<double>& product,
                std::vector<double>& half) const {
    const std::size_t pitch = padded(columns_.columns());
    std::vector<std::size_t> dense;
    for (std::size_t b = 0; b < x.rows; ++b) {
      double norm = 0;
      if (from_zero_ &&
          from_zero_->products(x.data + b * x.stride, product.data() + b, block_rows, norm)) {
        half[b] = norm / 2;
      } else {
        dense.push_back(b);
      }
    }
    if (dense.empty()) return;
    std::vector<double> z(block_rows * pitch);
    for (std::size_t d = 0; d < dense.size(); ++d) {
      double* const row = z.data() + d * pitch;
      columns_.apply({x.data + dense[d] * x.stride, x.stride, 1, x.columns}, row);
      half[dense[d]] = squared_norm(row, pitch) / 2;
    }
    std::vector<double> own(landmarks_.rows() * block_rows);
    kernels().times({z.data(), pitch, dense.size(), columns_.columns()}, landmarks_.values.data(),
                    landmarks_.rows(), own.data());
    for (std::size_t l = 0; l < landmarks_.rows(); ++l) {
      for (std::size_t d = 0; d < dense.size(); ++d) {
        product[l * block_rows + dense[d]] = own[l * block_rows + d];
      }
    }
  }
  void normalise_by(const Normalisation& normal) {
    for (double& weight : projection_.values) weight *= normal.scale;
    for (std::size_t j = 0; j < centre_.size(); ++j) centre_[j] = normal.scale * normal.centre[j];
  }

 private:
  Standardised columns_;
  double width_;
  PaddedRows landmarks_;
  PaddedRows projection_;
  std::vector<double> centre_;
  std::vector<double> squared_norms_;  ///< of the landmarks
  std::optional<FromZero> from_zero_;  ///< where there are many columns
};

/// D^-1/2 V', the largest eigenvalue first; the largest entry of each row by magnitude is positive.
PaddedRows inverse_root(const PaddedRows& landmarks, double width) {
  const auto n = static_cast<Eigen::Index>(landmarks.rows());
  const Eigen::Map<const RowMatrix> z(landmarks.values.data(), n,
                                      static_cast<Eigen::Index>(padded(landmarks.columns)));
  Eigen::MatrixXd kernel = z * z.transpose();
  const Eigen::VectorXd half = kernel.diagonal() / 2;
  kernel.colwise() -= half;
  kernel.rowwise() -= half.transpose();
  kernel = (kernel / (width * width)).cwiseMin(0.0).array().exp();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(kernel);
  if (eigen.info() != Eigen::Success) {
    throw Error(Error::Kind::numeric, "nystroem: the eigendecomposition failed");
  }
  constexpr double negligible = 1e-6;
  PaddedRows projection(landmarks.rows());
  for (Eigen::Index k = n - 1; k >= 0; --k) {  // eigenvalues ascend
    const double value = eigen.eigenvalues()[k];
    if (value <= negligible * eigen.eigenvalues()[n - 1]) break;
    Eigen::VectorXd vector = eigen.eigenvectors().col(k) / std::sqrt(value);
    Eigen::Index largest = 0;
    vector.cwiseAbs().maxCoeff(&largest);
    if (vector[largest] < 0) vector = -vector;
    projection.add(vector.data());
  }
  return projection;
}

}  // namespace

std::unique_ptr<FeatureMap> fit_nystroem(const MapSpec& spec, const MapData& data) {
  Standardised columns = Standardised::fit(data.train, data.weight);
  Landmarks landmarks(data, columns, spec.size);
  const double width = spec.width ? *spec.width : landmarks.median_distance();
  PaddedRows projection = inverse_root(landmarks.centres, width);
  std::vector<double> centre(projection.rows(), 0.0);
  auto map = std::make_unique<Nystroem>(std::move(columns), width, std::move(landmarks.centres),
                                        std::move(projection), std::move(centre));
  map->normalise_by(normalise(*map, data));
  return map;
}

std::unique_ptr<FeatureMap> load_nystroem(const nlohmann::json& json, std::size_t columns) {
  using detail::json_field;
  const char* what = "features";
  auto landmarks = PaddedRows::from_json(json, "landmarks", columns);
  auto projection = PaddedRows::from_json(json, "projection", landmarks.rows());
  auto centre = json_field<std::vector<double>>(json, "centre", what);
  const auto width = json_field<double>(json, "width", what);
  if (centre.size() != projection.rows() || !(width > 0)) {
    fail_input("features: {} nystroem outputs with {} centres and width {}", projection.rows(),
               centre.size(), width);
  }
  return std::make_unique<Nystroem>(
      Standardised::from_json(json_field<nlohmann::json>(json, "columns", what), columns), width,
      std::move(landmarks), std::move(projection), std::move(centre));
}

}  // namespace covshift
