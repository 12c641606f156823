#include "covshift/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <type_traits>

#include "covshift/base/error.hpp"
#include "covshift/base/precise_sum.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

namespace {

constexpr double float_digits = 2e-7;  // values that agree to float precision are constant

/// A value x, scaled and cut. An infinite one stays so, for the check that names it.
double cut(double x, double scaled, double limit) {
  return std::isfinite(x) ? std::clamp(scaled, -limit, limit) : scaled;
}

/// Rows and how often each counts.
struct WeightedRows {
  Rows rows;
  std::span<const double> weight;

  [[nodiscard]] double weight_of(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
  /// Calls visit(column, value, weight) for every stored entry, row by row.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double w = weight_of(i);
      if (w == 0) continue;
      rows.each(i, [&](std::size_t c, double value) { visit(c, value, w); });
    }
  }
};

/// The numbers of all holders, in their order.
template <typename T>
std::vector<std::vector<T>> gathered(const Reducer& reducer, const std::vector<T>& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::vector<T>> all;
  for (const std::string& piece :
       reducer.gather({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(T)})) {
    all.emplace_back(piece.size() / sizeof(T));
    std::memcpy(all.back().data(), piece.data(), piece.size());
  }
  return all;
}

std::vector<PreciseSum> summed(const Reducer& reducer, const std::vector<PreciseSum>& own) {
  std::vector<PreciseSum> sums(own.size());
  for (const std::vector<PreciseSum>& part : gathered(reducer, own)) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(part[c]);
  }
  return sums;
}

struct Extent {
  double total = 0;  ///< of the weights
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> stored;  ///< the weight of the rows that have an entry
};

Extent no_extent(std::size_t cols) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {0, std::vector<double>(cols, infinity), std::vector<double>(cols, -infinity),
          std::vector<double>(cols)};
}

/// Puts the extents of all holders together.
Extent gathered(const Reducer& reducer, const Extent& own) {
  const std::size_t cols = own.low.size();
  std::vector<double> numbers = {own.total};
  for (const auto* values : {&own.low, &own.high, &own.stored}) {
    numbers.insert(numbers.end(), values->begin(), values->end());
  }
  Extent all = no_extent(cols);
  for (const std::vector<double>& part : gathered(reducer, numbers)) {
    all.total += part[0];
    for (std::size_t c = 0; c < cols; ++c) {
      all.low[c] = std::min(all.low[c], part[1 + c]);
      all.high[c] = std::max(all.high[c], part[1 + cols + c]);
      all.stored[c] += part[1 + 2 * cols + c];
    }
  }
  return all;
}

Extent extent_of(const WeightedRows& sample, const Reducer& reducer) {
  const std::size_t cols = sample.rows.dims();
  Extent extent = no_extent(cols);
  for (std::size_t i = 0; i < sample.rows.size(); ++i) extent.total += sample.weight_of(i);
  sample.each([&](std::size_t c, double value, double weight) {
    extent.low[c] = std::min(extent.low[c], value);
    extent.high[c] = std::max(extent.high[c], value);
    extent.stored[c] += weight;
  });
  extent = gathered(reducer, extent);
  if (!(extent.total > 0)) fail_input("scaling: no row has a positive weight");
  // Entries that a sparse matrix does not store are zero.
  for (std::size_t c = 0; c < cols; ++c) {
    if (extent.stored[c] == extent.total) continue;
    extent.low[c] = std::min(extent.low[c], 0.0);
    extent.high[c] = std::max(extent.high[c], 0.0);
  }
  return extent;
}

struct MeanDeviation {
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// A power of two in which the squares of a column's values neither overflow nor vanish; 1 unless
/// the values are extreme.
double unit_of(double low, double high) {
  constexpr double far = 1e100;
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest == 0 || !std::isfinite(largest) || (largest < far && largest > 1 / far)) return 1;
  return std::ldexp(1.0, std::max(std::ilogb(largest), -1022));
}

/// In two passes, because the difference of two large sums would cancel.
MeanDeviation moments_of(const WeightedRows& sample, const Extent& extent, const Reducer& reducer) {
  const std::size_t cols = sample.rows.dims();
  MeanDeviation moments{std::vector<double>(cols), std::vector<double>(cols)};
  std::vector<PreciseSum> sums(cols);
  std::vector<double> per(cols);  // one over the unit, exact
  for (std::size_t c = 0; c < cols; ++c) per[c] = 1 / unit_of(extent.low[c], extent.high[c]);
  sample.each([&](std::size_t c, double value, double weight) {
    sums[c].add_product(weight, value * per[c]);
  });
  sums = summed(reducer, sums);
  for (std::size_t c = 0; c < cols; ++c) moments.mean[c] = sums[c].value() / extent.total;
  sums.assign(cols, {});
  sample.each([&](std::size_t c, double value, double weight) {
    sums[c].add_square(weight, value * per[c] - moments.mean[c]);
  });
  sums = summed(reducer, sums);
  for (std::size_t c = 0; c < cols; ++c) moments.deviation[c] = sums[c].value() / extent.total;
  for (std::size_t c = 0; c < cols; ++c) {
    const double zeros = std::max(0.0, extent.total - extent.stored[c]);
    moments.deviation[c] =
        std::sqrt(moments.deviation[c] + zeros / extent.total * moments.mean[c] * moments.mean[c]);
    moments.mean[c] /= per[c];
    moments.deviation[c] /= per[c];
    // Rounding may give equal values a different mean and a deviation above zero.
    if (extent.low[c] == extent.high[c]) {
      moments.mean[c] = extent.low[c];
      moments.deviation[c] = 0.0;
    }
  }
  return moments;
}

}  // namespace

