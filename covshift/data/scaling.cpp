#include "covshift/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/number.hpp"

namespace covshift {

namespace {

/// Calls visit(column, value) for every stored entry, row by row.
template <typename Visit>
void visit_entries(const Matrix& matrix, const Visit& visit) {
  if (matrix.sparse) {
    for (std::size_t k = 0; k < matrix.values.size(); ++k) {
      visit(static_cast<std::size_t>(matrix.columns[k]), matrix.values[k]);
    }
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    for (std::size_t c = 0; c < matrix.cols; ++c) visit(c, matrix.values[r * matrix.cols + c]);
  }
}

struct Extent {
  std::vector<double> low;
  std::vector<double> high;
  std::vector<std::size_t> stored;
};

Extent extent_of(const Matrix& matrix) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Extent extent{std::vector<double>(matrix.cols, infinity),
                std::vector<double>(matrix.cols, -infinity), std::vector<std::size_t>(matrix.cols)};
  visit_entries(matrix, [&](std::size_t c, double value) {
    extent.low[c] = std::min(extent.low[c], value);
    extent.high[c] = std::max(extent.high[c], value);
    ++extent.stored[c];
  });
  // What a sparse matrix does not store is zero.
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    if (extent.stored[c] == matrix.rows) continue;
    extent.low[c] = std::min(extent.low[c], 0.0);
    extent.high[c] = std::max(extent.high[c], 0.0);
  }
  return extent;
}

struct Moments {
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// In two passes, because the difference of two large sums would lose a small deviation.
Moments moments_of(const Matrix& matrix, const Extent& extent) {
  const auto rows = static_cast<double>(matrix.rows);
  Moments moments{std::vector<double>(matrix.cols), std::vector<double>(matrix.cols)};
  visit_entries(matrix, [&](std::size_t c, double value) { moments.mean[c] += value / rows; });
  visit_entries(matrix, [&](std::size_t c, double value) {
    const double distance = value - moments.mean[c];
    moments.deviation[c] += distance * distance / rows;
  });
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    const auto zeros = static_cast<double>(matrix.rows - extent.stored[c]);
    moments.deviation[c] =
        std::sqrt(moments.deviation[c] + zeros / rows * moments.mean[c] * moments.mean[c]);
    // The rounded mean of equal values may differ from them, and their deviation then from zero.
    if (extent.low[c] == extent.high[c]) {
      moments.mean[c] = extent.low[c];
      moments.deviation[c] = 0.0;
    }
  }
  return moments;
}

}  // namespace

ScaleKind parse_scale_kind(std::string_view name) {
  for (const ScaleKind kind : {ScaleKind::none, ScaleKind::unit, ScaleKind::standard}) {
    if (name == scale_kind_name(kind)) return kind;
  }
  fail_input("there is no scaling {}; choose unit, standard or none", quoted_excerpt(name));
}

std::string_view scale_kind_name(ScaleKind kind) {
  switch (kind) {
    case ScaleKind::unit:
      return "unit";
    case ScaleKind::standard:
      return "standard";
    default:
      return "none";
  }
}

Scaler Scaler::fit(ScaleKind kind, const Matrix& train) {
  if (train.rows == 0) fail_input("scaling: the training data have no rows");
  Scaler scaler;
  scaler.kind_ = kind;
  scaler.offsets_.assign(train.cols, 0.0);
  scaler.scales_.assign(train.cols, 1.0);
  if (kind == ScaleKind::none) return scaler;
  const Extent extent = extent_of(train);
  const Moments moments = kind == ScaleKind::standard ? moments_of(train, extent) : Moments{};
  for (std::size_t c = 0; c < train.cols; ++c) {
    double scale = 0.0;
    if (kind == ScaleKind::standard) {
      scale = moments.deviation[c];
    } else if (train.sparse) {
      scale = std::max(std::abs(extent.low[c]), std::abs(extent.high[c]));
    } else {
      scale = extent.high[c] - extent.low[c];
    }
    if (!std::isfinite(scale)) {
      fail_input(
          "scaling: the values of feature {} (from 1) are too far apart for double precision "
          "({} to {}); correct or transform them",
          c + 1, extent.low[c], extent.high[c]);
    }
    if (scale > 0.0) scaler.scales_[c] = scale;
    if (!train.sparse) {
      scaler.offsets_[c] = kind == ScaleKind::standard ? moments.mean[c] : extent.low[c];
    }
  }
  return scaler;
}

void Scaler::apply(Matrix& matrix) const {
  if (matrix.cols != cols()) {
    fail_input("scaling was fitted on {} features, the data have {}; use the same features", cols(),
               matrix.cols);
  }
  if (kind_ == ScaleKind::none) return;
  if (matrix.sparse) {
    if (std::any_of(offsets_.begin(), offsets_.end(), [](double o) { return o != 0.0; })) {
      fail_input(
          "scaling was fitted on dense data and shifts them, which would fill sparse data; "
          "give dense data, or fit on sparse data");
    }
    for (std::size_t k = 0; k < matrix.values.size(); ++k) {
      matrix.values[k] /= scales_[static_cast<std::size_t>(matrix.columns[k])];
    }
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    double* const row = matrix.values.data() + r * matrix.cols;
    for (std::size_t c = 0; c < matrix.cols; ++c) row[c] = (row[c] - offsets_[c]) / scales_[c];
  }
}

nlohmann::json Scaler::to_json() const {
  return {{"kind", scale_kind_name(kind_)}, {"offsets", offsets_}, {"scales", scales_}};
}

Scaler Scaler::from_json(const nlohmann::json& json) {
  Scaler scaler;
  scaler.kind_ = parse_scale_kind(detail::json_field<std::string>(json, "kind", "scaling"));
  scaler.offsets_ = detail::json_field<std::vector<double>>(json, "offsets", "scaling");
  scaler.scales_ = detail::json_field<std::vector<double>>(json, "scales", "scaling");
  const bool sound = scaler.offsets_.size() == scaler.scales_.size() &&
                     std::all_of(scaler.scales_.begin(), scaler.scales_.end(),
                                 [](double s) { return s > 0.0 && std::isfinite(s); }) &&
                     std::all_of(scaler.offsets_.begin(), scaler.offsets_.end(),
                                 [](double o) { return std::isfinite(o); });
  if (!sound)
    fail_input("scaling: offsets or scales are unusable; the file is damaged or was edited");
  return scaler;
}

}  // namespace covshift
