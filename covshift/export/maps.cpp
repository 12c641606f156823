// Feature maps (docs/features.md has the formulas).
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/export/parts.hpp"

namespace covshift {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

/// Columns in standard deviations, cut at +-8; a constant one is 0.
Tensor standardised(const json& columns, const Tensor& x) {
  constexpr double cut = 8;
  Graph& g = *x.graph;
  return clip((x - g.numbers(columns.at("mean"))) * g.numbers(columns.at("factor")), -cut, cut);
}

/// The rows of a matrix as columns.
Numbers transposed(const Numbers& values, std::size_t rows) {
  Numbers out(values.size());
  const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = values[i * columns + j];
  }
  return out;
}

Outputs quadratic(const Tensor& x, std::size_t columns) {
  std::vector<std::int64_t> left, right;
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = i; j < columns; ++j) {
      left.push_back(static_cast<std::int64_t>(i));
      right.push_back(static_cast<std::int64_t>(j));
    }
  }
  return {beside({x, columns_of(x, left) * columns_of(x, right)}), columns + left.size()};
}

/// x and max(0, x - knot) for each knot, column by column.
Outputs splines(const json& map, const Tensor& x) {
  std::vector<std::int64_t> column, order;
  Numbers knots;
  const auto all = map.at("knots").get<std::vector<Numbers>>();
  for (std::size_t j = 0; j < all.size(); ++j) {
    order.push_back(static_cast<std::int64_t>(j));
    for (const double knot : all[j]) {
      order.push_back(static_cast<std::int64_t>(all.size() + knots.size()));
      column.push_back(static_cast<std::int64_t>(j));
      knots.push_back(knot);
    }
  }
  if (knots.empty()) return {x, order.size()};
  const Tensor beyond = at_least(columns_of(x, column) - x.graph->numbers(knots), 0);
  return {columns_of(beside({x, beyond}), order), order.size()};
}

Outputs fourier(const json& map, const Tensor& x, std::size_t columns) {
  Graph& g = *x.graph;
  const auto phases = map.at("phases").get<Numbers>();
  const Tensor frequencies = g.numbers(transposed(map.at("frequencies"), phases.size()), columns);
  const Tensor angle = times(standardised(map.at("columns"), x), frequencies) + g.numbers(phases);
  // onnxruntime would round a scalar factor beside a product of matrices to single precision.
  const auto scale = map.at("scale").get<double>();
  auto centre = map.at("centre").get<Numbers>();
  for (double& c : centre) c *= scale;
  return {apply("Cos", angle) * scale - g.numbers(centre), phases.size()};
}

Outputs nystroem(const json& map, const Tensor& x, std::size_t columns) {
  Graph& g = *x.graph;
  const auto landmarks = map.at("landmarks").get<Numbers>();
  const auto centre = map.at("centre").get<Numbers>();
  const std::size_t count = landmarks.size() / columns;
  Numbers half(count, 0.0);
  for (std::size_t i = 0; i < landmarks.size(); ++i) {
    half[i / columns] += landmarks[i] * landmarks[i] / 2;
  }
  // -||z - l||^2 / (2 width^2) = (z'l - ||z||^2/2 - ||l||^2/2) / width^2
  const Tensor z = standardised(map.at("columns"), x);
  const Tensor product = times(z, g.numbers(transposed(landmarks, count), columns));
  const double width = map.at("width").get<double>();
  const Tensor exponent =
      (product - over_row("ReduceSum", z * z) * 0.5 - g.numbers(half)) * (1 / (width * width));
  const Tensor kernel = apply("Exp", at_most(exponent, 0));
  const Numbers projection = transposed(map.at("projection"), centre.size());
  return {times(kernel, g.numbers(projection, count)) - g.numbers(centre), centre.size()};
}

}  // namespace

Outputs map_outputs(const json& map, const Tensor& x, std::size_t columns) {
  const auto name = map.at("map").get<std::string>();
  if (name == "linear") return {x, columns};
  if (name == "quadratic") return quadratic(x, columns);
  if (name == "splines") return splines(map, x);
  if (name == "fourier") return fourier(map, x, columns);
  if (name == "nystroem") return nystroem(map, x, columns);
  fail_input("the map of features '{}' cannot be exported; predict with covshift", name);
}

}  // namespace covshift
