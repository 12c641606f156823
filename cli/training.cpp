#include "cli/training.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/output.hpp"
#include "covshift/data/number.hpp"

namespace covshift::cli {
namespace {

/// A column of numbers but for a few texts is probably a typing error, and costs a feature for each
/// of its values.
void warn_of_typing_errors(const Table& train, const std::string& label) {
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
          fmt::format("{}: column '{}' holds numbers, but '{}' here is none; all of its {} values "
                      "are taken as categories",
                      train.where(first_text, column), column.name, column.text(first_text),
                      column.levels.size()));
    }
  }
}

}  // namespace

TrainingFile read_training(const std::string& path, const std::string& label, int threads) {
  TrainingFile file;
  file.read.threads = threads;
  if (!label.empty()) file.read.text_columns = {label};
  file.table = read_table(path, file.read);
  file.label = label.empty() && file.table.sparse ? std::string(unnamed_label) : label;
  if (!file.label.empty()) static_cast<void>(file.table.at(file.label));
  warn_of_typing_errors(file.table, file.label);
  return file;
}

TrainingFile read_labelled(const std::string& path, const std::string& label, int threads) {
  TrainingFile file = read_training(path, label, threads);
  if (file.label.empty()) {
    throw CLI::ValidationError("--label", "say which column holds the class");
  }
  return file;
}

}  // namespace covshift::cli
