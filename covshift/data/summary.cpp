#include "covshift/data/summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/words.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/readers.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

using nlohmann::json;
using Role = ColumnSummary::Role;
using Level = ColumnSummary::Level;

/// A column with more levels than this holds identifiers or free text; encoding them would fill the
/// memory and teach nothing.
constexpr std::size_t most_levels = 10'000;

bool listed_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Called id, index, ..._id or nothing.
bool named_as_identifier(const std::string& column) {
  const std::string name = to_lower(column);
  return name == "id" || name == "index" || name.ends_with("_id") || name == "unnamed: 0";
}

/// `some`: there may be more than were counted.
void check_level_count(const ColumnSummary& column, const std::string& source, bool some) {
  if (column.role == Role::label || column.levels.size() <= most_levels) return;
  fail_input(
      "{}: the column {} holds {}{} different strings; more than {} are not categories. Leave it "
      "out if it is an identifier (--drop {}); correct it if it should be numeric",
      source, quoted_excerpt(column.name), column.levels.size(), some ? " or more" : "",
      most_levels, list_word(column.name));
}

/// The levels of a column that was read as text, and where the first is that is no number.
void count_text_levels(const Table& part, const Column& from, ColumnSummary& to) {
  std::vector<std::size_t> place(from.levels.size(), SIZE_MAX);
  for (std::size_t row = 0; row < part.rows; ++row) {
    if (from.codes[row] < 0) continue;
    std::size_t& at = place[static_cast<std::size_t>(from.codes[row])];
    if (at == SIZE_MAX) {
      at = to.levels.size();
      to.levels.push_back({from.text(row), 0});
      const std::string& text = to.levels.back().text;
      if (!to.not_number && !parse_number(text)) to.not_number = {part.where(row, from), text};
    }
    ++to.levels[at].count;
  }
}

void count_number_levels(const Table& part, const Column& from, ColumnSummary& to) {
  std::unordered_map<std::uint64_t, std::size_t> place;
  for (std::size_t row = 0; row < part.rows; ++row) {
    if (from.missing(row)) continue;
    const auto [at, fresh] =
        place.emplace(std::bit_cast<std::uint64_t>(from.numbers[row]), to.levels.size());
    if (fresh) {
      to.levels.push_back({from.text(row), 0});
      check_level_count(to, part.source, true);
    }
    ++to.levels[at->second].count;
  }
}

/// Bits of the ways in which a text reads as a number or date, in the order of preference.
unsigned ways_of(const std::string& text, bool date) {
  unsigned ways = 0;
  for (std::size_t k = 0; k < Encoder::styles.size(); ++k) {
    const bool reads = date ? parse_date(text, Encoder::orders[k]).has_value()
                            : parse_styled(text, Encoder::styles[k]).has_value();
    ways |= reads ? 1U << k : 0U;
  }
  return ways;
}

void name_unreadable(ColumnSummary& column) {
  const auto found = column.clash.find(ColumnSummary::all_ways);
  if (found != column.clash.end()) column.unreadable = found->second;
}

/// Styled numbers and dates.
void read_ways(const Table& part, const Column& from, ColumnSummary& to) {
  const bool date = to.role == Role::date;
  std::vector<std::optional<unsigned>> known(from.levels.size());
  for (std::size_t row = 0; row < part.rows; ++row) {
    if (from.missing(row)) continue;
    unsigned ways = 0;
    if (from.categorical) {
      auto& level = known[static_cast<std::size_t>(from.codes[row])];
      if (!level) level = ways_of(from.text(row), date);
      ways = *level;
    }
    const auto here = [&] { return Spot{part.where(row, from), from.text(row)}; };
    if (!to.unreadable) to.unreadable = here();
    if ((to.ways & ways) == to.ways) continue;
    to.ways &= ways;
    for (unsigned before = 1; before <= ColumnSummary::all_ways; ++before) {
      if ((before & to.ways) == 0) to.clash.try_emplace(before, here());
    }
    if (to.ways == 0) break;  // an error, whatever follows
  }
  name_unreadable(to);
}

