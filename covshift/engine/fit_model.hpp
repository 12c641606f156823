// A complete model from rows that several holders have, each a part.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/engine/fit_parts.hpp"
#include "covshift/model/model.hpp"

namespace covshift {

/// What one holder has.
struct ModelPart {
  const Input* train = nullptr;   ///< null: no training rows
  const Input* target = nullptr;  ///< null: no target rows
  bool shifted = false;           ///< some holder has target rows: the same at all
  /// Called once the rows are encoded and scaled; true: they still are where the caller has them,
  /// which must stay.
  std::function<void(bool)> prepared;
};

struct FittedParts {
  Model model;
  std::vector<std::string> warnings;  ///< about this holder's rows
};

/// What Model::fit does to all rows together: columns, categories, classes and scaling are learned
/// from all parts. A meeting of all holders; all get the same model. Throws Error also if a column
/// holds numbers at one holder and text at another.
FittedParts fit_model(const ModelPart& part, const ModelOptions& options, const Reducer& reducer,
                      const PartsOptions& parts = {});

}  // namespace covshift
