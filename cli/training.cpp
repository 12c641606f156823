#include "cli/training.hpp"

#include <CLI/CLI.hpp>

#include "cli/output.hpp"

namespace covshift::cli {
PreparedFiles read_files(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common) {
  ReadOptions read = common.read;
  read.threads = common.threads;
  const ColumnOptions& columns = options.columns;
  read.text_columns = columns.categorical;
  read.text_columns.insert(read.text_columns.end(), columns.dates.begin(), columns.dates.end());
  if (!label.empty()) read.text_columns.push_back(label);
  Table table = read_data(train, read);
  options.label = label.empty() && table.sparse ? std::string(unnamed_label) : label;
  if (labelled && options.label.empty()) {
    throw CLI::ValidationError("--label", "name the column that holds the class");
  }
  if (!options.label.empty()) static_cast<void>(table.at(options.label));
  Preparation preparation(table, options);
  PreparedRows train_rows = preparation.encode_training(table, common.threads);
  print_warnings(train_rows);
  table = {};  // frees memory before the next file is read
  PreparedRows target_rows;
  if (!target.empty()) {
    target_rows =
        preparation.encode(read_data(target, preparation.read_options(read)), common.threads);
  }
  print_warnings(target_rows);
  preparation.fit(train_rows, target.empty() ? nullptr : &target_rows, common.threads);
  return {std::move(preparation), std::move(train_rows), std::move(target_rows), std::move(read)};
}

Table read_data(const std::string& path, const ReadOptions& options) {
  Table table = read_table(path, options);
  for (const std::string& note : table.notes) warn(note);
  return table;
}

void print_warnings(const PreparedRows& rows) {
  for (const std::string& warning : rows.warnings) warn(warning);
}

}  // namespace covshift::cli