void look_at_numbers(const std::vector<double>& x, ColumnSummary& to) {
  to.first = x.front();
  to.last = x.back();
  to.same = std::all_of(x.begin(), x.end(), [&](double value) { return value == x.front(); });
  to.counts_up = std::adjacent_find(x.begin(), x.end(),
                                    [](double a, double b) { return b - a != 1; }) == x.end();
  if (to.role == Role::label || !named_as_identifier(to.name)) return;
  to.whole =
      std::all_of(x.begin(), x.end(), [](double value) { return value == std::floor(value); });
  to.repeated.emplace();
  if (!to.whole) return;
  for (const double value : x) to.repeated->add(value);
}

/// The same of the columns of a matrix, row by row as it is stored.
void look_at_numbers(const Rows& rows, std::vector<ColumnSummary>& columns) {
  for (ColumnSummary& to : columns) {
    if (named_as_identifier(to.name)) to.repeated.emplace();
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows.each(row, [&](std::size_t c, double value) {
      ColumnSummary& to = columns[c];
      if (row == 0) to.first = value;
      to.same = to.same && value == to.first;
      to.counts_up = to.counts_up && (row == 0 || value - to.last == 1);
      to.last = value;
      if (!to.repeated) return;
      to.whole = to.whole && value == std::floor(value);
      if (to.whole) to.repeated->add(value);
    });
  }
}

/// Calls take(row) for the rows of a part that are kept for medians.
template <typename Take>
void each_kept(const Summary& summary, const Take& take) {
  const std::size_t step = summary.step;
  for (std::size_t row = (step - summary.first % step) % step; row < summary.rows; row += step) {
    take(row);
  }
}

/// `cols`: of a matrix, of which no copy is made: at most 16 MB of its numbers are kept, or 1,000
/// rows.
std::size_t step_for(std::size_t rows, std::size_t cols = 1) {
  constexpr std::size_t most_numbers = 2'000'000;
  const std::size_t kept = std::clamp<std::size_t>(most_numbers / cols, 1000, Summary::median_rows);
  std::size_t step = 1;
  while (rows > kept * step) step *= 2;
  return step;
}

/// Every `factor`-th of some values that start at number `first` of all.
template <typename T>
void keep_every(std::size_t factor, std::size_t first, std::vector<T>& values) {
  std::size_t kept = 0;
  for (std::size_t k = (factor - first % factor) % factor; k < values.size(); k += factor) {
    if (kept != k) values[kept] = std::move(values[k]);
    ++kept;
  }
  values.resize(kept);
}

void append_levels(ColumnSummary& own, const ColumnSummary& next) {
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t k = 0; k < own.levels.size(); ++k) place.emplace(own.levels[k].text, k);
  for (const Level& level : next.levels) {
    const auto [at, fresh] = place.emplace(level.text, own.levels.size());
    if (fresh) {
      own.levels.push_back(level);
    } else {
      own.levels[at->second].count += level.count;
    }
  }
}

/// A part whose values are all missing fits text as well as numbers.
void become_text(ColumnSummary& column) {
  column.text = true;
  if (column.role == Role::date || column.role == Role::styled) {
    column.texts.resize(column.numbers.size());
  }
  column.numbers.clear();
}

void append_column(ColumnSummary& own, ColumnSummary next, std::size_t own_rows,
                   std::size_t next_rows) {
  if (own.text != next.text) {
    if (own.text && next.empty(next_rows)) {
      become_text(next);
    } else if (next.text && own.empty(own_rows)) {
      become_text(own);
    } else {
      own.mixed = true;
    }
  }
  own.mixed = own.mixed || next.mixed;
  own.same = own.same && next.same && !own.mixed &&
             (own.text ? own.first_text == next.first_text : own.first == next.first);
  own.counts_up = own.counts_up && next.counts_up && next.first - own.last == 1;
  own.whole = own.whole && next.whole;
  own.last = next.last;
  own.missing += next.missing;
  append_levels(own, next);
  if (!own.not_number) own.not_number = next.not_number;
  for (unsigned before = 1; before <= ColumnSummary::all_ways; ++before) {
    const auto theirs = next.clash.find(before & own.ways);
    if (theirs != next.clash.end()) own.clash.try_emplace(before, theirs->second);
  }
  own.ways &= next.ways;
  if (!own.unreadable) own.unreadable = next.unreadable;
  name_unreadable(own);
  add_to(own.numbers, next.numbers);
  add_to(own.texts, next.texts);
  if (own.repeated && next.repeated) own.repeated->add(*next.repeated);
}

json spot_json(const std::optional<Spot>& spot) {
  return spot ? json{spot->where, spot->text} : json(nullptr);
}

