#include "covshift/diagnose/illustrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/diagnose/distributions.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {
namespace {

constexpr std::size_t shown_features = 12;
constexpr std::size_t scatter_points = 400;

/// The value of a feature in a row, in the units of the file.
double value_of(const DiagnoseData& data, const MatrixView& x, const Feature& feature,
                std::size_t row) {
  double value = 0;
  Rows(x, feature.columns).each(row, [&](std::size_t, double v) { value += v; });
  return data.units.original(static_cast<std::size_t>(feature.columns[0]), value);
}

std::string value_text(const DiagnoseData& data, const Feature& feature, std::size_t row) {
  if (feature.levels.empty()) {
    return fmt::format("{:.6g}", value_of(data, data.target, feature, row));
  }
  const Rows rows(data.target, feature.columns);
  const std::size_t level = category_of(feature, rows, row, data.units);
  return level < feature.levels.size() ? feature.levels[level] : "(other)";
}

void draw_scatter(Diagnosis& d, const DiagnoseData& data, const std::vector<std::size_t>& detail,
                  const std::vector<bool>& unsupported, std::uint64_t seed) {
  std::vector<const Feature*> axes;
  for (const std::size_t f : d.shown) {
    if (axes.size() < 2 && !d.features[f].categorical) axes.push_back(&data.features[detail[f]]);
  }
  if (axes.empty()) return;
  d.scatter.x = axes[0]->name;
  if (axes.size() > 1) d.scatter.y = axes[1]->name;
  Random random(seed + 5);
  const auto draw = [&](const MatrixView& x, std::vector<Scatter::Point>& points, bool is_target) {
    const std::size_t count = std::min(scatter_points, x.rows);
    for (std::size_t k = 0; k < count; ++k) {
      // One row from each of `count` equal stretches of the file.
      const std::size_t first = k * x.rows / count;
      const std::size_t row = first + random.below((k + 1) * x.rows / count - first);
      points.push_back({value_of(data, x, *axes[0], row),
                        axes.size() > 1 ? value_of(data, x, *axes[1], row) : 0.0,
                        is_target && unsupported[row]});
    }
  };
  draw(data.train, d.scatter.train, false);
  draw(data.target, d.scatter.target, true);
}

}  // namespace

void illustrate(Diagnosis& d, const DiagnoseData& data, const std::vector<std::size_t>& detail,
                const std::vector<bool>& unsupported, std::uint64_t seed) {
  d.shown.resize(d.features.size());
  std::iota(d.shown.begin(), d.shown.end(), std::size_t{0});
  std::stable_sort(d.shown.begin(), d.shown.end(), [&](std::size_t a, std::size_t b) {
    const FeatureShift& x = d.features[a];
    const FeatureShift& y = d.features[b];
    return std::max(x.kl, x.kl_binned) > std::max(y.kl, y.kl_binned);
  });
  draw_scatter(d, data, detail, unsupported, seed);
  d.shown.resize(std::min(d.shown.size(), shown_features));
  const auto values = [&](std::size_t row) {
    std::vector<std::string> text;
    for (const std::size_t f : d.shown) {
      text.push_back(value_text(data, data.features[detail[f]], row));
    }
    return text;
  };
  for (const UnsupportedRow& row : d.support.examples) {
    d.unsupported_values.push_back(values(row.row));
  }
  for (const RowToLabel& row : d.recommendation.label_first) {
    d.label_values.push_back(values(row.row));
  }
}

}  // namespace covshift
