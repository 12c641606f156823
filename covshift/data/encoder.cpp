// What an encoder learns from training data, and how a model file stores it.
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
#include "covshift/data/json_fields.hpp"
#include "covshift/data/labels.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {

namespace {

/// A column with more levels than this holds identifiers or free text; encoding them would fill the
/// memory and teach nothing.
constexpr std::size_t most_levels = 10'000;
/// Medians of long columns are those of this many evenly spaced rows.
constexpr std::size_t median_rows = 20'000;

bool listed_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> occurring_levels(const Column& column) {
  std::vector<std::string> levels;
  if (!column.categorical) {  // numbers that are categories
    std::unordered_set<std::string> seen;
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
      if (column.missing(row)) continue;
      std::string text = column.text(row);
      if (seen.insert(text).second) levels.push_back(std::move(text));
    }
    sort_levels(levels);
    return levels;
  }
  std::vector<char> occurs(column.levels.size(), 0);
  for (const std::int32_t code : column.codes) {
    if (code >= 0) occurs[static_cast<std::size_t>(code)] = 1;
  }
  for (std::size_t k = 0; k < occurs.size(); ++k) {
    if (occurs[k] != 0) levels.push_back(column.levels[k]);
  }
  sort_levels(levels);
  return levels;
}

/// The middle of the finite values, 0 if there are none.
double median(std::vector<double>& values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t step_for(std::size_t rows) { return rows / median_rows + 1; }

/// The median of a column of a dense matrix; `values` is scratch memory.
double median_of(const MatrixView& x, std::size_t column, std::vector<double>& values) {
  values.clear();
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.stride; }) {
          for (std::size_t row = 0; row < x.rows; row += step_for(x.rows)) {
            values.push_back(static_cast<double>(rows.data[row * rows.stride + column]));
          }
        }
      },
      x.storage);
  return median(values);
}

/// The first level that style or order cannot read, for a message.
template <typename Parses>
std::size_t first_row_that_fails(const Column& column, const Parses& parses) {
  for (std::size_t row = 0; row < column.codes.size(); ++row) {
    if (!column.missing(row) && !parses(column.text(row))) return row;
  }
  return 0;
}

}  // namespace

std::size_t Encoder::width(const Source& source) {
  const std::size_t own = source.kind == Kind::category ? source.levels.size()
                          : source.kind == Kind::date   ? date_parts.size()
                                                        : 1;
  return own + (source.indicator ? 1 : 0);
}

void Encoder::add(Source source) {
  source.first = source_of_.size();
  source_of_.insert(source_of_.end(), width(source), static_cast<std::int32_t>(sources_.size()));
  sources_.push_back(std::move(source));
}

void Encoder::add_numbered(std::size_t cols, std::string_view prefix, std::size_t first) {
  sources_.reserve(cols);
  source_of_.reserve(cols);
  for (std::size_t c = first; c < first + cols; ++c) {
    Source source;
    source.name = fmt::format("{}{}", prefix, c);
    add(std::move(source));
  }
}

void Encoder::fit_svmlight(const Table& train) {
  // An index of two thousand millions in a file of few entries must not become as many columns.
  constexpr std::size_t always_all = std::size_t{1} << 16U;
  svmlight_ = true;
  index_base_ = train.index_base;
  const Matrix& x = *train.sparse;
  if (x.cols <= always_all || x.cols <= x.values.size()) {
    add_numbered(x.cols, "", static_cast<std::size_t>(index_base_));
    return;
  }
  occurring_ = x.columns;
  std::sort(occurring_.begin(), occurring_.end());
  occurring_.erase(std::unique(occurring_.begin(), occurring_.end()), occurring_.end());
  for (const std::int32_t column : occurring_) {
    Source source;
    source.name = std::to_string(column + index_base_);
    add(std::move(source));
  }
}

