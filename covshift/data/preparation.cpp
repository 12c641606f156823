#include "covshift/data/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/column_checks.hpp"
#include "covshift/data/column_text.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

std::vector<double> log_ratios(const Table& table, const std::string& name) {
  std::vector<double> values = finite_numbers(table, table.at(name), "density ratio");
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!(values[row] > 0)) {
      fail_input("{}: the density ratio is {}; it must be positive",
                 table.where(row, table.at(name)), values[row]);
    }
    values[row] = std::log(values[row]);
  }
  return values;
}

std::vector<double> sample_weights(const Table& table, const std::string& name) {
  const std::vector<double>& values = finite_numbers(table, table.at(name), "weight");
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row] < 0) {
      fail_input("{}: the weight is {}; weights must not be negative",
                 table.where(row, table.at(name)), values[row]);
    }
  }
  return values;
}

/// The classes that occur, in the caller's order if there is one.
Classes classes_of(const Summary& train, const PreparationOptions& options) {
  std::vector<std::string> labels;
  for (const auto& [text, count] : train.label()->levels) labels.push_back(text);
  Classes found = Classes::fit(labels);
  if (found.size() < 2) {
    fail_input("{}: column '{}' has only one class ('{}'); a classifier needs at least two",
               train.source, options.label, found.names()[0]);
  }
  if (options.classes.empty()) return found;
  Classes ordered = Classes::from_names(options.classes);
  for (const std::string& name : found.names()) {
    if (ordered.index_of(name) < 0) {
      std::vector<std::string_view> given(options.classes.begin(), options.classes.end());
      fail_input("{}: the class '{}' is not in the list of classes given{}", train.source, name,
                 suggestion(name, given));
    }
  }
  if (ordered.size() != found.size()) {
    fail_input("{}: {} classes were given, but column '{}' has {}", train.source, ordered.size(),
               options.label, found.size());
  }
  return ordered;
}

/// Sums of squares, which training needs, must not overflow; scaled features never do.
void refuse_huge(const MatrixView& features, const char* what) {
  constexpr double most = 1e100;
  const Rows rows(features, {});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.each(i, [&](std::size_t c, double value) {
      if (std::abs(value) <= most) return;
      fail_input(
          "{}: feature {} of row {} is {}; features beyond {} must be scaled (unit or standard)",
          what, c + 1, i + 1, value, most);
    });
  }
}

/// Of two digits, but never 1e+02%.
std::string percent(std::size_t count, std::size_t all) {
  const double x = 100 * static_cast<double>(count) / static_cast<double>(all);
  return x < 10 ? fmt::format("{:.2g}%", x) : fmt::format("{:.0f}%", x);
}

std::string share(std::size_t count, std::size_t all) {
  return fmt::format("{} of {} rows, {}", count, all, percent(count, all));
}

Strange strange_in(EncodedTable& encoded, const Table& table) {
  return {table.source,
          !table.lines.breaks().empty(),
          table.rows,
          std::move(encoded.unseen),
          std::move(encoded.absent),
          encoded.unlike,
          {},
          encoded.ignored_entries,
          table.sparse ? table.sparse->values.size() : 0};
}

/// Adds up counts by column; what else is known of a column is that of the first rows.
template <typename Count>
void append_counts(std::vector<Count>& own, const std::vector<Count>& next) {
  for (const Count& count : next) {
    const auto same = std::find_if(own.begin(), own.end(),
                                   [&](const Count& c) { return c.column == count.column; });
    if (same == own.end()) {
      own.push_back(count);
    } else {
      same->count += count.count;
    }
  }
}

}  // namespace

void Strange::append(const Strange& next) {
  if (source.empty()) source = next.source;
  lines = lines || next.lines;
  rows += next.rows;
  append_counts(unseen, next.unseen);
  append_counts(absent, next.absent);
  unlike += next.unlike;
  varying.append(next.varying);
  ignored_entries += next.ignored_entries;
  entries += next.entries;
}

