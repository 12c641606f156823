#include "covshift/data/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/labels.hpp"

namespace covshift {

namespace {

/// A column with more levels than this holds identifiers or free text; encoding them would fill the
/// memory and teach nothing.
constexpr std::size_t most_levels = 10'000;

std::vector<std::string> occurring_levels(const Column& column) {
  std::vector<char> occurs(column.levels.size(), 0);
  for (const std::int32_t code : column.codes) {
    if (code >= 0) occurs[static_cast<std::size_t>(code)] = 1;
  }
  std::vector<std::string> levels;
  for (std::size_t k = 0; k < occurs.size(); ++k) {
    if (occurs[k] != 0) levels.push_back(column.levels[k]);
  }
  sort_levels(levels);
  return levels;
}

}  // namespace

void Encoder::add(Source source) {
  source.first = source_of_.size();
  const std::size_t width = source.categorical ? source.levels.size() : 1;
  source_of_.insert(source_of_.end(), width, static_cast<std::int32_t>(sources_.size()));
  sources_.push_back(std::move(source));
}

void Encoder::add_numbered(std::size_t cols, std::string_view prefix, std::size_t first) {
  for (std::size_t c = first; c < first + cols; ++c) {
    add({fmt::format("{}{}", prefix, c), false, {}, 0});
  }
}

Encoder Encoder::fit(const Table& train, const std::vector<std::string>& exclude) {
  Encoder encoder;
  for (const std::string& name : exclude) static_cast<void>(train.at(name));
  if (train.sparse) {
    encoder.svmlight_ = true;
    encoder.index_base_ = train.index_base;
    encoder.add_numbered(train.sparse->cols, "", static_cast<std::size_t>(train.index_base));
  } else {
    for (const Column& column : train.columns) {
      if (std::count(exclude.begin(), exclude.end(), column.name) > 0) continue;
      Source source{column.name, column.categorical, {}, 0};
      if (column.categorical) source.levels = occurring_levels(column);
      if (source.levels.size() > most_levels) {
        fail_input(
            "{}: the column {} holds {} different strings; more than {} are not categories. "
            "Remove the column if it is an identifier; correct it if it should be numeric",
            train.source, quoted_excerpt(column.name), source.levels.size(), most_levels);
      }
      encoder.add(std::move(source));
    }
  }
  if (encoder.cols() == 0) {
    fail_input("{}: there are no columns to learn from, only those left out; add features",
               train.source);
  }
  return encoder;
}

Encoder Encoder::of_columns(const std::vector<std::string>& names) {
  Encoder encoder;
  std::unordered_set<std::string_view> known;
  for (const std::string& name : names) {
    if (!known.insert(name).second) {
      fail_input("two columns are named {}; rename one", quoted_excerpt(name));
    }
    encoder.add({name, false, {}, 0});
  }
  if (names.empty()) fail_input("there are no columns to learn from; add features");
  return encoder;
}

Encoder Encoder::of_numbers(std::size_t cols, bool sparse) {
  if (cols == 0) fail_input("there are no columns to learn from; add features");
  Encoder encoder;
  encoder.add_numbered(cols, sparse ? "" : "c", 1);
  encoder.svmlight_ = sparse;
  return encoder;
}

bool Encoder::numeric() const {
  return std::none_of(sources_.begin(), sources_.end(),
                      [](const Source& source) { return source.categorical; });
}

ReadOptions Encoder::read_options(ReadOptions options) const {
  for (const Source& source : sources_) {
    if (source.categorical) options.text_columns.push_back(source.name);
  }
  if (svmlight_) options.index_base = index_base_;
  return options;
}

std::string Encoder::name(std::size_t col) const {
  const Source& source = sources_[static_cast<std::size_t>(source_of_[col])];
  if (!source.categorical) return source.name;
  return source.name + "=" + source.levels[col - source.first];
}

Encoder::Plan Encoder::plan(const Table& table, const Source& source) {
  Plan result;
  result.source = &source;
  result.column = table.find(source.name);
  if (result.column == nullptr) {
    fail_input("{}: the column {} of the training file is missing; add it, or train without it",
               table.source, quoted_excerpt(source.name));
  }
  const Column& column = *result.column;
  if (!source.categorical) {
    if (!column.categorical) return result;
    std::vector<char> is_number;
    for (const std::string& level : column.levels) {
      const auto number = parse_number(level);
      is_number.push_back(static_cast<char>(number.has_value()));
      result.level_numbers.push_back(number.value_or(0.0));
    }
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (column.missing(row) || is_number[static_cast<std::size_t>(column.codes[row])] != 0)
        continue;
      fail_input(
          "{}: {} is not a number, but the column {} is numeric in the training file; "
          "correct the value, or drop the row",
          table.where(row, column), quoted_excerpt(column.text(row)), quoted_excerpt(source.name));
    }
    return result;
  }
  std::unordered_map<std::string_view, std::int32_t> places;
  for (std::size_t k = 0; k < source.levels.size(); ++k) {
    places.emplace(source.levels[k], static_cast<std::int32_t>(source.first + k));
  }
  const auto place = [&](std::string_view text) {
    const auto found = places.find(text);
    return found == places.end() ? -1 : found->second;
  };
  for (const std::string& level : column.levels) result.level_columns.push_back(place(level));
  if (!column.categorical) {
    for (std::size_t row = 0; row < table.rows; ++row) {
      result.row_columns.push_back(place(column.text(row)));
    }
  }
  return result;
}

