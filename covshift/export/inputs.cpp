// From the columns of a table to scaled rows.
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "covshift/base/missing_words.hpp"
#include "covshift/export/parts.hpp"

namespace covshift {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A column of the training data, as the encoder stores it.
struct Source {
  Source(const json& column, bool indicators)
      : name(column.at("name")),
        levels(column.value("levels", std::vector<std::string>{})),
        categories(column.contains("levels")),
        date(column.contains("date")),
        fill(column.value("fill", json())),
        indicator(indicators && column.value("missing", std::size_t{0}) > 0) {}

  std::string name;
  std::vector<std::string> levels;
  bool categories, date;
  json fill;       ///< null: missing values are errors
  bool indicator;  ///< a column of its own says where values are missing
};

/// Year, month, weekday (0: Monday) and days of days since 1970: the civil calendar in years that
/// begin in March, so that leap days come last.
Tensor date_columns(const Tensor& days) {
  const auto floor = [](const Tensor& x) { return apply("Floor", x); };
  const Tensor day = floor(days);
  const Tensor since = day + 719468.0;  // 1 March of the year 0
  const Tensor era = floor(since / 146097.0);
  const Tensor of_era = since - era * 146097.0;
  const Tensor year_of_era =
      floor((of_era - floor(of_era / 1460.0) + floor(of_era / 36524.0) - floor(of_era / 146096.0)) /
            365.0);
  const Tensor of_year =
      of_era - (year_of_era * 365.0 + floor(year_of_era / 4.0) - floor(year_of_era / 100.0));
  const Tensor month = floor((of_year * 5.0 + 2.0) / 153.0);  // 0: March
  const Tensor next_year = reaches(month, 10);
  const Tensor year = year_of_era + era * 400.0 + next_year;
  const Tensor from_monday = day + 3.0;  // 1 January 1970 was a Thursday
  const Tensor weekday = from_monday - floor(from_monday / 7.0) * 7.0;
  return beside({year, month + 3.0 - next_year * 12.0, weekday, days});
}

/// Numbers with what takes the place of missing ones, perhaps with their indicator.
std::vector<Tensor> filled(const Tensor& x, const Source& source, const Tensor& given) {
  if (source.fill.is_null()) return {x};
  const Tensor absent = is_nan(given);
  const Numbers fill =
      source.fill.is_array() ? source.fill.get<Numbers>() : Numbers{source.fill.get<double>()};
  std::vector<Tensor> parts = {where(absent, x.graph->numbers(fill), x)};
  if (source.indicator) parts.push_back(as_number(absent));
  return parts;
}

/// A column for each category; `refused` gets NaN where a value is missing and must not be.
std::vector<Tensor> one_hot(const Tensor& x, const Source& source, std::vector<Tensor>& refused) {
  Graph& g = *x.graph;
  std::vector<std::string> words;  // a category may have such a name, where a file quotes it
  for (const std::string_view word : missing_words) {
    if (std::find(source.levels.begin(), source.levels.end(), word) == source.levels.end()) {
      words.emplace_back(word);
    }
  }
  std::vector<Tensor> parts;
  if (!source.levels.empty()) parts.push_back(same(x, g.row_of_texts(source.levels)));
  const Tensor absent = words.empty() ? over_row("ReduceMax", parts.front()) * 0.0
                                      : over_row("ReduceMax", same(x, g.row_of_texts(words)));
  if (source.fill.is_null()) {
    refused.push_back(where(as_boolean(absent), g.number(nan), g.number(0)));
  } else if (source.indicator) {
    parts.push_back(absent);
  } else if (!source.levels.empty()) {
    Numbers most_frequent(source.levels.size(), 0.0);
    most_frequent.at(source.fill.get<std::size_t>()) = 1;
    parts.front() = parts.front() + absent * g.numbers(most_frequent);
  }
  return parts;
}

/// All columns, encoded; `given` has an input for each.
Tensor from_columns(const std::vector<Source>& sources, const std::vector<Tensor>& given,
                    std::vector<Tensor>& refused) {
  std::vector<Tensor> parts;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Source& source = sources[s];
    const std::vector<Tensor> own =
        source.categories
            ? one_hot(given[s], source, refused)
            : filled(source.date ? date_columns(given[s]) : given[s], source, given[s]);
    parts.insert(parts.end(), own.begin(), own.end());
  }
  return beside(parts);
}

