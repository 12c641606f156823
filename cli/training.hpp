// Training and target files, for `fit`, `compare` and `diagnose`.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/read_table.hpp"

namespace covshift::cli {

/// The files of a command, prepared.
struct PreparedFiles {
  Preparation preparation;
  PreparedRows train;
  PreparedRows target;  ///< without rows if there is no target file
  ReadOptions read;     ///< for further files
};

/// Reads training and target file (empty: none) and warns of what looks wrong or is ignored.
/// `label`: the column of the class; empty: svmlight's own, or none, which is a usage error with
/// `labelled`.
PreparedFiles read_files(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common);
/// Prints the warnings of rows.
void warn_of(const PreparedRows& rows);

}  // namespace covshift::cli
