// Reading what a model is to learn from, for `fit`, `compare` and `diagnose`.
#pragma once

#include <string>

#include "covshift/data/read_table.hpp"

namespace covshift::cli {

struct TrainingFile {
  ReadOptions read;  ///< for further files, through Encoder::read_options
  Table table;
  std::string label;  ///< the column of the class: as named, or svmlight's own; empty: none
};

/// An Error if there is no such label; a warning where a column looks like numbers misspelt.
TrainingFile read_training(const std::string& path, const std::string& label, int threads);
/// The same, and a usage error if there is no label.
TrainingFile read_labelled(const std::string& path, const std::string& label, int threads);

}  // namespace covshift::cli
