// Random Fourier features of the Gaussian kernel (Rahimi and Recht 2007): with z the standardised
// row, phi_j(x) = s (cos(f_j'z + b_j) - c_j), f_j ~ N(0, I / width^2), b_j uniform on [0, 2 pi]; s
// and c from normalise().
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numbers>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/gaussian_map.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

/// x = cos x with an absolute error of 4e-16, in a loop that compilers vectorise: with n = x / pi
/// rounded and r = x - n pi, cos x = (-1)^n cos r, and Taylor's series of cos r to r^20 (the next
/// term is at most 2e-17).
void cosines(std::vector<double>& x) {
  // n has less than 20 bits, the first two parts of pi have 33: n times these is exact.
  constexpr double limit = 1e6;
  double largest = 0;
  for (const double v : x) largest = std::max(largest, std::abs(v));
  if (!(largest <= limit)) {
    for (double& v : x) v = std::cos(v);
    return;
  }
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  for (double& v : x) {
    const double shifted = v * std::numbers::inv_pi + shifter;
    const double n = shifted - shifter;
    const double r = ((v - n * 3.14159265346825122833e+00) - n * 1.21542010126079319532e-10) -
                     n * 4.04453249759190126308e-21;
    const double z = r * r;
    double sum = 1.0 / 2432902008176640000;  // 20!
    sum = sum * z - 1.0 / 6402373705728000;
    sum = sum * z + 1.0 / 20922789888000;
    sum = sum * z - 1.0 / 87178291200;
    sum = sum * z + 1.0 / 479001600;
    sum = sum * z - 1.0 / 3628800;
    sum = sum * z + 1.0 / 40320;
    sum = sum * z - 1.0 / 720;
    sum = sum * z + 1.0 / 24;
    const double cosine = 1 - (0.5 * z - z * z * sum);
    const std::uint64_t odd = std::bit_cast<std::uint64_t>(shifted) << 63U;
    v = std::bit_cast<double>(std::bit_cast<std::uint64_t>(cosine) ^ odd);
  }
}

class Fourier final : public FeatureMap {
 public:
  Fourier(Standardised columns, double width, PaddedRows frequencies, std::vector<double> phases)
      : columns_(std::move(columns)),
        width_(width),
        frequencies_(std::move(frequencies)),
        phases_(std::move(phases)),
        normal_{std::vector<double>(phases_.size(), 0.0), 1} {}
  void normalise_by(Normalisation normal) { normal_ = std::move(normal); }

  [[nodiscard]] std::size_t outputs() const override { return phases_.size(); }
  void apply(const DenseBlock& x, double* out, std::size_t stride) const override {
    const std::size_t pitch = padded(columns_.columns());
    std::vector<double> z(block_rows * pitch);
    columns_.apply(x, z.data());
    std::vector<double> angle(outputs() * block_rows);
    kernels().times({z.data(), pitch, x.rows, columns_.columns()}, frequencies_.values.data(),
                    outputs(), angle.data());
    const std::size_t m = outputs();
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t b = 0; b < x.rows; ++b) angle[j * block_rows + b] += phases_[j];
    }
    cosines(angle);
    for (std::size_t b = 0; b < x.rows; ++b) {
      for (std::size_t j = 0; j < m; ++j) {
        out[b * stride + j] = normal_.scale * (angle[j * block_rows + b] - normal_.centre[j]);
      }
    }
  }
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::string> /*columns*/) const override {
    std::vector<std::string> list;
    for (std::size_t j = 0; j < outputs(); ++j) list.push_back(fmt::format("fourier{}", j + 1));
    return list;
  }
  [[nodiscard]] MapSpec spec() const override { return {"fourier", outputs(), width_}; }
  [[nodiscard]] nlohmann::json store() const override {
    return {{"columns", columns_.to_json()},
            {"width", width_},
            {"frequencies", frequencies_.to_json()},
            {"phases", phases_},
            {"centre", normal_.centre},
            {"scale", normal_.scale}};
  }

 private:
  Standardised columns_;
  double width_;
  PaddedRows frequencies_;
  std::vector<double> phases_;
  Normalisation normal_;
};

}  // namespace

std::unique_ptr<FeatureMap> fit_fourier(const MapSpec& spec, const MapData& data) {
  Standardised columns = Standardised::fit(data.train, data.weight);
  constexpr std::size_t enough = 150;
  const double width =
      spec.width ? *spec.width : Landmarks(data, columns, enough).median_distance();
  Random random(data.seed);
  PaddedRows frequencies(columns.columns());
  std::vector<double> phases;
  std::vector<double> one(columns.columns());
  for (std::size_t j = 0; j < spec.size; ++j) {
    for (double& f : one) f = random.normal() / width;
    frequencies.add(one.data());
    phases.push_back(random.uniform(0, 2 * std::numbers::pi));
  }
  auto map = std::make_unique<Fourier>(std::move(columns), width, std::move(frequencies),
                                       std::move(phases));
  map->normalise_by(normalise(*map, data));
  return map;
}

std::unique_ptr<FeatureMap> load_fourier(const nlohmann::json& json, std::size_t columns) {
  using detail::json_field;
  const char* what = "features";
  auto frequencies = PaddedRows::from_json(json, "frequencies", columns);
  auto phases = json_field<std::vector<double>>(json, "phases", what);
  Normalisation normal{json_field<std::vector<double>>(json, "centre", what),
                       json_field<double>(json, "scale", what)};
  if (phases.size() != frequencies.rows() || normal.centre.size() != frequencies.rows()) {
    fail_input("features: {} frequencies, {} phases and {} centres", frequencies.rows(),
               phases.size(), normal.centre.size());
  }
  auto map = std::make_unique<Fourier>(
      Standardised::from_json(json_field<nlohmann::json>(json, "columns", what), columns),
      json_field<double>(json, "width", what), std::move(frequencies), std::move(phases));
  map->normalise_by(std::move(normal));
  return map;
}

}  // namespace covshift
