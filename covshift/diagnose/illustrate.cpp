#include "covshift/diagnose/illustrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/ratio/rows.hpp"

namespace covshift {
namespace {

constexpr std::size_t shown_features = 12;
constexpr std::size_t scatter_points = 400;

std::string value_text(const Feature& feature, const Rows& rows, std::size_t row) {
  double value = 0;
  std::size_t level = feature.levels.size();
  rows.each(row, [&](std::size_t j, double v) {
    value += v;
    if (v != 0) level = j;
  });
  if (feature.levels.empty()) return fmt::format("{:.6g}", value);
  return level < feature.levels.size() ? feature.levels[level] : "(other)";
}

/// The pictures and texts that name rows.
class Illustrator {
 public:
  Illustrator(const Matrix& train, const Matrix& target, const std::vector<Feature>& features,
              const std::vector<std::size_t>& detail)
      : train_(train), target_(target), features_(features), detail_(detail) {}

  void show(Diagnosis& d, const std::vector<bool>& unsupported, std::uint64_t seed) const {
    d.shown.resize(d.features.size());
    std::iota(d.shown.begin(), d.shown.end(), std::size_t{0});
    std::stable_sort(d.shown.begin(), d.shown.end(), [&](std::size_t a, std::size_t b) {
      const FeatureShift& x = d.features[a];
      const FeatureShift& y = d.features[b];
      return std::max(x.kl, x.kl_binned) > std::max(y.kl, y.kl_binned);
    });
    scatter(d, unsupported, seed);
    d.shown.resize(std::min(d.shown.size(), shown_features));
    for (const UnsupportedRow& row : d.support.examples) {
      d.unsupported_values.push_back(values(d, row.row));
    }
    for (const RowToLabel& row : d.recommendation.label_first) {
      d.label_values.push_back(values(d, row.row));
    }
  }

 private:
  [[nodiscard]] std::vector<std::string> values(const Diagnosis& d, std::size_t row) const {
    std::vector<std::string> text;
    for (const std::size_t f : d.shown) {
      const Feature& feature = features_[detail_[f]];
      text.push_back(value_text(feature, Rows(target_.view(), feature.columns), row));
    }
    return text;
  }

  void scatter(Diagnosis& d, const std::vector<bool>& unsupported, std::uint64_t seed) const {
    std::vector<const Feature*> axes;
    for (const std::size_t f : d.shown) {
      if (axes.size() < 2 && !d.features[f].categorical) axes.push_back(&features_[detail_[f]]);
    }
    if (axes.empty()) return;
    d.scatter.x = axes[0]->name;
    if (axes.size() > 1) d.scatter.y = axes[1]->name;
    Random random(seed + 5);
    const auto draw = [&](const Matrix& x, std::vector<Scatter::Point>& points, bool is_target) {
      const std::size_t count = std::min(scatter_points, x.rows);
      for (std::size_t k = 0; k < count; ++k) {
        // One row of each of as many equal stretches of the file.
        const std::size_t first = k * x.rows / count;
        const std::size_t row = first + random.below((k + 1) * x.rows / count - first);
        double value[2] = {0, 0};  // NOLINT(*-c-arrays)
        for (std::size_t a = 0; a < axes.size(); ++a) {
          Rows(x.view(), axes[a]->columns).each(row, [&](std::size_t, double v) { value[a] += v; });
        }
        points.push_back({value[0], value[1], is_target && unsupported[row]});
      }
    };
    draw(train_, d.scatter.train, false);
    draw(target_, d.scatter.target, true);
  }

  const Matrix& train_;
  const Matrix& target_;
  const std::vector<Feature>& features_;
  const std::vector<std::size_t>& detail_;
};

}  // namespace

void illustrate(Diagnosis& d, const Matrix& train, const Matrix& target,
                const std::vector<Feature>& features, const std::vector<std::size_t>& detail,
                const std::vector<bool>& unsupported, std::uint64_t seed) {
  Illustrator(train, target, features, detail).show(d, unsupported, seed);
}

}  // namespace covshift