void Encoder::fit_fill(const Column& column, Source& source) {
  const std::size_t rows = column.categorical ? column.codes.size() : column.numbers.size();
  for (std::size_t row = 0; row < rows; ++row) source.missing += column.missing(row) ? 1U : 0U;
  if (source.kind == Kind::category) {
    std::vector<std::size_t> counts(source.levels.size(), 0);
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t k = 0; k < source.levels.size(); ++k) places.emplace(source.levels[k], k);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!column.missing(row)) ++counts[places.at(column.text(row))];
    }
    const auto most = std::max_element(counts.begin(), counts.end());
    source.fill_level = static_cast<std::int32_t>(most - counts.begin());
    // A date hardly ever comes back: it names a row, or those of a day.
    source.ids = looks_like_ids(source.levels.size(), rows - source.missing) ||
                 order_of(source.levels).has_value();
    return;
  }
  const std::size_t parts = source.kind == Kind::date ? date_parts.size() : 1;
  std::vector<DateNumbers> levels;
  for (const std::string& level : column.levels) {
    DateNumbers numbers{};
    if (source.kind == Kind::date) {
      numbers = parse_date(level, source.order).value_or(numbers);
    } else {
      numbers[0] = parse_styled(level, source.style).value_or(0.0);
    }
    levels.push_back(numbers);
  }
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<double> values;
    for (std::size_t row = 0; row < rows; row += step_for(rows)) {
      if (column.missing(row)) continue;
      values.push_back(column.categorical
                           ? levels[static_cast<std::size_t>(column.codes[row])][part]
                           : column.numbers[row]);
    }
    source.fill[part] = median(values);
  }
}

Encoder::Source Encoder::fit_column(const Table& train, const Column& column,
                                    const ColumnOptions& options) {
  Source source;
  source.name = column.name;
  if (listed_in(options.dates, column.name)) {
    source.kind = Kind::date;
    const std::vector<std::string> texts = occurring_levels(column);
    const auto order = order_of(texts);
    if (!order) {
      const std::size_t row = first_row_that_fails(
          column, [](const std::string& text) { return order_of({text}).has_value(); });
      fail_input(
          "{}: column {} should hold dates, but {} is none, or their days and months are mixed; "
          "write them as 2020-01-31, 31.01.2020 or 01/31/2020, all in one way",
          train.where(row, column), quoted_excerpt(column.name), quoted_excerpt(column.text(row)));
    }
    source.order = *order;
  } else if (listed_in(options.numeric, column.name) && column.categorical) {
    const auto style = style_of(occurring_levels(column));
    if (!style) {
      const std::size_t row = first_row_that_fails(
          column, [](const std::string& text) { return style_of({text}).has_value(); });
      fail_input("{}: {} is not a number, but column {} was said to be numeric; correct the value",
                 train.where(row, column), quoted_excerpt(column.text(row)),
                 quoted_excerpt(column.name));
    }
    source.style = *style;
  } else if (column.categorical || listed_in(options.categorical, column.name)) {
    source.kind = Kind::category;
    source.levels = occurring_levels(column);
    if (source.levels.size() > most_levels) {
      fail_input(
          "{}: the column {} holds {} different strings; more than {} are not categories. "
          "Leave it out if it is an identifier (--drop {}); correct it if it should be numeric",
          train.source, quoted_excerpt(column.name), source.levels.size(), most_levels,
          column.name);
    }
  }
  fit_fill(column, source);
  source.indicator = options.missing == Missing::indicator && source.missing > 0;
  return source;
}

Encoder Encoder::fit(const Table& train, const std::vector<std::string>& exclude,
                     const ColumnOptions& options) {
  Encoder encoder;
  encoder.missing_ = options.missing;
  std::unordered_set<std::string> left_out;
  for (const std::vector<std::string>* names :
       {&exclude, &options.drop, &options.keep, &options.numeric, &options.categorical,
        &options.dates}) {
    for (const std::string& name : *names) static_cast<void>(train.at(name));
    if (names == &exclude || names == &options.drop || names == &options.keep) {
      left_out.insert(names->begin(), names->end());
    }
  }
  if (train.sparse) {
    encoder.fit_svmlight(train);
  } else {
    for (const Column& column : train.columns) {
      if (!left_out.contains(column.name)) encoder.add(fit_column(train, column, options));
    }
  }
  if (encoder.cols() == 0) {
    fail_input("{}: there are no columns to learn from, only those left out; add features",
               train.source);
  }
  return encoder;
}

