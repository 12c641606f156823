// The parts of a model as formulas of tensors, from what the model file says of them
// (docs/model-file.md); private to export/.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "covshift/data/preparation.hpp"
#include "covshift/export/graph.hpp"
#include "covshift/game/game.hpp"

namespace covshift {

/// Rows, encoded and scaled.
struct ScaledInputs {
  Tensor x;
  /// A column of 0; NaN in rows that `predict` refuses: missing where that is an error, infinite.
  Tensor valid;
  bool cut = false;                         ///< values far off are cut: no product can overflow
  std::map<std::string, Tensor> densities;  ///< the columns that supply some, by name
};
/// The inputs of the graph: one matrix X if all columns are numbers, else one for each column.
ScaledInputs scaled_inputs(Graph& graph, const Preparation& preparation,
                           const nlohmann::json& body);

/// What a fitted map makes of all columns of x.
struct Outputs {
  Tensor features;
  std::size_t count;
};
Outputs map_outputs(const nlohmann::json& map, const Tensor& x, std::size_t columns);

/// A column of log P_test(x)/P_train(x). `cut`: x is bounded.
Tensor log_ratio_of(const nlohmann::json& ratio, const Tensor& x, bool cut);

/// The predictor's answer to potentials: rows of probabilities of the actions. Throws Error if it
/// has no closed form.
Tensor predictor(const Game& game, const Tensor& psi);

}  // namespace covshift
