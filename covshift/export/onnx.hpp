// export/: fitted models in a format that other programs run.
#pragma once

#include <string>

#include "covshift/model/model.hpp"

namespace covshift {

/// The model as an ONNX file: the bytes of a ModelProto, in standard operators on double precision
/// (docs/export.md). Inputs are the columns of the training data (one matrix `X` if all are
/// numbers), outputs `label`, `probabilities` and `log_ratio`, as predict() gives them. Throws
/// Error if the predictions have no closed form.
std::string to_onnx(const Model& model);

}  // namespace covshift