Encoder Encoder::fit(const MatrixView& train, const std::vector<std::string>& columns,
                     Missing missing) {
  Encoder encoder;
  encoder.missing_ = missing;
  encoder.svmlight_ = train.storage.index() >= 2;
  if (train.cols == 0) fail_input("there are no columns to learn from; add features");
  if (!columns.empty() && columns.size() != train.cols) {
    fail_input("{} columns, but {} names", train.cols, columns.size());
  }
  std::unordered_set<std::string_view> known;
  std::vector<Source> sources(train.cols);
  for (std::size_t c = 0; c < train.cols; ++c) {
    sources[c].name =
        columns.empty() ? fmt::format("{}{}", encoder.svmlight_ ? "" : "c", c + 1) : columns[c];
    if (!columns.empty() && !known.insert(columns[c]).second) {
      fail_input("two columns are named {}; rename one", quoted_excerpt(columns[c]));
    }
  }
  if (!encoder.svmlight_ && missing != Missing::error) {
    const Rows rows(train, {});
    for (std::size_t row = 0; row < train.rows; ++row) {
      rows.each(row, [&](std::size_t c, double value) {
        sources[c].missing += value != value ? 1U : 0U;
      });
    }
    std::vector<double> values;
    for (std::size_t c = 0; c < train.cols; ++c) {
      sources[c].fill[0] = median_of(train, c, values);
      sources[c].indicator = missing == Missing::indicator && sources[c].missing > 0;
    }
  }
  for (Source& source : sources) encoder.add(std::move(source));
  return encoder;
}

bool Encoder::numeric() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const Source& source) {
    return source.kind == Kind::number && source.style == NumberStyle::plain;
  });
}

ReadOptions Encoder::read_options(ReadOptions options) const {
  for (const Source& source : sources_) {
    if (source.kind != Kind::number) options.text_columns.push_back(source.name);
    if (!svmlight_) options.expected.push_back(source.name);
  }
  if (svmlight_) options.index_base = index_base_;
  return options;
}

std::optional<std::string> Encoder::category(std::size_t col) const {
  const Source& source = sources_[static_cast<std::size_t>(source_of_[col])];
  if (source.kind != Kind::category) return std::nullopt;
  const std::size_t k = col - source.first;
  return k < source.levels.size() ? source.levels[k] : "missing";
}

std::string Encoder::name(std::size_t col) const {
  const Source& source = sources_[static_cast<std::size_t>(source_of_[col])];
  const std::size_t k = col - source.first;
  if (source.indicator && k + 1 == width(source)) return source.name + " missing";
  if (source.kind == Kind::category) return source.name + "=" + source.levels[k];
  if (source.kind == Kind::date) return fmt::format("{}:{}", source.name, date_parts[k]);
  return source.name;
}

nlohmann::json Encoder::to_json() const {
  if (svmlight_) {
    nlohmann::json json = {
        {"format", "svmlight"}, {"features", cols()}, {"index_base", index_base_}};
    if (!occurring_.empty()) json["occurring"] = occurring_;
    return json;
  }
  nlohmann::json columns = nlohmann::json::array();
  for (const Source& source : sources_) {
    nlohmann::json column = {{"name", source.name}};
    if (source.kind == Kind::category) column["levels"] = source.levels;
    if (source.kind == Kind::date) column["date"] = to_string(source.order);
    if (source.style != NumberStyle::plain) column["style"] = to_string(source.style);
    if (source.ids) column["ids"] = true;
    if (missing_ != Missing::error) {
      if (source.kind == Kind::category) {
        column["fill"] = source.fill_level;
      } else if (source.kind == Kind::date) {
        column["fill"] = source.fill;
      } else {
        column["fill"] = source.fill[0];
      }
      if (source.missing > 0) column["missing"] = source.missing;
    }
    columns.push_back(std::move(column));
  }
  nlohmann::json json = {{"format", "columns"}, {"columns", std::move(columns)}};
  if (missing_ != Missing::error) json["missing"] = to_string(missing_);
  return json;
}

