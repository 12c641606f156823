#include "covshift/compare/decision_map.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/ratio/samples.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t map_cells = 36;
constexpr std::size_t coarse_cells = 18;
constexpr std::size_t most_columns = 2000;  // of the search for a typical row

double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// The row nearest to the medians. Large samples are subsampled with equal strides.
std::size_t typical_row(const MatrixView& x) {
  constexpr std::size_t most_rows = 5000;
  const std::size_t stride = (x.rows + most_rows - 1) / most_rows;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < x.rows; i += stride) which.push_back(i);
  std::vector<double> apart(which.size(), 0.0);
  std::vector<double> values(which.size());
  for (std::size_t j = 0; j < std::min(x.cols, most_columns); ++j) {
    const std::vector<std::int32_t> columns = {static_cast<std::int32_t>(j)};
    const Rows rows(x, columns);
    for (std::size_t i = 0; i < which.size(); ++i) {
      values[i] = 0;
      rows.each(which[i], [&](std::size_t, double v) { values[i] += v; });
    }
    std::vector<double> sorted = values;
    const double median = quantile(sorted, 0.5);
    const double spread = quantile(sorted, 0.9) - quantile(sorted, 0.1);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double z = (values[i] - median) / (spread > 0 ? spread : 1.0);
      apart[i] += z * z;
    }
  }
  return which[static_cast<std::size_t>(std::min_element(apart.begin(), apart.end()) -
                                        apart.begin())];
}

std::vector<DecisionMap::Density> density(const std::vector<double>& x,
                                          const std::vector<double>& y, const DecisionMap& map,
                                          const MapOptions& options) {
  std::vector<double> count(coarse_cells * coarse_cells, 0.0);
  const auto cell = [](double value, const DecisionMap::Axis& axis, std::size_t& at) {
    const double position = (value - axis.low) / (axis.high - axis.low) * coarse_cells;
    if (!(position >= 0 && position <= coarse_cells)) return false;
    at = std::min(coarse_cells - 1, static_cast<std::size_t>(position));
    return true;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t a = 0;
    std::size_t b = 0;
    if (cell(x[i] * options.x_unit + options.x_origin, map.x, a) &&
        cell(y[i] * options.y_unit + options.y_origin, map.y, b)) {
      count[b * coarse_cells + a] += 1;
    }
  }
  std::vector<DecisionMap::Density> out;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 0) continue;
    const auto centre = [](std::size_t at, const DecisionMap::Axis& axis) {
      return axis.low + (static_cast<double>(at) + 0.5) / coarse_cells * (axis.high - axis.low);
    };
    out.push_back({centre(c % coarse_cells, map.x), centre(c / coarse_cells, map.y),
                   count[c] / static_cast<double>(x.size())});
  }
  return out;
}

}  // namespace

DecisionMap lay_out_map(const MatrixView& train, const MatrixView& target,
                        const MapOptions& options) {
  DecisionMap map;
  map.cells = map_cells;
  map.density_cells = coarse_cells;
  map.typical_row = typical_row(target);
  const auto axis = [&](int column, const std::string& name, double unit, double origin) {
    std::vector<double> both = take_column(train, column);
    const std::vector<double> more = take_column(target, column);
    both.insert(both.end(), more.begin(), more.end());
    double low = quantile(both, 0.005);
    double high = quantile(both, 0.995);
    if (!(low < high)) {
      low -= 0.5;
      high += 0.5;
    }
    return DecisionMap::Axis{name, low * unit + origin, high * unit + origin};
  };
  map.x = axis(options.x, options.x_name, options.x_unit, options.x_origin);
  map.y = axis(options.y, options.y_name, options.y_unit, options.y_origin);
  map.train = density(take_column(train, options.x), take_column(train, options.y), map, options);
  map.target =
      density(take_column(target, options.x), take_column(target, options.y), map, options);
  return map;
}

void add_layer(DecisionMap& map, const MapOptions& options, const MatrixView& target,
               const std::string& method, const Classifier& model, int threads) {
  std::vector<double> row(target.cols, 0.0);
  Rows(target, {}).each(map.typical_row, [&](std::size_t j, double v) { row[j] += v; });
  std::vector<double> grid;
  grid.reserve(map.cells * map.cells * target.cols);
  const auto at = [&](const DecisionMap::Axis& axis, std::size_t k, double unit, double origin) {
    const double t = static_cast<double>(k) / static_cast<double>(map.cells - 1);
    return (axis.low * (1 - t) + axis.high * t - origin) / unit;
  };
  for (std::size_t b = 0; b < map.cells; ++b) {
    for (std::size_t a = 0; a < map.cells; ++a) {
      row[static_cast<std::size_t>(options.x)] = at(map.x, a, options.x_unit, options.x_origin);
      row[static_cast<std::size_t>(options.y)] = at(map.y, b, options.y_unit, options.y_origin);
      grid.insert(grid.end(), row.begin(), row.end());
    }
  }
  const Predictions p = model.predict(
      MatrixView::dense(grid.data(), map.cells * map.cells, target.cols), {}, threads);
  DecisionMap::Layer layer{method, p.action, {}};
  for (std::size_t i = 0; i < p.rows; ++i) {
    layer.p.push_back(p.p[i * static_cast<std::size_t>(p.actions) + p.action[i]]);
  }
  map.layers.push_back(std::move(layer));
}

nlohmann::ordered_json to_json(const DecisionMap& map) {
  const auto axis = [](const DecisionMap::Axis& a) {
    return Json{{"name", a.name}, {"low", a.low}, {"high", a.high}};
  };
  const auto points = [](const std::vector<DecisionMap::Density>& list) {
    Json out = Json::array();
    for (const auto& d : list) out.push_back({d.x, d.y, d.share});
    return out;
  };
  Json layers = Json::array();
  for (const DecisionMap::Layer& layer : map.layers) {
    Json p = Json::array();  // to four digits: enough for a picture
    for (const double x : layer.p) p.push_back(std::round(x * 1e4) / 1e4);
    layers.push_back({{"method", layer.method}, {"class", layer.label}, {"p", std::move(p)}});
  }
  return {{"x", axis(map.x)},
          {"y", axis(map.y)},
          {"cells", map.cells},
          {"typical_row", map.typical_row + 1},
          {"density_cells", map.density_cells},
          {"train", points(map.train)},
          {"target", points(map.target)},
          {"methods", std::move(layers)}};
}

}  // namespace covshift
