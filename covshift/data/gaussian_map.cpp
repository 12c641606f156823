#include "covshift/data/gaussian_map.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/data/smooth_order.hpp"

namespace covshift {
namespace {

using detail::json_field;

double weight_of(std::span<const double> weight, std::size_t i) {
  return weight.empty() ? 1 : weight[i];
}

std::vector<double> finite_field(const nlohmann::json& json, const char* name) {
  auto values = json_field<std::vector<double>>(json, name, "features");
  if (!all_finite(values)) {
    fail_input("features: '{}' has a number that is not finite", name);
  }
  return values;
}

}  // namespace

DenseBlock DenseReader::read(std::span<const std::size_t> which) {
  const std::size_t pitch = padded(rows_.dims());
  for (std::size_t b = 0; b < which.size(); ++b) rows_.gather(which[b], buffer_.data() + b * pitch);
  return {buffer_.data(), pitch, which.size(), rows_.dims()};
}

Standardised Standardised::fit(const Rows& train, std::span<const double> weight) {
  const std::size_t p = train.dims();
  double total = 0;
  std::vector<double> mean(p, 0.0);
  for (std::size_t i = 0; i < train.size(); ++i) total += weight_of(weight, i);
  for (std::size_t i = 0; i < train.size(); ++i) {
    train.add(i, weight_of(weight, i) / total, mean.data());
  }
  // Entries that a sparse row does not store are 0.
  std::vector<double> squares(p, 0.0);
  std::vector<double> stored(p, 0.0);
  RowBuffer buffer;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const double share = weight_of(weight, i) / total;
    if (share == 0) continue;
    train.each_once(i, buffer, [&](std::size_t j, double value) {
      squares[j] += share * (value - mean[j]) * (value - mean[j]);
      stored[j] += share;
    });
  }
  Standardised own;
  own.mean_ = std::move(mean);
  for (std::size_t j = 0; j < p; ++j) {
    const double variance = squares[j] + std::max(0.0, 1 - stored[j]) * own.mean_[j] * own.mean_[j];
    const double deviation = std::sqrt(variance);
    if (!std::isfinite(deviation)) {
      fail_input("column {} of a view has values too large to standardise; scale the data", j + 1);
    }
    constexpr double rounding = 1e-7;  // the root of what the remainder of `stored` may be off by
    own.factor_.push_back(deviation > rounding * std::abs(own.mean_[j]) ? 1 / deviation : 0);
  }
  return own;
}

Standardised Standardised::from_json(const nlohmann::json& json, std::size_t columns) {
  Standardised own;
  own.mean_ = finite_field(json, "mean");
  own.factor_ = finite_field(json, "factor");
  if (own.mean_.size() != columns || own.factor_.size() != columns) {
    fail_input("features: means of {} columns for a view of {}", own.mean_.size(), columns);
  }
  return own;
}

nlohmann::json Standardised::to_json() const { return {{"mean", mean_}, {"factor", factor_}}; }

void Standardised::apply(const DenseBlock& x, double* out) const {
  const std::size_t pitch = padded(columns());
  for (std::size_t b = 0; b < x.rows; ++b, out += pitch) {
    const double* const row = x.data + b * x.stride;
    for (std::size_t j = 0; j < columns(); ++j) out[j] = value(j, row[j]);
    std::fill(out + columns(), out + pitch, 0.0);
  }
}

void PaddedRows::add(const double* row) {
  values.insert(values.end(), row, row + columns);
  values.resize(values.size() + padded(columns) - columns, 0.0);
}

nlohmann::json PaddedRows::to_json() const {
  std::vector<double> packed;
  for (std::size_t i = 0; i < rows(); ++i) packed.insert(packed.end(), row(i), row(i) + columns);
  return packed;
}

PaddedRows PaddedRows::from_json(const nlohmann::json& json, const char* name,
                                 std::size_t columns) {
  const std::vector<double> packed = finite_field(json, name);
  if (columns == 0 || packed.empty() || packed.size() % columns != 0) {
    fail_input("features: '{}' has {} numbers, which are not rows of {}", name, packed.size(),
               columns);
  }
  PaddedRows rows(columns);
  for (std::size_t at = 0; at < packed.size(); at += columns) rows.add(packed.data() + at);
  return rows;
}

Normalisation normalise(const FeatureMap& map, const MapData& data) {
  constexpr std::size_t enough = 4096;
  std::vector<std::size_t> order = drawing_order(data.train, data.weight, data.seed);
  if (order.size() > enough) order.resize(enough);
  const std::size_t m = map.outputs();
  DenseReader reader(data.train);
  std::vector<double> block(block_rows * m);
  std::vector<double> sum(m, 0.0);
  std::vector<double> squares(m, 0.0);
  double total = 0;
  for (std::size_t first = 0; first < order.size(); first += block_rows) {
    const std::size_t n = std::min(block_rows, order.size() - first);
    map.apply(reader.read(std::span(order).subspan(first, n)), block.data(), m);
    for (std::size_t b = 0; b < n; ++b) {
      const double w = weight_of(data.weight, order[first + b]);
      total += w;
      for (std::size_t j = 0; j < m; ++j) {
        const double value = block[b * m + j];
        sum[j] += w * value;
        squares[j] += w * value * value;
      }
    }
  }
  Normalisation result;
  double variance = 0;
  for (std::size_t j = 0; j < m; ++j) {
    const double mean = sum[j] / total;
    result.centre.push_back(mean);
    variance += std::max(0.0, squares[j] / total - mean * mean);
  }
  // Outputs are of order 1: less than this is rounding, of a view that is constant.
  constexpr double rounding = 1e-12;
  if (variance > rounding) {
    result.scale = std::sqrt(static_cast<double>(data.train.dims()) / variance);
  }
  return result;
}

}  // namespace covshift