Encoder::Source Encoder::source_from_json(const nlohmann::json& column, Missing missing) {
  constexpr std::string_view what = "encoder";
  Source source;
  source.name = detail::json_field<std::string>(column, "name", what);
  if (column.contains("levels")) {
    source.kind = Kind::category;
    source.levels = detail::json_field<std::vector<std::string>>(column, "levels", what);
  } else if (column.contains("date")) {
    source.kind = Kind::date;
    source.order = parse_name<DateOrder>(detail::json_field<std::string>(column, "date", what));
  }
  if (column.contains("style")) {
    source.style = parse_name<NumberStyle>(detail::json_field<std::string>(column, "style", what));
  }
  if (column.contains("ids")) source.ids = detail::json_field<bool>(column, "ids", what);
  const std::unordered_set<std::string> distinct(source.levels.begin(), source.levels.end());
  if (distinct.size() != source.levels.size()) {
    fail_input("{}: a category of column {} occurs twice; the file was edited", what,
               quoted_excerpt(source.name));
  }
  if (missing == Missing::error) return source;
  if (column.contains("missing")) {
    source.missing = detail::json_field<std::size_t>(column, "missing", what);
  }
  source.indicator = missing == Missing::indicator && source.missing > 0;
  if (source.kind == Kind::category) {
    const auto fill = detail::json_field<std::size_t>(column, "fill", what);
    if (fill >= source.levels.size() && !(fill == 0 && source.levels.empty())) {
      fail_input("{}: there is no category {} in column {}; the file was edited", what, fill,
                 quoted_excerpt(source.name));
    }
    source.fill_level = static_cast<std::int32_t>(fill);
  } else if (source.kind == Kind::date) {
    source.fill = detail::json_field<DateNumbers>(column, "fill", what);
  } else {
    source.fill[0] = detail::json_field<double>(column, "fill", what);
  }
  if (!std::all_of(source.fill.begin(), source.fill.end(),
                   [](double value) { return std::isfinite(value); })) {
    fail_input("{}: the fill of column {} is not finite; the file was edited", what,
               quoted_excerpt(source.name));
  }
  return source;
}

Encoder Encoder::from_json(const nlohmann::json& json, std::size_t most) {
  constexpr std::string_view what = "encoder";
  Encoder encoder;
  const auto format = detail::json_field<std::string>(json, "format", what);
  if (format == "svmlight") {
    encoder.svmlight_ = true;
    const auto base = detail::json_field<std::size_t>(json, "index_base", what);
    const auto features = detail::json_field<std::size_t>(json, "features", what);
    if (base > 1 || features == 0 || features > most) {
      fail_input("{}: the number of features or their base is invalid; the file was edited", what);
    }
    encoder.index_base_ = static_cast<int>(base);
    if (!json.contains("occurring")) {
      encoder.add_numbered(features, "", base);
      return encoder;
    }
    encoder.occurring_ = detail::json_field<std::vector<std::int32_t>>(json, "occurring", what);
    const auto& list = encoder.occurring_;
    if (list.size() != features || list.front() < 0 ||
        !std::is_sorted(list.begin(), list.end(), std::less_equal<>()) ||
        list.back() >= std::numeric_limits<std::int32_t>::max() - 1) {
      fail_input("{}: the list of features is invalid; the file was edited", what);
    }
    for (const std::int32_t column : list) {
      Source source;
      source.name = std::to_string(column + encoder.index_base_);
      encoder.add(std::move(source));
    }
    return encoder;
  }
  if (format != "columns") fail_input("{}: unknown format {}", what, quoted_excerpt(format));
  if (json.contains("missing")) {
    encoder.missing_ = parse_name<Missing>(detail::json_field<std::string>(json, "missing", what));
  }
  std::unordered_set<std::string> names;
  for (const auto& column :
       detail::json_field<std::vector<nlohmann::json>>(json, "columns", what)) {
    Source source = source_from_json(column, encoder.missing_);
    if (!names.insert(source.name).second) {
      fail_input("{}: the column {} occurs twice; the file was edited", what,
                 quoted_excerpt(source.name));
    }
    encoder.add(std::move(source));
  }
  if (encoder.cols() == 0) fail_input("{}: there are no columns; the file was edited", what);
  return encoder;
}

}  // namespace covshift