double Encoder::number_at(const Plan& plan, std::size_t row) {
  const Column& column = *plan.column;
  if (!column.categorical) return column.numbers[row];
  if (column.codes[row] < 0) return std::numeric_limits<double>::quiet_NaN();
  return plan.level_numbers[static_cast<std::size_t>(column.codes[row])];
}

std::int32_t Encoder::column_at(const Plan& plan, std::size_t row) {
  if (!plan.column->categorical) return plan.row_columns[row];
  return plan.level_columns[static_cast<std::size_t>(plan.column->codes[row])];
}

void Encoder::check_values(const Table& table, const std::vector<Plan>& plans) {
  // Report the first unusable row of the file, independent of the order of the model's columns.
  std::size_t first_row = table.rows;
  const Plan* first = nullptr;
  for (const Plan& plan : plans) {
    for (std::size_t row = 0; row < first_row; ++row) {
      const bool usable = plan.source->categorical ? !plan.column->missing(row)
                                                   : std::isfinite(number_at(plan, row));
      if (usable) continue;
      first_row = row;
      first = &plan;
    }
  }
  if (first == nullptr) return;
  const bool infinite = !first->source->categorical && std::isinf(number_at(*first, first_row));
  fail_input("{}: the value of column {} is {}; {}", table.where(first_row, *first->column),
             quoted_excerpt(first->source->name), infinite ? "infinite" : "missing",
             infinite ? "replace it by a finite number, or drop the row"
                      : "fill it in, drop the row, or leave the column out");
}

void Encoder::count_unseen(const Table& table, const Plan& plan, EncodedTable& out) {
  EncodedTable::Unseen unseen;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (column_at(plan, row) >= 0) continue;
    if (unseen.count++ == 0) {
      unseen.column = plan.source->name;
      unseen.text = plan.column->text(row);
      unseen.line = table.lines.line_of(row);
    }
  }
  if (unseen.count > 0) out.unseen.push_back(std::move(unseen));
}

Matrix Encoder::dense(std::size_t rows, const std::vector<Plan>& plans, int threads) const {
  Matrix matrix;
  matrix.rows = rows;
  matrix.cols = cols();
  matrix.values.resize(rows * matrix.cols);
  constexpr std::size_t tile = 64;
  parallel_tasks(threads, (rows + tile - 1) / tile, [&](std::size_t task) {
    const std::size_t end = std::min((task + 1) * tile, rows);
    for (const Plan& plan : plans) {
      for (std::size_t row = task * tile; row < end; ++row) {
        double* const to = matrix.values.data() + row * matrix.cols;
        if (!plan.source->categorical) {
          to[plan.source->first] = number_at(plan, row);
        } else if (const std::int32_t column = column_at(plan, row); column >= 0) {
          to[column] = 1.0;
        }
      }
    }
  });
  return matrix;
}

