// What the maps with a Gaussian kernel exp(-||x - z||^2 / (2 width^2)) share.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "covshift/data/feature_map.hpp"
#include "covshift/data/scaling.hpp"

namespace covshift {

/// Columns in standard deviations from their mean in training, cut at +-8: distances then neither
/// depend on the scaling of the data nor are ruled by one column or outlier. A column that is
/// constant in training becomes 0.
class Standardised {
 public:
  static Standardised fit(const Rows& train, std::span<const double> weight);
  static Standardised from_json(const nlohmann::json& json, std::size_t columns);
  [[nodiscard]] nlohmann::json to_json() const;

  [[nodiscard]] std::size_t columns() const { return mean_.size(); }
  /// Row b goes to out + b * padded(columns); 0 beyond the columns.
  void apply(const DenseBlock& x, double* out) const;
  /// The standardised value of column j.
  [[nodiscard]] double value(std::size_t j, double x) const {
    return factor_[j] == 0
               ? 0
               : std::clamp((x - mean_[j]) * factor_[j], -most_deviations, most_deviations);
  }

 private:
  std::vector<double> mean_;
  std::vector<double> factor_;
};

/// Numbers as `Kernels::times` reads weights: `rows` rows of padded(columns).
struct PaddedRows {
  PaddedRows() = default;
  explicit PaddedRows(std::size_t width) : columns(width) {}

  [[nodiscard]] std::size_t rows() const {
    return columns == 0 ? 0 : values.size() / padded(columns);
  }
  [[nodiscard]] const double* row(std::size_t i) const {
    return values.data() + i * padded(columns);
  }
  [[nodiscard]] double* row(std::size_t i) { return values.data() + i * padded(columns); }
  void add(const double* row);  ///< `columns` numbers
  [[nodiscard]] nlohmann::json to_json() const;
  static PaddedRows from_json(const nlohmann::json& json, const char* name, std::size_t columns);

  std::size_t columns = 0;
  std::vector<double> values;
};

/// Up to `count` clusters of standardised rows of training and target, which count half each. A
/// smooth function of the rows, except for those that a cut passes through. Beyond 4,096 rows of a
/// sample, some of them, drawn by the seed.
struct Landmarks {
  Landmarks(const MapData& data, const Standardised& scale, std::size_t count);

  /// The median distance between rows of different clusters, about; 1 if all are the same.
  [[nodiscard]] double median_distance() const;

  PaddedRows centres;            ///< the clusters' means
  std::vector<double> share;     ///< of all rows
  std::vector<double> variance;  ///< the mean squared distance from the centre
};

/// Mean and scale that give a map's outputs mean 0 on the training rows (some thousands of them)
/// and as much variance in total as there are columns, i.e. as standardised columns have, so that
/// the same regularisation suits both.
struct Normalisation {
  std::vector<double> centre;
  double scale = 1;
};
Normalisation normalise(const FeatureMap& map, const MapData& data);

/// Blocks of rows as dense numbers; the padding is 0.
class DenseReader {
 public:
  explicit DenseReader(const Rows& rows) : rows_(rows), buffer_(block_rows * padded(rows.dims())) {}
  /// The given rows, at most block_rows; valid until the next call.
  DenseBlock read(std::span<const std::size_t> which);

 private:
  Rows rows_;
  std::vector<double> buffer_;
};

}  // namespace covshift
