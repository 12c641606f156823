// Predictions of methods over the plane of two inputs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "covshift/model/classifier.hpp"

namespace covshift {

struct MapOptions {
  /// Encoded columns of the axes; -1: no map.
  int x = -1, y = -1;
  std::string x_name, y_name;
  /// value in the units of the file = scaled * unit + origin
  double x_unit = 1, x_origin = 0, y_unit = 1, y_origin = 0;
};

/// A grid between the 0.5% and 99.5% quantiles of both samples. Other inputs are those of the
/// target's most typical row: the nearest to the medians of all columns, in units of their spread.
struct DecisionMap {
  struct Axis {
    std::string name;
    double low = 0, high = 0;  ///< centres of the first and last cell, in the units of the file
  };
  Axis x, y;
  std::size_t cells = 0;        ///< along each axis
  std::size_t typical_row = 0;  ///< of the target
  /// For each method, the likeliest class of each cell and its probability, from low to high y.
  struct Layer {
    std::string method;
    std::vector<int> label;
    std::vector<double> p;
  };
  std::vector<Layer> layers;
  /// Shares of the rows in coarser cells, without empty cells.
  struct Density {
    double x = 0, y = 0, share = 0;
  };
  std::size_t density_cells = 0;
  std::vector<Density> train, target;
};

/// The map without layers.
DecisionMap lay_out_map(const MatrixView& train, const MatrixView& target,
                        const MapOptions& options);
void add_layer(DecisionMap& map, const MapOptions& options, const MatrixView& target,
               const std::string& method, const Classifier& model, int threads);

nlohmann::ordered_json to_json(const DecisionMap& map);

}  // namespace covshift
