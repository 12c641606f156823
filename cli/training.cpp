#include "cli/training.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"

namespace covshift::cli {
namespace {

std::vector<KeptColumn> kept_columns(const Table& table, const std::vector<std::string>& names) {
  std::vector<KeptColumn> kept;
  for (const std::string& name : names) {
    const Column* const column = table.find(name);
    if (column == nullptr) continue;
    kept.push_back({name, {}});
    for (std::size_t i = 0; i < table.rows; ++i) kept.back().text.push_back(column->text(i));
  }
  return kept;
}

}  // namespace

void check_columns(const ColumnOptions& columns, const std::string& label) {
  using Named = std::pair<const char*, const std::vector<std::string>*>;
  const auto has = [](const Named& option, const std::string& name) {
    return std::find(option.second->begin(), option.second->end(), name) != option.second->end();
  };
  const std::array<Named, 3> kinds = {Named{"--numeric", &columns.numeric},
                                      {"--categorical", &columns.categorical},
                                      {"--dates", &columns.dates}};
  for (const Named& option : {Named{"--drop", &columns.drop}, kinds[0], kinds[2]}) {
    if (label.empty() || !has(option, label)) continue;
    throw CLI::ValidationError(
        option.first,
        fmt::format("'{}' is the column of the class (--label), not an input", label));
  }
  for (std::size_t k = 1; k < kinds.size(); ++k) {
    for (const std::string& name : *kinds[k].second) {
      const auto other = std::find_if(kinds.begin(), kinds.begin() + k,
                                      [&](const Named& before) { return has(before, name); });
      if (other == kinds.begin() + k) continue;
      throw CLI::ValidationError(
          kinds[k].first,
          fmt::format("{} names the column '{}' as well; it can only be one of both", other->first,
                      name));
    }
  }
}

void check_classes(const Summary& train, const PreparationOptions& options) {
  if (train.label() == nullptr) return;
  std::vector<std::string> labels;
  for (const auto& [text, count] : train.label()->levels) labels.push_back(text);
  const Classes found = Classes::fit(labels);
  const std::vector<std::string>& names = found.names();
  for (const std::string& name : options.classes) {
    if (found.index_of(name) >= 0) continue;
    constexpr std::size_t shown = 12;
    const std::vector<std::string_view> known(names.begin(), names.end());
    fail_input("{}: --classes names '{}', but column '{}' has the classes {}{}{}", train.source,
               name, options.label,
               fmt::join(known.begin(), known.begin() + std::min(known.size(), shown), ", "),
               known.size() > shown ? ", ..." : "", suggestion(name, known));
  }
}

ReadOptions read_options(const PreparationOptions& options, const Common& common) {
  ReadOptions read = common.read;
  read.threads = common.threads;
  const ColumnOptions& columns = options.columns;
  read.text_columns = columns.categorical;
  read.text_columns.insert(read.text_columns.end(), columns.dates.begin(), columns.dates.end());
  if (!options.label.empty()) read.text_columns.push_back(options.label);
  return read;
}

PreparedFiles read_files(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common) {
  options.label = label;
  ReadOptions read = read_options(options, common);
  Table table = read_data(train, read);
  if (label.empty() && table.sparse) options.label = unnamed_label;
  if (labelled && options.label.empty()) {
    throw CLI::ValidationError("--label", "name the column that holds the class");
  }
  if (!options.label.empty()) static_cast<void>(table.at(options.label));
  Summary summary = summarise(table, options);
  check_classes(summary, options);
  Preparation preparation(summary, options);
  summary = {};  // it is as large as the file where columns are many
  PreparedRows train_rows = preparation.encode_training(table, common.threads);
  print_warnings(train_rows);
  train_rows.warnings.clear();
  table = {};  // frees memory before the next file is read
  PreparedRows target_rows;
  std::vector<KeptColumn> kept;
  if (!target.empty()) {
    ReadOptions other = preparation.read_options(read);
    // As text, so that they are copied as they are written: 007.
    const std::vector<std::string>& keep = options.columns.keep;
    other.text_columns.insert(other.text_columns.end(), keep.begin(), keep.end());
    table = read_data(target, other);
    kept = kept_columns(table, keep);
    target_rows = preparation.encode(table, common.threads);
    table = {};
  }
  preparation.fit(train_rows, target.empty() ? nullptr : &target_rows, common.threads);
  print_warnings(train_rows);
  print_warnings(target_rows);
  return {std::move(preparation), std::move(train_rows), std::move(target_rows), std::move(read),
          std::move(kept)};
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
