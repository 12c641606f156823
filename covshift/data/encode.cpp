// Applies an encoder to tables and matrices.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/base/words.hpp"
#include "covshift/data/csv_header.hpp"
#include "covshift/data/encoder.hpp"
#include "covshift/data/readers.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

ColumnOptions Encoder::column_options() const {
  ColumnOptions options;
  options.missing = missing_;
  for (const Source& source : sources_) {
    (source.kind == Kind::category ? options.categorical
     : source.kind == Kind::date   ? options.dates
                                   : options.numeric)
        .push_back(source.name);
  }
  return options;
}

void Encoder::plan_numbers(const Table& table, Plan& plan) {
  const Source& source = *plan.source;
  const Column& column = *plan.column;
  std::vector<char> readable;
  for (const std::string& level : column.levels) {
    DateNumbers numbers{};
    std::optional<DateNumbers> found;
    if (source.kind == Kind::date) {
      found = parse_date(level, source.order);
    } else if (const auto number = parse_styled(level, source.style)) {
      numbers[0] = *number;
      found = numbers;
    }
    readable.push_back(static_cast<char>(found.has_value()));
    plan.level_numbers.push_back(found.value_or(numbers));
  }
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (column.missing(row) || readable[static_cast<std::size_t>(column.codes[row])] != 0) continue;
    fail_input(
        "{}: {} is not a {}, but the column {} {} in the training file; correct the value, "
        "or drop the row",
        table.where(row, column), quoted_excerpt(column.text(row)),
        source.kind == Kind::date ? "date written as in training" : "number",
        quoted_excerpt(source.name), source.kind == Kind::date ? "holds dates" : "is numeric");
  }
}

void Encoder::plan_categories(const Table& table, Plan& plan) {
  const Source& source = *plan.source;
  const Column& column = *plan.column;
  std::unordered_map<std::string_view, std::int32_t> places;
  for (std::size_t k = 0; k < source.levels.size(); ++k) {
    places.emplace(source.levels[k], static_cast<std::int32_t>(source.first + k));
  }
  const auto place = [&](std::string_view text) {
    const auto found = places.find(text);
    return found == places.end() ? -1 : found->second;
  };
  for (const std::string& level : column.levels) plan.level_columns.push_back(place(level));
  if (!column.categorical) {
    for (std::size_t row = 0; row < table.rows; ++row) {
      plan.row_columns.push_back(place(column.text(row)));
    }
  }
}

Encoder::Plan Encoder::plan(const Table& table, const Source& source, const Column* column) const {
  if (column == nullptr) {
    std::vector<std::string_view> names;
    for (const Column& other : table.columns) names.push_back(other.name);
    const auto placed = [](std::string_view name) { return is_place(to_lower(name)); };
    if (is_place(source.name) && std::none_of(names.begin(), names.end(), placed)) {
      fail_input(
          "{}: the columns of the training file have no names, those of this file have ({}, ...); "
          "remove its first line, or call its columns c1, c2, ...",
          table.source, names[0]);
    }
    fail_input(
        "{}: the column {} of the training file is missing; add it, or leave it out of training "
        "(--drop {}){}",
        table.source, quoted_excerpt(source.name), list_word(source.name),
        suggestion(source.name, names));
  }
  Plan result;
  result.source = &source;
  result.column = column;
  if (source.kind == Kind::category) {
    plan_categories(table, result);
  } else if (column->categorical) {
    plan_numbers(table, result);
  } else if (source.kind == Kind::date) {
    fail_input("{}: the column {} holds dates in the training file, but numbers here", table.source,
               quoted_excerpt(source.name));
  }
  return result;
}

double Encoder::number_at(const Plan& plan, std::size_t row, std::size_t part) {
  const Column& column = *plan.column;
  if (!column.categorical) return column.numbers[row];
  if (column.codes[row] < 0) return std::numeric_limits<double>::quiet_NaN();
  return plan.level_numbers[static_cast<std::size_t>(column.codes[row])][part];
}

std::int32_t Encoder::column_at(const Plan& plan, std::size_t row) {
  if (!plan.column->categorical) return plan.row_columns[row];
  return plan.level_columns[static_cast<std::size_t>(plan.column->codes[row])];
}

void Encoder::check_values(const Table& table, const std::vector<Plan>& plans) const {
  // Report the first unusable row of the file, independent of the order of the model's columns.
  std::size_t first_row = table.rows;
  const Plan* first = nullptr;
  for (const Plan& plan : plans) {
    for (std::size_t row = 0; row < first_row; ++row) {
      const bool usable = plan.column->missing(row) ? missing_ != Missing::error
                                                    : plan.source->kind == Kind::category ||
                                                          std::isfinite(number_at(plan, row));
      if (usable) continue;
      first_row = row;
      first = &plan;
    }
  }
  if (first == nullptr) return;
  const bool infinite = !first->column->missing(first_row);
  fail_input("{}: the value of column {} is {}; {}", table.where(first_row, *first->column),
             quoted_excerpt(first->source->name), infinite ? "infinite" : "missing",
             infinite ? "replace it by a finite number, or drop the row"
                      : "fill it in, drop the row, leave the column out, or train with --missing "
                        "indicator (in Python, missing='indicator')");
}