std::vector<std::string> Strange::warnings() const {
  std::vector<std::string> texts;
  if (!varying.columns.empty()) texts.push_back(varying.warning(source, rows));
  for (const EncodedTable::Unseen& u : unseen) {
    const std::string where = lines ? fmt::format("{}:{}", source, u.line) : source;
    texts.push_back(fmt::format(
        "{}: column '{}' has the category '{}', which training never saw ({}, have such "
        "categories); it is treated as belonging to no known category",
        where, u.column, u.text, share(u.count, rows)));
  }
  for (const EncodedTable::Absent& a : absent) {
    texts.push_back(fmt::format(
        "{}: column '{}' has missing values ({}), but had none in training; the median or most "
        "frequent value of training takes their place",
        source, a.column, share(a.count, rows)));
  }
  if (ignored_entries > 0) {
    texts.push_back(fmt::format(
        "{}: {} of {} entries ({}) belong to features that training never saw; they are ignored",
        source, ignored_entries, entries, percent(ignored_entries, entries)));
  }
  return texts;
}

Summary summarise(const Input& part, const PreparationOptions& options,
                  const Summary::Place& place) {
  if (part.table == nullptr) {
    return {part.matrix, part.names, options.columns.missing, place};
  }
  Summary::Roles roles{"", options.weight, {}, options.columns};
  // A part without rows has no labels of its own either.
  const bool apart = !part.labels.empty() || (part.table->rows == 0 && !options.classes.empty() &&
                                              part.table->find(options.label) == nullptr);
  if (!apart) roles.label = options.label;
  for (const std::string& name : {options.ratio_column, options.generalization_column}) {
    if (!name.empty()) roles.exclude.push_back(name);
  }
  for (const auto& own : options.view_columns) {
    for (const std::string& name : {own.ratio, own.generalization}) {
      if (!name.empty()) roles.exclude.push_back(name);
    }
  }
  return {*part.table, roles, place};
}

Preparation::Preparation(const Summary& train, const PreparationOptions& options)
    : columns_{options.label, options.weight, options.ratio_column, options.generalization_column},
      view_columns_(options.view_columns),
      keep_(options.columns.keep),
      scale_(options.scale),
      cut_(options.cut) {
  if (train.rows == 0) fail_input("{}: there are no training rows; add data", train.source);
  if (train.label() != nullptr) {
    classes_ = classes_of(train, options);
  } else {
    classes_ = Classes::from_names(options.classes);
  }
  if (train.matrix && (needs_columns() || !columns_.weight.empty())) {
    fail_input("a matrix has no named columns of weights or densities; give a table");
  }
  if (!train.positive_weight) {
    fail_input("{}: no example has a positive weight (column '{}')", train.source, options.weight);
  }
  encoder_ = Encoder::fit(train, options.columns.missing);
  views_ = options.view_groups.empty() ? Views::parse(options.views, encoder_)
                                       : Views::from_groups(options.view_groups, encoder_);
  for (const auto& own : view_columns_) static_cast<void>(views_.find(own.view));
  warnings_ = column_warnings(train, encoder_);
  if (train.label() == nullptr) {
    add_to(warnings_, class_warnings(train, options.label, options.classes));
  }
  constants_ = ConstantColumns(train);
}

ReadOptions Preparation::read_options(ReadOptions options) const {
  if (!label().empty()) options.text_columns.push_back(label());
  return encoder_.read_options(std::move(options));
}