std::optional<Spot> spot_from(const json& from) {
  if (from.is_null()) return std::nullopt;
  return Spot{from.at(0).get<std::string>(), from.at(1).get<std::string>()};
}

json column_json(const ColumnSummary& c) {
  json levels = json::array();
  json counts = json::array();
  for (const Level& level : c.levels) {
    levels.push_back(level.text);
    counts.push_back(level.count);
  }
  json out = {{"name", c.name},
              {"role", static_cast<int>(c.role)},
              {"flags", {c.text, c.mixed, c.same, c.counts_up, c.whole}},
              {"missing", c.missing},
              {"ends", {c.first, c.last}},
              {"first_text", c.first_text},
              {"levels", std::move(levels)},
              {"counts", std::move(counts)},
              {"not_number", spot_json(c.not_number)},
              {"ways", c.ways},
              {"unreadable", spot_json(c.unreadable)},
              {"numbers", c.numbers},
              {"texts", c.texts}};
  if (c.repeated) out["repeated"] = c.repeated->to_json();
  if (c.ways == ColumnSummary::all_ways) return out;
  for (const auto& [ways, spot] : c.clash) out["clash"].push_back({ways, spot_json(spot)});
  return out;
}

ColumnSummary column_from(const json& from) {
  ColumnSummary c;
  c.name = from.at("name").get<std::string>();
  c.role = static_cast<Role>(from.at("role").get<int>());
  const auto flags = from.at("flags").get<std::array<bool, 5>>();
  c.text = flags[0];
  c.mixed = flags[1];
  c.same = flags[2];
  c.counts_up = flags[3];
  c.whole = flags[4];
  c.missing = from.at("missing").get<std::size_t>();
  c.first = from.at("ends").at(0).get<double>();
  c.last = from.at("ends").at(1).get<double>();
  c.first_text = from.at("first_text").get<std::string>();
  const auto levels = from.at("levels").get<std::vector<std::string>>();
  const auto counts = from.at("counts").get<std::vector<std::size_t>>();
  for (std::size_t k = 0; k < levels.size(); ++k) c.levels.push_back({levels[k], counts.at(k)});
  c.not_number = spot_from(from.at("not_number"));
  c.ways = from.at("ways").get<unsigned>();
  c.unreadable = spot_from(from.at("unreadable"));
  c.numbers = from.at("numbers").get<std::vector<double>>();
  c.texts = from.at("texts").get<std::vector<std::string>>();
  if (from.contains("repeated")) c.repeated = RepeatSample::from_json(from.at("repeated"));
  if (!from.contains("clash")) return c;
  for (const json& entry : from.at("clash")) {
    if (const auto spot = spot_from(entry.at(1)))
      c.clash.emplace(entry.at(0).get<unsigned>(), *spot);
  }
  return c;
}

Role role_of(const Column& column, const Summary::Roles& roles) {
  const ColumnOptions& o = roles.columns;
  const std::string& name = column.name;
  if (!roles.label.empty() && name == roles.label) return Role::label;
  if (listed_in(roles.exclude, name) || name == roles.weight || listed_in(o.drop, name) ||
      listed_in(o.keep, name)) {
    return Role::none;
  }
  if (listed_in(o.dates, name)) return Role::date;
  if (listed_in(o.numeric, name)) return Role::styled;
  return listed_in(o.categorical, name) ? Role::category : Role::feature;
}

ColumnSummary summary_of(const Table& part, const Column& from, Role role) {
  ColumnSummary to;
  to.name = from.name;
  to.role = role;
  to.text = from.categorical;
  if (role == Role::none) return to;
  for (std::size_t row = 0; row < part.rows; ++row) {
    if (!from.missing(row)) continue;
    ++to.missing;
    if (role == Role::label) {
      fail_input("{}: the label (column {}) is missing; fill it in or drop the row",
                 part.where(row, from), quoted_excerpt(from.name));
    }
  }
  if (part.rows == 0) return to;
  if (from.categorical) {
    to.first_text = from.text(0);
    to.same = std::all_of(from.codes.begin(), from.codes.end(),
                          [&](std::int32_t code) { return code >= 0 && code == from.codes[0]; });
  } else {
    look_at_numbers(from.numbers, to);
  }
  if (role == Role::date || (role == Role::styled && to.text)) read_ways(part, from, to);
  if (!to.has_levels()) return to;
  to.text ? count_text_levels(part, from, to) : count_number_levels(part, from, to);
  check_level_count(to, part.source, false);
  return to;
}

}  // namespace