Scaler Scaler::fit(ScaleKind kind, const MatrixView& train, std::span<const double> weight,
                   const Reducer& reducer) {
  double rows = static_cast<double>(train.rows);
  reducer.sum({&rows, 1});
  if (rows == 0) fail_input("scaling: the training data have no rows");
  Scaler scaler;
  scaler.kind_ = kind;
  scaler.offsets_.assign(train.cols, 0.0);
  scaler.scales_.assign(train.cols, 1.0);
  if (kind == ScaleKind::none) return scaler;
  if (kind == ScaleKind::standard) scaler.limit_ = most_deviations;
  const WeightedRows sample{Rows(train, {}), weight};
  const bool sparse = sample.rows.sparse();
  const Extent extent = extent_of(sample, reducer);
  const MeanDeviation moments =
      kind == ScaleKind::standard ? moments_of(sample, extent, reducer) : MeanDeviation{};
  for (std::size_t c = 0; c < train.cols; ++c) {
    double scale = 0.0;
    if (kind == ScaleKind::standard) {
      scale = moments.deviation[c];
    } else if (sparse) {
      scale = std::max(std::abs(extent.low[c]), std::abs(extent.high[c]));
    } else {
      scale = extent.high[c] - extent.low[c];
    }
    if (!std::isfinite(scale) || !std::isfinite(extent.high[c] - extent.low[c])) {
      fail_input(
          "scaling: the values of feature {} (from 1) are too far apart for double precision "
          "({} to {}); correct or transform them",
          c + 1, extent.low[c], extent.high[c]);
    }
    const double largest = std::max(std::abs(extent.low[c]), std::abs(extent.high[c]));
    if (extent.high[c] - extent.low[c] > float_digits * largest) scaler.scales_[c] = scale;
    if (!sparse) {
      scaler.offsets_[c] = kind == ScaleKind::standard ? moments.mean[c] : extent.low[c];
    }
  }
  return scaler;
}

void Scaler::check_cols(std::size_t cols) const {
  if (cols == scales_.size()) return;
  fail_input("scaling was fitted on {} features, the data have {}; use the same features",
             scales_.size(), cols);
}

bool Scaler::has_offsets() const {
  return std::any_of(offsets_.begin(), offsets_.end(), [](double o) { return o != 0.0; });
}

void Scaler::apply(Matrix& matrix) const {
  check_cols(matrix.cols);
  if (kind_ == ScaleKind::none) return;
  if (matrix.sparse) {
    if (has_offsets()) {
      fail_input(
          "scaling was fitted on dense data and has offsets, which would make sparse data dense; "
          "give dense data, or fit on sparse data");
    }
    for (std::size_t k = 0; k < matrix.values.size(); ++k) {
      double& x = matrix.values[k];
      x = cut(x, x / scales_[static_cast<std::size_t>(matrix.columns[k])], limit_);
    }
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    double* const row = matrix.values.data() + r * matrix.cols;
    for (std::size_t c = 0; c < matrix.cols; ++c) {
      row[c] = cut(row[c], (row[c] - offsets_[c]) / scales_[c], limit_);
    }
  }
}

Matrix Scaler::scaled(const MatrixView& matrix) const {
  check_cols(matrix.cols);
  const Rows rows(matrix, {});
  Matrix out;
  if (rows.sparse() && !has_offsets()) {
    std::vector<std::size_t> all(matrix.rows);
    std::iota(all.begin(), all.end(), std::size_t{0});
    out = take_rows(matrix, all);
  } else {
    out = dense_copy(rows);
  }
  apply(out);
  out.finite = false;  // a value over a tiny scale may overflow
  return out;
}

nlohmann::json Scaler::to_json() const {
  nlohmann::json json = {{"kind", to_string(kind_)}, {"offsets", offsets_}, {"scales", scales_}};
  if (std::isfinite(limit_)) json["limit"] = limit_;
  return json;
}

Scaler Scaler::from_json(const nlohmann::json& json) {
  Scaler scaler;
  scaler.kind_ = parse_scale_kind(detail::json_field<std::string>(json, "kind", "scaling"));
  scaler.offsets_ = detail::json_field<std::vector<double>>(json, "offsets", "scaling");
  scaler.scales_ = detail::json_field<std::vector<double>>(json, "scales", "scaling");
  if (json.contains("limit")) scaler.limit_ = detail::json_field<double>(json, "limit", "scaling");
  const bool sound = scaler.limit_ > 0 && scaler.offsets_.size() == scaler.scales_.size() &&
                     std::all_of(scaler.scales_.begin(), scaler.scales_.end(),
                                 [](double s) { return s > 0.0 && std::isfinite(s); }) &&
                     std::all_of(scaler.offsets_.begin(), scaler.offsets_.end(),
                                 [](double o) { return std::isfinite(o); });
  if (!sound)
    fail_input("scaling: offsets or scales are invalid; the file is damaged or was edited");
  return scaler;
}

}  // namespace covshift