PreparedRows Preparation::encode(const Input& input, int threads) const {
  PreparedRows rows;
  if (input.table == nullptr) {
    if (!encoder_.numeric() || needs_columns()) {
      fail_input(
          "the model was trained on columns with categories or densities; give a table or "
          "DataFrame with the same columns");
    }
    rows.features = input.matrix;
    if (std::optional<EncodedTable> encoded = encoder_.encode(input.matrix, threads)) {
      rows.own = std::move(encoded->matrix);
      rows.strange.unlike = encoded->unlike;
      rows.strange.absent = std::move(encoded->absent);
      rows.features = rows.own.view();
    }
    rows.strange.source = "the data";
    rows.strange.rows = input.matrix.rows;
    rows.strange.varying = constants_.varying_in(input.matrix);
    rows.warnings = rows.strange.warnings();
    return rows;
  }
  const Table& table = *input.table;
  EncodedTable encoded = encoder_.encode(table, threads);
  rows.strange = strange_in(encoded, table);
  rows.strange.varying = constants_.varying_in(table);
  rows.warnings = rows.strange.warnings();
  rows.own = std::move(encoded.matrix);
  rows.features = rows.own.view();
  if (!columns_.ratio.empty()) rows.log_ratio = log_ratios(table, columns_.ratio);
  if (!columns_.generalization.empty()) {
    rows.log_generalization =
        finite_numbers(table, table.at(columns_.generalization), "log generalization density");
  }
  if (!view_columns_.empty()) rows.views.resize(views_.names.size());
  for (const auto& own : view_columns_) {
    PreparedRows::ViewColumns& view = rows.views[views_.find(own.view)];
    if (!own.ratio.empty()) view.log_ratio = log_ratios(table, own.ratio);
    if (!own.generalization.empty()) {
      view.log_generalization =
          finite_numbers(table, table.at(own.generalization), "log generalization density");
    }
  }
  return rows;
}

PreparedRows Preparation::encode_training(const Input& input, int threads) const {
  PreparedRows rows = encode(input, threads);
  rows.warnings = warnings_;
  if (!input.labels.empty()) {
    rows.labels.assign(input.labels.begin(), input.labels.end());
  } else if (input.table != nullptr && !label().empty()) {
    rows.labels = classes_.codes(*input.table, label()).codes;
  }
  rows.weight = columns_.weight.empty()
                    ? std::vector<double>(input.weight.begin(), input.weight.end())
                    : sample_weights(*input.table, columns_.weight);
  return rows;
}

void Preparation::fit(PreparedRows& train, PreparedRows* target, int threads,
                      const Reducer& reducer) {
  std::string constant =
      constants_.warning(target != nullptr ? &target->strange.varying : nullptr, reducer);
  if (!constant.empty()) train.warnings.push_back(std::move(constant));
  learn_scale(train.features, train.weight, reducer);
  apply(train, "the training data", threads);
  if (target != nullptr) apply(*target, "the target data", threads);
  if (scale_ != ScaleKind::none) return;
  refuse_huge(train.features, "the training data");
  if (target != nullptr) refuse_huge(target->features, "the target data");
}

void Preparation::learn_scale(const MatrixView& train, std::span<const double> weight,
                              const Reducer& reducer) {
  scaler_ = Scaler::fit(scale_, train, weight, reducer);
  if (!cut_) scaler_.uncut();
}

void Preparation::apply(PreparedRows& rows, const char* what, int threads) const {
  const bool owned = rows.own.rows > 0;
  if (owned && rows.single_precision) {
    scale_to_floats(rows);
  } else if (owned) {
    scaler_.apply(rows.own);
    rows.features = rows.own.view();
  } else if (scaler_.kind() != ScaleKind::none) {
    rows.own = scaler_.scaled(rows.features);
    rows.features = rows.own.view();
  }
  Rows(rows.features, {}).check(what, threads);
  rows.features.finite = true;
}

void Preparation::scale_to_floats(PreparedRows& rows) const {
  const MatrixView all = rows.features;
  const std::size_t block_rows = (std::size_t{1} << 16U) / all.cols + 1;
  rows.floats.reserve(rows.own.values.size());
  for (std::size_t first = 0; first < all.rows; first += block_rows) {
    const Matrix block = scaler_.scaled(slice(all, first, std::min(block_rows, all.rows - first)));
    for (const double x : block.values) {
      constexpr double most = std::numeric_limits<float>::max();
      rows.floats.push_back(static_cast<float>(std::isfinite(x) ? std::clamp(x, -most, most) : x));
    }
  }
  rows.own = {};
  rows.features = MatrixView::dense(rows.floats.data(), all.rows, all.cols);
}