Summary::Summary(const Table& part, const Roles& roles, const Place& place)
    : source(part.source),
      first(place.first),
      rows(part.rows),
      step(step_for(std::max(place.total, part.rows))),
      known(true) {
  const ColumnOptions& o = roles.columns;
  for (const std::vector<std::string>* names :
       {&roles.exclude, &o.drop, &o.keep, &o.numeric, &o.categorical, &o.dates}) {
    for (const std::string& name : *names) static_cast<void>(part.at(name));
  }
  if (!roles.label.empty()) static_cast<void>(part.at(roles.label));
  if (!roles.weight.empty()) {
    const Column& weight = part.at(roles.weight);
    // Text among weights is refused where rows are encoded, by its line.
    positive_weight =
        weight.categorical ||
        std::any_of(weight.numbers.begin(), weight.numbers.end(), [](double w) { return w > 0; });
  }
  for (const Column& column : part.columns) {
    columns.push_back(summary_of(part, column, role_of(column, roles)));
    ColumnSummary& own = columns.back();
    const bool median =
        own.role == Role::feature || own.role == Role::styled || own.role == Role::date;
    if (!median || own.has_levels() || o.missing == Missing::error) continue;
    each_kept(*this, [&](std::size_t row) {
      own.text ? own.texts.push_back(column.text(row)) : own.numbers.push_back(column.numbers[row]);
    });
  }
  if (!part.sparse) return;
  svmlight = true;
  index_base = part.index_base;
  features = part.sparse->cols;
  entries = part.sparse->values.size();
  occurring = part.sparse->columns;
  std::sort(occurring.begin(), occurring.end());
  occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
}

Summary::Summary(const MatrixView& part, const std::vector<std::string>& names, Missing missing,
                 const Place& place)
    : source("the training data"),
      first(place.first),
      rows(part.rows),
      step(step_for(std::max(place.total, part.rows), part.cols)),
      known(true),
      matrix(true),
      svmlight(is_sparse(part)) {
  if (part.cols == 0) fail_input("there are no columns to learn from; add features");
  if (!names.empty() && names.size() != part.cols) {
    fail_input("{} columns, but {} names", part.cols, names.size());
  }
  std::unordered_set<std::string_view> distinct;
  columns.resize(part.cols);
  for (std::size_t c = 0; c < part.cols; ++c) {
    columns[c].role = Role::feature;
    columns[c].name = names.empty() ? fmt::format("{}{}", svmlight ? "" : "c", c + 1) : names[c];
    if (!names.empty() && !distinct.insert(names[c]).second) {
      fail_input("two columns are named {}; rename one", quoted_excerpt(names[c]));
    }
  }
  const Rows values(part, {});
  if (!names.empty() && !svmlight) look_at_numbers(values, columns);
  if (svmlight || missing == Missing::error) return;
  for (std::size_t row = 0; row < rows; ++row) {
    values.each(
        row, [&](std::size_t c, double value) { columns[c].missing += value != value ? 1U : 0U; });
  }
  for (ColumnSummary& column : columns) column.numbers.reserve(rows / step + 1);
  each_kept(*this, [&](std::size_t row) {
    values.each(row, [&](std::size_t c, double value) { columns[c].numbers.push_back(value); });
  });
}

void Summary::thin(std::size_t wider) {
  if (wider == step) return;
  const std::size_t kept = (first + step - 1) / step;  // the number of the first kept row
  for (ColumnSummary& column : columns) {
    keep_every(wider / step, kept, column.numbers);
    keep_every(wider / step, kept, column.texts);
  }
  step = wider;
}

void Summary::append_svmlight(const Summary& next) {
  // A part without index 0 looks as if it were numbered from 1.
  const int base = std::min(index_base, next.index_base);
  const auto renumbered = [&](const Summary& part) {
    std::vector<std::int32_t> all = part.occurring;
    for (std::int32_t& column : all) column += part.index_base - base;
    return all;
  };
  std::vector<std::int32_t> both;
  const std::vector<std::int32_t> a = renumbered(*this);
  const std::vector<std::int32_t> b = renumbered(next);
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const auto end = [&](const Summary& part) {
    return part.features == 0 ? 0
                              : part.features + static_cast<std::size_t>(part.index_base - base);
  };
  features = std::max(end(*this), end(next));
  index_base = base;
  entries += next.entries;
  occurring = std::move(both);
}

