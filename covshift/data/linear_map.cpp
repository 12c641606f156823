// phi(x) = x.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

class Linear final : public FeatureMap {
 public:
  explicit Linear(std::size_t columns) : columns_(columns) {}

  [[nodiscard]] bool linear() const override { return true; }
  [[nodiscard]] std::size_t outputs() const override { return columns_; }
  void apply(const DenseBlock& x, double* out, std::size_t stride) const override {
    for (std::size_t b = 0; b < x.rows; ++b) {
      std::copy_n(x.data + b * x.stride, columns_, out + b * stride);
    }
  }
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::string> columns) const override {
    return {columns.begin(), columns.end()};
  }
  [[nodiscard]] MapSpec spec() const override { return {}; }
  [[nodiscard]] nlohmann::json store() const override { return nlohmann::json::object(); }

 private:
  std::size_t columns_;
};

}  // namespace

std::unique_ptr<FeatureMap> fit_linear(const MapSpec& /*spec*/, const MapData& data) {
  return std::make_unique<Linear>(data.train.dims());
}

std::unique_ptr<FeatureMap> load_linear(const nlohmann::json& /*json*/, std::size_t columns) {
  return std::make_unique<Linear>(columns);
}

}  // namespace covshift