void Preparation::each_block(
    const MatrixView& x, int threads,
    const std::function<void(std::size_t, const MatrixView&)>& body) const {
  constexpr std::size_t block_rows = 2048;
  parallel_tasks(threads, (x.rows + block_rows - 1) / block_rows, [&](std::size_t block) {
    const std::size_t first = block * block_rows;
    PreparedRows rows;
    rows.features = slice(x, first, std::min(block_rows, x.rows - first));
    apply(rows, "the data", 1);
    body(first, rows.features);
  });
}

nlohmann::json Preparation::to_json() const {
  nlohmann::json by_view = nlohmann::json::array();
  for (const auto& own : view_columns_) {
    by_view.push_back({{"view", own.view},
                       {"ratio_column", own.ratio},
                       {"generalization_column", own.generalization}});
  }
  nlohmann::json json = {{"label", columns_.label},
                         {"ratio_column", columns_.ratio},
                         {"generalization_column", columns_.generalization},
                         {"view_columns", std::move(by_view)},
                         {"classes", classes_.to_json()},
                         {"encoder", encoder_.to_json()},
                         {"scaler", scaler_.to_json()},
                         {"views", views_.to_json()}};
  if (!keep_.empty()) json["keep"] = keep_;
  return json;
}

nlohmann::ordered_json Preparation::missing_report() const {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (std::size_t s = 0; s < encoder_.source_count(); ++s) {
    const std::size_t count = encoder_.missing_count(s);
    if (count > 0) counts[encoder_.source_name(s)] = count;
  }
  if (counts.empty()) return nullptr;
  return {{"rule", to_string(encoder_.missing())}, {"columns", std::move(counts)}};
}

Preparation Preparation::from_json(const nlohmann::json& body) {
  using nlohmann::json;
  const auto part = [&](const char* name) { return detail::json_field<json>(body, name, "model"); };
  const auto text = [&](const char* name) {
    return detail::json_field<std::string>(body, name, "model");
  };
  Preparation own;
  own.classes_ = Classes::from_json(part("classes"));
  own.scaler_ = Scaler::from_json(part("scaler"));
  own.scale_ = own.scaler_.kind();
  own.views_ = Views::from_json(part("views"));
  own.encoder_ = Encoder::from_json(part("encoder"), own.scaler_.cols());
  if (body.contains("keep")) {
    own.keep_ = detail::json_field<std::vector<std::string>>(body, "keep", "model");
  }
  if (own.views_.cols() != own.encoder_.cols() || own.scaler_.cols() != own.encoder_.cols()) {
    fail_input("the parts of the model have different sizes");
  }
  own.columns_ = {text("label"), "", text("ratio_column"), text("generalization_column")};
  for (const json& view : body.value("view_columns", json::array())) {
    const auto field = [&](const char* name) {
      return detail::json_field<std::string>(view, name, "view_columns");
    };
    own.view_columns_.push_back(
        {field("view"), field("ratio_column"), field("generalization_column")});
    static_cast<void>(own.views_.find(own.view_columns_.back().view));
  }
  return own;
}

std::vector<std::int32_t> Preparation::id_columns() const {
  std::vector<std::int32_t> columns;
  const std::vector<std::int32_t>& source_of = encoder_.source_of();
  std::size_t first = 0;  // of its source
  for (std::size_t j = 0; j < source_of.size(); ++j) {
    if (source_of[j] != source_of[first]) first = j;
    const auto source = static_cast<std::size_t>(source_of[j]);
    // Months and weekdays come back; years and days do not.
    const std::string_view part = j - first < date_parts.size() ? date_parts[j - first] : "";
    const bool passes = encoder_.dates(source) && (part == "year" || part == "days");
    if (encoder_.ids(source) || passes) columns.push_back(static_cast<std::int32_t>(j));
  }
  return columns;
}

}  // namespace covshift