void Encoder::count_unseen(const Table& table, const Plan& plan, std::vector<char>& unlike,
                           EncodedTable& out) {
  EncodedTable::Unseen unseen;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (plan.column->missing(row) || column_at(plan, row) >= 0) continue;
    if (!plan.source->ids) unlike[row] = 1;  // new rows have new names
    if (unseen.count++ == 0) {
      unseen.column = plan.source->name;
      unseen.text = plan.column->text(row);
      unseen.line = table.lines.line_of(row);
    }
  }
  if (unseen.count > 0) out.unseen.push_back(std::move(unseen));
}

void Encoder::count_absent(const Table& table, const Plan& plan, std::vector<char>& unlike,
                           EncodedTable& out) const {
  if (plan.source->missing > 0 || missing_ == Missing::error) return;
  std::size_t absent = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!plan.column->missing(row)) continue;
    ++absent;
    unlike[row] = 1;
  }
  if (absent > 0) out.absent.push_back({plan.source->name, absent});
}

void Encoder::encode_cell(const Plan& plan, std::size_t row, double* to) {
  const Source& source = *plan.source;
  const bool missing = plan.column->missing(row);
  double* const own = to + source.first;
  if (missing && source.indicator) own[width(source) - 1] = 1.0;
  if (source.kind == Kind::category) {
    if (!missing) {
      if (const std::int32_t column = column_at(plan, row); column >= 0) to[column] = 1.0;
    } else if (!source.indicator && !source.levels.empty()) {
      own[source.fill_level] = 1.0;
    }
    return;
  }
  const std::size_t parts = source.kind == Kind::date ? date_parts.size() : 1;
  for (std::size_t k = 0; k < parts; ++k) {
    own[k] = missing ? source.fill[k] : number_at(plan, row, k);
  }
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
        encode_cell(plan, row, matrix.values.data() + row * matrix.cols);
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
  const auto place = [&](std::int32_t feature) {
    if (occurring_.empty()) return feature;
    const auto found = std::lower_bound(occurring_.begin(), occurring_.end(), feature);
    return found != occurring_.end() && *found == feature
               ? static_cast<std::int32_t>(found - occurring_.begin())
               : std::numeric_limits<std::int32_t>::max();
  };
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (auto k = static_cast<std::size_t>(from.offsets[row]);
         k < static_cast<std::size_t>(from.offsets[row + 1]); ++k) {
      if (from.columns[k] + shift < 0) {
        fail_input(
            "{}: index 0 occurs, but the features of the training file are numbered from 1; use "
            "one numbering for both",
            table.where(row));
      }
      const std::int32_t column = place(from.columns[k] + shift);
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
  std::unordered_map<std::string_view, const Column*> columns;
  for (const Column& column : table.columns) columns.emplace(column.name, &column);
  std::vector<Plan> plans;
  plans.reserve(sources_.size());
  for (const Source& source : sources_) {
    const auto found = columns.find(source.name);
    plans.push_back(plan(table, source, found == columns.end() ? nullptr : found->second));
  }
  check_values(table, plans);
  EncodedTable out;
  std::vector<char> unlike(table.rows);
  for (const Plan& p : plans) {
    if (p.source->kind == Kind::category) count_unseen(table, p, unlike, out);
    count_absent(table, p, unlike, out);
  }
  out.unlike = static_cast<std::size_t>(std::count(unlike.begin(), unlike.end(), 1));
  out.matrix = dense(table.rows, plans, threads);
  return out;
}

std::optional<EncodedTable> Encoder::encode(const MatrixView& x, int threads) const {
  if (x.cols != source_count()) {
    fail_input("the data have {} columns, the model was trained on {}", x.cols, source_count());
  }
  if (missing_ == Missing::error || is_sparse(x)) return std::nullopt;
  const Rows rows(x, {});
  const std::size_t tasks = tasks_for(x);
  std::atomic<bool> found = cols() != x.cols;
  if (!found) {
    parallel_tasks(threads, tasks, [&](std::size_t task) {
      bool missing = false;
      for (std::size_t row = task * x.rows / tasks; row < (task + 1) * x.rows / tasks; ++row) {
        rows.each(row, [&](std::size_t, double value) { missing = missing || value != value; });
      }
      if (missing) found = true;
    });
  }
  if (!found) return std::nullopt;
  EncodedTable out;
  Matrix& matrix = out.matrix;
  matrix.rows = x.rows;
  matrix.cols = cols();
  matrix.values.resize(x.rows * matrix.cols);
  std::atomic<std::size_t> unlike = 0;
  std::vector<std::atomic<std::size_t>> absent(sources_.size());
  parallel_tasks(threads, tasks, [&](std::size_t task) {
    for (std::size_t row = task * x.rows / tasks; row < (task + 1) * x.rows / tasks; ++row) {
      double* const to = matrix.values.data() + row * matrix.cols;
      bool strange = false;
      rows.each(row, [&](std::size_t c, double value) {
        const Source& source = sources_[c];
        const bool missing = value != value;
        to[source.first] = missing ? source.fill[0] : value;
        if (missing && source.indicator) to[source.first + 1] = 1.0;
        if (!missing || source.missing > 0) return;
        ++absent[c];
        strange = true;
      });
      if (strange) ++unlike;
    }
  });
  out.unlike = unlike;
  for (std::size_t c = 0; c < sources_.size(); ++c) {
    if (absent[c] > 0) out.absent.push_back({sources_[c].name, absent[c]});
  }
  return out;
}

}  // namespace covshift
