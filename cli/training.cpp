#include "cli/training.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/output.hpp"
#include "covshift/base/number.hpp"

namespace covshift::cli {
namespace {

/// A few strings in a column of numbers are probably typos, and turn each value into a feature.
void warn_of_typos(const Table& train, const std::string& label) {
  for (const Column& column : train.columns) {
    if (!column.categorical || column.name == label) continue;
    std::size_t numbers = 0;
    std::size_t first_text = train.rows;
    for (std::size_t row = 0; row < train.rows; ++row) {
      if (column.missing(row)) continue;
      if (parse_number(column.levels[column.codes[row]])) {
        ++numbers;
      } else {
        first_text = std::min(first_text, row);
      }
    }
    if (first_text < train.rows && 2 * numbers > train.rows) {
      warn(
          fmt::format("{}: column '{}' holds numbers, but '{}' is not one; all of its {} values "
                      "are taken as categories",
                      train.where(first_text, column), column.name, column.text(first_text),
                      column.levels.size()));
    }
  }
}

}  // namespace

PreparedFiles read_files(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common) {
  ReadOptions read;
  read.threads = common.threads;
  if (!label.empty()) read.text_columns = {label};
  Table table = read_table(train, read);
  options.label = label.empty() && table.sparse ? std::string(unnamed_label) : label;
  if (labelled && options.label.empty()) {
    throw CLI::ValidationError("--label", "name the column that holds the class");
  }
  if (!options.label.empty()) static_cast<void>(table.at(options.label));
  warn_of_typos(table, options.label);
  Preparation preparation(table, options);
  PreparedRows train_rows = preparation.encode_training(table, common.threads);
  table = {};  // frees memory before the next file is read
  PreparedRows target_rows;
  if (!target.empty()) {
    target_rows =
        preparation.encode(read_table(target, preparation.read_options(read)), common.threads);
  }
  print_warnings(target_rows);
  preparation.fit(train_rows, target.empty() ? nullptr : &target_rows, common.threads);
  return {std::move(preparation), std::move(train_rows), std::move(target_rows), std::move(read)};
}

void print_warnings(const PreparedRows& rows) {
  for (const std::string& warning : rows.warnings) warn(warning);
}

}  // namespace covshift::cli