EncodedTable Encoder::encode_svmlight(const Table& table) const {
  const Matrix& from = *table.sparse;
  // A file without index 0 looks as if it were numbered from 1.
  const std::int32_t shift = table.index_base - index_base_;
  EncodedTable out;
  Matrix& to = out.matrix;
  to.rows = table.rows;
  to.cols = cols();
  to.sparse = true;
  to.offsets.reserve(table.rows + 1);
  to.offsets.push_back(0);
  to.columns.reserve(from.columns.size());
  to.values.reserve(from.values.size());
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (auto k = static_cast<std::size_t>(from.offsets[row]);
         k < static_cast<std::size_t>(from.offsets[row + 1]); ++k) {
      const std::int32_t column = from.columns[k] + shift;
      if (column < 0) {
        fail_input(
            "{}: index 0 occurs, but the features of the training file are numbered from 1; use "
            "one "
            "numbering for both",
            table.where(row));
      }
      if (static_cast<std::size_t>(column) >= to.cols) {
        ++out.ignored_entries;
        continue;
      }
      to.columns.push_back(column);
      to.values.push_back(from.values[k]);
    }
    to.offsets.push_back(static_cast<std::int64_t>(to.values.size()));
  }
  return out;
}

EncodedTable Encoder::encode(const Table& table, int threads) const {
  if (svmlight_ != table.sparse.has_value()) {
    fail_input("{}: {}; give both in the same format", table.source,
               svmlight_ ? "this file has named columns, but the training file is svmlight"
                         : "this file is svmlight, but the training file has named columns");
  }
  if (svmlight_) return encode_svmlight(table);
  std::vector<Plan> plans;
  plans.reserve(sources_.size());
  for (const Source& source : sources_) plans.push_back(plan(table, source));
  check_values(table, plans);
  EncodedTable out;
  for (const Plan& p : plans) {
    if (p.source->categorical) count_unseen(table, p, out);
  }
  out.matrix = dense(table.rows, plans, threads);
  return out;
}

nlohmann::json Encoder::to_json() const {
  if (svmlight_) return {{"format", "svmlight"}, {"features", cols()}, {"index_base", index_base_}};
  nlohmann::json columns = nlohmann::json::array();
  for (const Source& source : sources_) {
    nlohmann::json column = {{"name", source.name}};
    if (source.categorical) column["levels"] = source.levels;
    columns.push_back(std::move(column));
  }
  return {{"format", "columns"}, {"columns", std::move(columns)}};
}

Encoder Encoder::from_json(const nlohmann::json& json) {
  constexpr std::string_view what = "encoder";
  Encoder encoder;
  const auto format = detail::json_field<std::string>(json, "format", what);
  if (format == "svmlight") {
    encoder.svmlight_ = true;
    const auto base = detail::json_field<std::size_t>(json, "index_base", what);
    const auto features = detail::json_field<std::size_t>(json, "features", what);
    if (base > 1 || features == 0 || features > std::numeric_limits<std::int32_t>::max()) {
      fail_input("{}: the number of features or their base is invalid; the file was edited", what);
    }
    encoder.index_base_ = static_cast<int>(base);
    encoder.add_numbered(features, "", base);
    return encoder;
  }
  if (format != "columns") fail_input("{}: unknown format {}", what, quoted_excerpt(format));
  std::unordered_set<std::string> names;
  for (const auto& column :
       detail::json_field<std::vector<nlohmann::json>>(json, "columns", what)) {
    Source source;
    source.name = detail::json_field<std::string>(column, "name", what);
    source.categorical = column.contains("levels");
    if (source.categorical) {
      source.levels = detail::json_field<std::vector<std::string>>(column, "levels", what);
    }
    const std::unordered_set<std::string> distinct(source.levels.begin(), source.levels.end());
    if (!names.insert(source.name).second || distinct.size() != source.levels.size()) {
      fail_input("{}: the column {} or one of its categories occurs twice; the file was edited",
                 what, quoted_excerpt(source.name));
    }
    encoder.add(std::move(source));
  }
  if (encoder.cols() == 0) fail_input("{}: there are no columns; the file was edited", what);
  return encoder;
}

}  // namespace covshift
