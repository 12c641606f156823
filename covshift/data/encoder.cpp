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
#include "covshift/data/summary.hpp"

namespace covshift {

namespace {

/// The middle of the finite values, 0 if there are none.
double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The first of several ways to read a text; none if there is none.
template <typename Way, std::size_t n>
std::optional<Way> first_way(const std::array<Way, n>& all, unsigned ways) {
  for (std::size_t k = 0; k < n; ++k) {
    if ((ways >> k & 1U) != 0) return all[k];
  }
  return std::nullopt;
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

void Encoder::fit_svmlight(const Summary& train) {
  // An index of two thousand millions in a file of few entries must not become as many columns.
  constexpr std::size_t always_all = std::size_t{1} << 16U;
  index_base_ = train.index_base;
  if (train.features <= always_all || train.features <= train.entries) {
    add_numbered(train.features, "", static_cast<std::size_t>(index_base_));
    return;
  }
  occurring_ = train.occurring;
  for (const std::int32_t column : occurring_) {
    Source source;
    source.name = std::to_string(column + index_base_);
    add(std::move(source));
  }
}

void Encoder::fit_levels(const ColumnSummary& column, std::size_t rows, Source& source) {
  source.kind = Kind::category;
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const ColumnSummary::Level& level : column.levels) {
    source.levels.push_back(level.text);
    counts.emplace(level.text, level.count);
  }
  sort_levels(source.levels);
  std::size_t most = 0;
  for (std::size_t k = 0; k < source.levels.size(); ++k) {
    const std::size_t count = counts.at(source.levels[k]);
    if (count <= most) continue;
    most = count;
    source.fill_level = static_cast<std::int32_t>(k);
  }
  // A date hardly ever comes back: it names a row, or those of a day.
  source.ids = looks_like_ids(source.levels.size(), rows - source.missing) ||
               order_of(source.levels).has_value();
}

void Encoder::fit_fill(const ColumnSummary& column, Source& source) {
  if (!column.text) {
    source.fill[0] = median(column.numbers);
    return;
  }
  std::vector<DateNumbers> numbers;
  for (const std::string& text : column.texts) {
    if (text.empty()) continue;  // missing
    DateNumbers own{};
    if (source.kind == Kind::date) {
      own = parse_date(text, source.order).value_or(own);
    } else {
      own[0] = parse_styled(text, source.style).value_or(0.0);
    }
    numbers.push_back(own);
  }
  const std::size_t parts = source.kind == Kind::date ? date_parts.size() : 1;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<double> values;
    values.reserve(numbers.size());
    for (const DateNumbers& own : numbers) values.push_back(own[part]);
    source.fill[part] = median(std::move(values));
  }
}

Encoder::Source Encoder::fit_column(const ColumnSummary& column, std::size_t rows,
                                    Missing missing) {
  using Role = ColumnSummary::Role;
  Source source;
  source.name = column.name;
  source.missing = column.missing;
  source.indicator = missing == Missing::indicator && source.missing > 0;
  const Spot spot = column.unreadable.value_or(Spot{});
  if (column.role == Role::date) {
    source.kind = Kind::date;
    const auto order = column.unreadable ? first_way(orders, column.ways) : std::nullopt;
    if (!order) {
      fail_input(
          "{}: column {} should hold dates, but {} is not one, or their days and months are mixed; "
          "write them as 2020-01-31, 31.01.2020 or 01/31/2020, all in one way",
          spot.where, quoted_excerpt(column.name), quoted_excerpt(spot.text));
    }
    source.order = *order;
  } else if (column.role == Role::styled && column.text) {
    const auto style = column.unreadable ? first_way(styles, column.ways) : std::nullopt;
    if (!style) {
      fail_input("{}: {} is not a number, but column {} was said to be numeric; correct the value",
                 spot.where, quoted_excerpt(spot.text), quoted_excerpt(column.name));
    }
    source.style = *style;
  } else if (column.has_levels()) {
    fit_levels(column, rows, source);
    return source;
  }
  fit_fill(column, source);
  return source;
}

Encoder Encoder::fit(const Summary& train, Missing missing) {
  Encoder encoder;
  encoder.missing_ = missing;
  encoder.svmlight_ = train.svmlight;
  if (train.svmlight && !train.matrix) {
    encoder.fit_svmlight(train);
  } else {
    for (const ColumnSummary& column : train.columns) {
      const bool feature =
          column.role != ColumnSummary::Role::none && column.role != ColumnSummary::Role::label;
      if (feature) encoder.add(fit_column(column, train.rows, missing));
    }
  }
  if (encoder.cols() == 0) {
    fail_input("{}: there are no columns to learn from, only those left out; add features",
               train.source);
  }
  return encoder;
}

Encoder Encoder::fit(const Table& train, const std::vector<std::string>& exclude,
                     const ColumnOptions& options) {
  return fit(Summary(train, {"", "", exclude, options}, {}), options.missing);
}

Encoder Encoder::fit(const MatrixView& train, const std::vector<std::string>& columns,
                     Missing missing) {
  return fit(Summary(train, columns, missing, {}), missing);
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
