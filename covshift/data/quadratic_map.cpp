// phi(x) = (x_i for all i, then x_i x_j for all i <= j, ordered by i and then j). The products are
// left as they are: with unit scaling they lie in [0, 1] as the columns do, with standard scaling
// those of independent columns have variance 1.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

class Quadratic final : public FeatureMap {
 public:
  explicit Quadratic(std::size_t columns) : columns_(columns) {
    constexpr std::size_t most = 1000;
    if (columns > most) {
      fail_input(
          "the map quadratic of {} columns would have {} features; use it in views of at most {} "
          "columns, or another map",
          columns, outputs(), most);
    }
  }

  [[nodiscard]] std::size_t outputs() const override {
    return columns_ + columns_ * (columns_ + 1) / 2;
  }
  void apply(const DenseBlock& x, double* out, std::size_t stride) const override {
    for (std::size_t b = 0; b < x.rows; ++b) {
      const double* const row = x.data + b * x.stride;
      double* to = std::copy_n(row, columns_, out + b * stride);
      for (std::size_t i = 0; i < columns_; ++i) {
        for (std::size_t j = i; j < columns_; ++j) *to++ = row[i] * row[j];
      }
    }
  }
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::string> columns) const override {
    std::vector<std::string> list(columns.begin(), columns.end());
    for (std::size_t i = 0; i < columns_; ++i) {
      list.push_back(columns[i] + "^2");
      for (std::size_t j = i + 1; j < columns_; ++j) list.push_back(columns[i] + "*" + columns[j]);
    }
    return list;
  }
  [[nodiscard]] MapSpec spec() const override { return {"quadratic", 0, {}}; }
  [[nodiscard]] nlohmann::json store() const override { return nlohmann::json::object(); }

 private:
  std::size_t columns_;
};

}  // namespace

std::unique_ptr<FeatureMap> fit_quadratic(const MapSpec& /*spec*/, const MapData& data) {
  return std::make_unique<Quadratic>(data.train.dims());
}

std::unique_ptr<FeatureMap> load_quadratic(const nlohmann::json& /*json*/, std::size_t columns) {
  return std::make_unique<Quadratic>(columns);
}

}  // namespace covshift