/// Where the columns are in the other summary.
std::vector<std::size_t> Summary::places_in(const Summary& next) const {
  if (svmlight != next.svmlight) {
    fail_input("{}: either this file or {} is svmlight; give all parts in the same format",
               next.source, source);
  }
  std::unordered_map<std::string_view, std::size_t> theirs;
  for (std::size_t c = 0; c < next.columns.size(); ++c) theirs.emplace(next.columns[c].name, c);
  std::vector<std::size_t> places;
  for (const ColumnSummary& column : columns) {
    const auto found = theirs.find(column.name);
    if (found == theirs.end()) {
      fail_input("{}: there is no column {}, which {} has; give all parts the same columns",
                 next.source, quoted_excerpt(column.name), source);
    }
    places.push_back(found->second);
    theirs.erase(found);
  }
  if (!theirs.empty()) {
    fail_input("{}: {} has no column {}; give all parts the same columns", next.source, source,
               quoted_excerpt(theirs.begin()->first));
  }
  return places;
}

void Summary::append(const Summary& next) {
  if (!next.known) return;
  if (!known) {
    *this = next;
    return;
  }
  const std::vector<std::size_t> places = places_in(next);
  positive_weight = positive_weight || next.positive_weight;
  if (next.rows == 0) return;
  if (rows == 0) {
    const bool positive = positive_weight;
    *this = next;
    positive_weight = positive;
    return;
  }
  if (next.first != first + rows) {
    throw std::logic_error("summaries are appended in the order of their rows");
  }
  Summary after = next;
  const std::size_t wider =
      std::max({step, next.step, step_for(rows + next.rows, matrix ? columns.size() : 1)});
  thin(wider);
  after.thin(wider);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    append_column(columns[c], std::move(after.columns[places[c]]), rows, next.rows);
    check_level_count(columns[c], source, true);
  }
  if (svmlight && !matrix) append_svmlight(next);
  rows += next.rows;
}

std::vector<std::string> Summary::mixed() const {
  std::vector<std::string> names;
  for (const ColumnSummary& column : columns) {
    if (column.mixed && column.role != Role::none) names.push_back(column.name);
  }
  return names;
}

const ColumnSummary* Summary::label() const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [](const ColumnSummary& c) { return c.role == Role::label; });
  return found == columns.end() ? nullptr : &*found;
}

std::string Summary::to_bytes() const {
  json all = {{"source", source},
              {"place", {first, rows, step}},
              {"flags", {known, matrix, positive_weight, svmlight}},
              {"svmlight", {index_base, features, entries}},
              {"occurring", occurring},
              {"columns", json::array()}};
  for (const ColumnSummary& column : columns) all["columns"].push_back(column_json(column));
  std::string bytes;
  json::to_cbor(all, bytes);
  return bytes;
}

Summary Summary::from_bytes(const std::string& bytes) {
  try {
    const json all = json::from_cbor(bytes);
    Summary summary;
    summary.source = all.at("source").get<std::string>();
    const auto place = all.at("place").get<std::array<std::size_t, 3>>();
    summary.first = place[0];
    summary.rows = place[1];
    summary.step = place[2];
    const auto flags = all.at("flags").get<std::array<bool, 4>>();
    summary.known = flags[0];
    summary.matrix = flags[1];
    summary.positive_weight = flags[2];
    summary.svmlight = flags[3];
    summary.index_base = all.at("svmlight").at(0).get<int>();
    summary.features = all.at("svmlight").at(1).get<std::size_t>();
    summary.entries = all.at("svmlight").at(2).get<std::size_t>();
    summary.occurring = all.at("occurring").get<std::vector<std::int32_t>>();
    for (const json& column : all.at("columns")) summary.columns.push_back(column_from(column));
    if (summary.step == 0) fail_input("the step is 0");
    return summary;
  } catch (const std::exception& e) {
    fail_input("the summary of a part is damaged ({}); run the same version everywhere", e.what());
  }
}

Summary gather_summaries(const Summary& own, const Reducer& reducer) {
  Summary all;
  for (const std::string& part : reducer.gather(own.to_bytes())) {
    all.append(Summary::from_bytes(part));
  }
  return all;
}

}  // namespace covshift
