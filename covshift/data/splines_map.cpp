// Each column by itself, piecewise linear: phi(x) = (x, max(0, x - t_1), ..., max(0, x - t_K)), the
// knots t at the quantiles k/(K+1) of training and target rows, which count half each. Beyond the
// outer knots the function continues as a line. A penalty on the coefficients is one on the changes
// of slope, and no output varies more than its column.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

using Weighted = std::pair<double, double>;  // a value and its weight
using Knots = std::vector<std::vector<double>>;

class Splines final : public FeatureMap {
 public:
  Splines(std::size_t size, Knots knots) : size_(size), knots_(std::move(knots)) {
    outputs_ = knots_.size();
    for (const auto& own : knots_) outputs_ += own.size();
  }

  [[nodiscard]] std::size_t outputs() const override { return outputs_; }
  void apply(const DenseBlock& x, double* out, std::size_t stride) const override {
    for (std::size_t b = 0; b < x.rows; ++b) {
      double* to = out + b * stride;
      for (std::size_t j = 0; j < knots_.size(); ++j) {
        const double value = x.data[b * x.stride + j];
        *to++ = value;
        for (const double knot : knots_[j]) *to++ = std::max(0.0, value - knot);
      }
    }
  }
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::string> columns) const override {
    std::vector<std::string> list;
    for (std::size_t j = 0; j < knots_.size(); ++j) {
      list.push_back(columns[j]);
      for (const double knot : knots_[j])
        list.push_back(fmt::format("{}>{:.6g}", columns[j], knot));
    }
    return list;
  }
  [[nodiscard]] MapSpec spec() const override { return {"splines", size_, {}}; }
  [[nodiscard]] nlohmann::json store() const override {
    return {{"size", size_}, {"knots", knots_}};
  }

 private:
  std::size_t size_;
  Knots knots_;  ///< of each column, ascending
  std::size_t outputs_;
};

/// Adds the rows' entries to their columns' lists. The weights of all rows add up to 1/2.
void add_entries(const Rows& rows, std::span<const double> weight,
                 std::vector<std::vector<Weighted>>& columns) {
  const double total = weight.empty() ? static_cast<double>(rows.size())
                                      : std::accumulate(weight.begin(), weight.end(), 0.0);
  RowBuffer buffer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double share = 0.5 * (weight.empty() ? 1 : weight[i]) / total;
    if (share == 0) continue;
    rows.each_once(i, buffer,
                   [&](std::size_t j, double value) { columns[j].emplace_back(value, share); });
  }
}

/// The distinct quantiles k/(K+1) well between the least and the largest value. `total`: the
/// weight of all rows; what the entries lack of it is the weight of 0 (sparse rows).
std::vector<double> knots_of(std::vector<Weighted> entries, double total, std::size_t count) {
  double stored = 0;
  for (const auto& [value, share] : entries) stored += share;
  constexpr double rounding = 1e-9;
  if (total - stored > rounding) entries.emplace_back(0.0, total - stored);
  std::sort(entries.begin(), entries.end());
  std::vector<double> knots;
  if (entries.empty()) return knots;
  constexpr double digits = 1e-5;  // of the range: less is no other value
  const double apart = digits * (entries.back().first - entries.front().first);
  double below = 0;
  std::size_t next = 1;
  for (const auto& [value, share] : entries) {
    below += share;
    bool reached = false;
    // A little less than the quantile, so that it does not depend on the rounding of sums.
    while (next <= count &&
           below >
               (total * static_cast<double>(next) / static_cast<double>(count + 1)) - rounding) {
      reached = true;
      ++next;
    }
    const bool inner =
        value > entries.front().first + apart && value < entries.back().first - apart;
    if (reached && inner && (knots.empty() || value > knots.back() + apart)) knots.push_back(value);
  }
  return knots;
}

}  // namespace

std::unique_ptr<FeatureMap> fit_splines(const MapSpec& spec, const MapData& data) {
  std::vector<std::vector<Weighted>> columns(data.train.dims());
  add_entries(data.train, data.weight, columns);
  const bool both = data.target && data.target->size() > 0;
  if (both) add_entries(*data.target, {}, columns);
  Knots knots;
  for (auto& entries : columns) {
    knots.push_back(knots_of(std::move(entries), both ? 1.0 : 0.5, spec.size));
  }
  return std::make_unique<Splines>(spec.size, std::move(knots));
}

std::unique_ptr<FeatureMap> load_splines(const nlohmann::json& json, std::size_t columns) {
  auto knots = detail::json_field<Knots>(json, "knots", "features");
  const bool sound =
      knots.size() == columns && std::all_of(knots.begin(), knots.end(), [](const auto& own) {
        return std::is_sorted(own.begin(), own.end()) && all_finite(own);
      });
  if (!sound) fail_input("features: the knots of splines are invalid for {} columns", columns);
  return std::make_unique<Splines>(detail::json_field<std::size_t>(json, "size", "features"),
                                   std::move(knots));
}

}  // namespace covshift