/// One input for all columns, which are numbers.
Tensor from_matrix(Graph& g, const std::vector<Source>& sources) {
  Tensor x = g.input("X", TensorType::number, sources.size());
  if (sources.front().fill.is_null()) return x;
  Numbers fill;
  std::vector<std::int64_t> indicated;
  std::vector<std::int64_t> order;
  for (const Source& source : sources) {
    order.push_back(static_cast<std::int64_t>(fill.size()));
    if (source.indicator) {
      order.push_back(static_cast<std::int64_t>(sources.size() + indicated.size()));
      indicated.push_back(static_cast<std::int64_t>(fill.size()));
    }
    fill.push_back(source.fill.get<double>());
  }
  const Tensor absent = is_nan(x);
  Tensor values = where(absent, g.numbers(fill), x);
  if (indicated.empty()) return values;
  return columns_of(beside({values, columns_of(as_number(absent), indicated)}), order);
}

std::vector<Source> sources_of(const Preparation& preparation, const json& encoder) {
  std::vector<Source> sources;
  if (encoder.contains("columns")) {
    const bool indicators = encoder.value("missing", "") == to_string(Missing::indicator);
    for (const json& column : encoder["columns"]) sources.emplace_back(column, indicators);
  } else {  // svmlight: numbers by their index
    for (std::size_t s = 0; s < preparation.encoder().source_count(); ++s) {
      sources.emplace_back(json{{"name", preparation.encoder().source_name(s)}}, false);
    }
  }
  return sources;
}

std::map<std::string, Tensor> density_inputs(Graph& g, const json& body) {
  std::vector<std::string> names = {body.at("ratio_column"), body.at("generalization_column")};
  for (const json& view : body.at("view_columns")) {
    names.push_back(view.at("ratio_column"));
    names.push_back(view.at("generalization_column"));
  }
  std::map<std::string, Tensor> densities;
  for (const std::string& name : names) {
    if (name.empty() || densities.contains(name)) continue;
    densities.emplace(name, g.input(name, TensorType::number, 1));
  }
  return densities;
}

}  // namespace

ScaledInputs scaled_inputs(Graph& g, const Preparation& preparation, const json& body) {
  const std::vector<Source> sources = sources_of(preparation, body.at("encoder"));
  std::vector<Tensor> refused;
  ScaledInputs rows;
  if (preparation.encoder().numeric() && !preparation.needs_columns()) {
    rows.x = from_matrix(g, sources);
  } else {  // all inputs before any other tensor, which must not take their names
    std::vector<Tensor> given;
    given.reserve(sources.size());
    for (const Source& source : sources) {
      given.push_back(
          g.input(source.name, source.categories ? TensorType::text : TensorType::number, 1));
    }
    rows.densities = density_inputs(g, body);
    rows.x = from_columns(sources, given, refused);
  }
  const json& scaler = body.at("scaler");
  const auto offsets = scaler.at("offsets").get<Numbers>();
  const auto scales = scaler.at("scales").get<Numbers>();
  const auto all = [](const Numbers& values, double what) {
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == what; });
  };
  if (!all(offsets, 0)) rows.x = rows.x - g.numbers(offsets);
  if (!all(scales, 1)) rows.x = rows.x / g.numbers(scales);
  rows.valid = over_row("ReduceSum", rows.x * 0.0);
  for (const Tensor& part : refused) rows.valid = rows.valid + part;
  rows.cut = scaler.contains("limit");
  // Also where nothing is cut: onnxruntime joins the factor of a single column with a product of
  // matrices that follows it, in single precision.
  const double limit = scaler.value("limit", std::numeric_limits<double>::max());
  rows.x = clip(rows.x, -limit, limit);
  return rows;
}

}  // namespace covshift
