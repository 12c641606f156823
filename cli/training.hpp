// Training and target files, for `fit`, `compare` and `diagnose`.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/summary.hpp"

namespace covshift::cli {

/// A column of --keep: its text in every row.
struct KeptColumn {
  std::string name;
  std::vector<std::string> text;
};

/// The files of a command, prepared.
struct PreparedFiles {
  Preparation preparation;
  PreparedRows train;
  PreparedRows target;           ///< without rows if there is no target file
  ReadOptions read;              ///< for further files
  std::vector<KeptColumn> kept;  ///< of the target, where it has them
};

/// Reads training and target file (empty: none) and warns about what looks wrong or is ignored.
/// `label`: the column of the class; empty: that of an svmlight file, or none, which is a usage
/// error if `labelled`.
PreparedFiles read_files(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common);
/// A usage error if what is said of columns contradicts itself: the label left out, or a column of
/// numbers that is one of categories.
void check_columns(const ColumnOptions& columns, const std::string& label);
/// Throws Error if --classes names one that the label has not, with that which was probably meant.
void check_classes(const Summary& train, const PreparationOptions& options);
/// How the first file is read: labels, categories and dates as text.
ReadOptions read_options(const PreparationOptions& options, const Common& common);
void print_warnings(const PreparedRows& rows);
/// Reads a data file and says what had to be assumed about it.
Table read_data(const std::string& path, const ReadOptions& options);

}  // namespace covshift::cli
