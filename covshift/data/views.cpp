#include "covshift/data/views.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/feature_map.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/records.hpp"

namespace covshift {

namespace {

/// True if `text` matches `pattern`, in which * and ? are wildcards.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last *, and the end of its match
  std::size_t reach = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      reach = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++reach;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

struct Item {
  std::string text;
  bool quoted = false;
};

/// Builds views line by line; `path` is the source named in messages.
class ViewLines {
 public:
  ViewLines(const std::string& path, const Encoder& encoder)
      : path_(path), encoder_(encoder), claimed_(encoder.source_count()) {}

  Views take(const Views::Groups& groups) {
    if (groups.empty()) fail_input("{}: there is no view; give each view its columns", path_);
    for (const Views::Group& group : groups) {
      ++line_;
      Line line{{{group.name, true}}, group.maps};
      if (group.columns.empty()) fail("the view names no columns; give it some, or leave it out");
      for (const std::string& column : group.columns) line.items.push_back({column, false});
      define(line);
    }
    return finish();
  }

  Views read() {
    ByteSource source(path_);
    each_line(source, std::size_t{64} << 10U, [&](std::string_view line) {
      ++line_;
      const Line parts = split(line);
      if (!parts.items.empty()) define(parts);
    });
    if (views_.names.empty()) {
      fail_input("{}: the file holds no view; write lines such as name = column, other*", path_);
    }
    return finish();
  }

 private:
  /// The name of a view and its patterns; its maps.
  struct Line {
    std::vector<Item> items;
    std::string maps;
  };

  void define(const Line& line) {
    const std::string& name = line.items.front().text;
    if (name.empty()) fail("the view has no name; write name = column, other*");
    if (std::count(views_.names.begin(), views_.names.end(), name) > 0) {
      fail(fmt::format("the view {} is defined twice; put its columns on one line",
                       quoted_excerpt(name)));
    }
    try {
      if (!line.maps.empty()) parse_maps(line.maps);
    } catch (const Error& e) {
      fail(e.what());
    }
    views_.names.push_back(name);
    views_.maps.push_back(line.maps);
    members_.emplace_back(encoder_.source_count());
    for (auto item = line.items.begin() + 1; item != line.items.end(); ++item) claim(*item);
  }

  /// Where the maps of a line begin: after a colon that follows a blank and is in no quotes.
  static std::size_t maps_at(std::string_view line) {
    bool quote = false;
    bool named = false;
    for (std::size_t i = 0; i < line.size() && (quote || line[i] != '#'); ++i) {
      if (line[i] == '"') quote = !quote;
      named = named || (line[i] == '=' && !quote);
      if (line[i] == ':' && named && !quote && (line[i - 1] == ' ' || line[i - 1] == '\t'))
        return i;
    }
    return std::string_view::npos;
  }

  /// Nothing for an empty line.
  Line split(std::string_view line) {
    const std::size_t colon = maps_at(line);
    if (colon == std::string_view::npos) return {split_items(line), ""};
    const std::string_view maps = line.substr(colon + 1);
    Line parts{split_items(line.substr(0, colon)),
               std::string(trim(maps.substr(0, maps.find('#'))))};
    if (parts.maps.empty()) fail("no map follows the colon; write name = column : nystroem:200");
    return parts;
  }

  /// The name and the patterns of a line; nothing for an empty one.
  std::vector<Item> split_items(std::string_view line) {
    std::vector<Item> items;
    Item item;
    bool quote = false;
    const auto finish_item = [&] {
      if (!item.quoted) item.text = trim(item.text);
      items.push_back(std::exchange(item, {}));
    };
    for (const char c : line) {
      if (quote) {
        quote = c != '"';
        if (quote) item.text += c;
      } else if (c == '"' && trim(item.text).empty() && !item.quoted) {
        quote = item.quoted = true;
        item.text.clear();
      } else if (c == '#') {
        break;
      } else if (c == (items.empty() ? '=' : ',')) {
        finish_item();
      } else if (!item.quoted) {
        item.text += c;
      } else if (!trim({&c, 1}).empty()) {
        fail("text follows a closing quote; put the quotes around the whole name");
      }
    }
    if (quote) fail("a quote (\") is opened and not closed; close it");
    const bool nothing = !item.quoted && trim(item.text).empty();
    if (items.empty()) {
      if (nothing) return items;
      fail("there is no = in this line; write name = column, other*");
    }
    if (!nothing) finish_item();
    if (items.size() == 1) fail("the view names no columns; write name = column, other*");
    return items;
  }

  void claim(const Item& item) {
    const std::size_t count = encoder_.source_count();
    bool found = false;
    // An exact match comes first: a column's name may contain a *.
    for (const bool exact : {true, false}) {
      if (found || (!exact && item.quoted)) break;
      for (std::size_t s = 0; s < count; ++s) {
        const std::string& name = encoder_.source_name(s);
        if (exact ? name != item.text : !matches(item.text, name)) continue;
        members_.back()[s] = claimed_[s] = true;
        found = true;
      }
    }
    if (!found) {
      std::vector<std::string_view> known;
      for (std::size_t s = 0; s < count; ++s) known.push_back(encoder_.source_name(s));
      fail(fmt::format(
          "there is no feature {} in the training file; correct the name or remove it{}",
          quoted_excerpt(item.text), suggestion(item.text, known)));
    }
  }

  Views finish() {
    const bool leftovers = std::find(claimed_.begin(), claimed_.end(), false) != claimed_.end();
    if (leftovers) {
      const auto rest = std::find(views_.names.begin(), views_.names.end(), "rest");
      const auto view = static_cast<std::size_t>(rest - views_.names.begin());
      if (rest == views_.names.end()) {
        views_.names.emplace_back("rest");
        views_.maps.emplace_back();
        members_.emplace_back(encoder_.source_count());
      }
      for (std::size_t s = 0; s < claimed_.size(); ++s) {
        if (!claimed_[s]) members_[view][s] = true;
      }
    }
    for (const std::vector<bool>& members : members_) {
      views_.columns.emplace_back();
      std::int32_t column = 0;
      for (const std::int32_t source : encoder_.source_of()) {
        if (members[static_cast<std::size_t>(source)]) views_.columns.back().push_back(column);
        ++column;
      }
    }
    return std::move(views_);
  }

  [[noreturn]] void fail(std::string_view message) const {
    fail_input("{}:{}: {}", path_, line_, message);
  }

  const std::string& path_;
  const Encoder& encoder_;
  Views views_;
  std::vector<std::vector<bool>> members_;  ///< of each view: the columns of the file in it
  std::vector<bool> claimed_;               ///< the columns of the file in some view
  std::size_t line_ = 0;
};

}  // namespace

Views Views::all(std::size_t columns) {
  Views views{{"all"}, {std::vector<std::int32_t>(columns)}, {""}};
  std::iota(views.columns[0].begin(), views.columns[0].end(), 0);
  return views;
}

Views Views::each(const Encoder& encoder) {
  Views views;
  for (std::size_t s = 0; s < encoder.source_count(); ++s) {
    views.names.push_back(encoder.source_name(s));
  }
  views.columns.resize(views.names.size());
  views.maps.resize(views.names.size());
  std::int32_t column = 0;
  for (const std::int32_t source : encoder.source_of()) {
    views.columns[static_cast<std::size_t>(source)].push_back(column++);
  }
  return views;
}

Views Views::from_file(const std::string& path, const Encoder& encoder) {
  return ViewLines(path, encoder).read();
}

Views Views::from_groups(const Groups& groups, const Encoder& encoder) {
  return ViewLines("views", encoder).take(groups);
}

Views Views::parse(const std::string& spec, const Encoder& encoder) {
  if (spec.empty() || spec == "all") return all(encoder.cols());
  if (spec == "each") return each(encoder);
  try {
    return from_file(spec, encoder);
  } catch (const Error& e) {
    constexpr std::array<std::string_view, 2> words = {"all", "each"};
    const std::string meant = e.kind() == Error::Kind::file ? suggestion(spec, words) : "";
    throw Error(e.kind(), e.what() + meant);
  }
}

std::size_t Views::cols() const {
  std::size_t count = 0;
  for (const auto& own : columns) {
    if (!own.empty()) count = std::max(count, static_cast<std::size_t>(own.back()) + 1);
  }
  return count;
}

std::size_t Views::find(const std::string& name) const {
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    fail_input("there is no view named '{}'; the views are: {}{}", name, fmt::join(names, ", "),
               suggestion(name, known));
  }
  return static_cast<std::size_t>(place - names.begin());
}

nlohmann::json Views::to_json() const {
  return {{"names", names}, {"columns", columns}, {"maps", maps}};
}

namespace {

/// Version 1 of the model file has a view for each column, and no maps.
void read_first_version(const nlohmann::json& json, Views& views) {
  const auto view_of = detail::json_field<std::vector<std::int32_t>>(json, "view_of", "views");
  views.columns.resize(views.names.size());
  views.maps.resize(views.names.size());
  for (std::size_t c = 0; c < view_of.size(); ++c) {
    const auto view = static_cast<std::size_t>(view_of[c]);
    if (view_of[c] < 0 || view >= views.names.size()) {
      fail_input("views: column {} is in view {}, but there are {}", c, view_of[c],
                 views.names.size());
    }
    views.columns[view].push_back(static_cast<std::int32_t>(c));
  }
}

/// Columns ascend and each is in some view.
bool sound(const Views& views) {
  std::size_t entries = 0;
  for (const std::vector<std::int32_t>& own : views.columns) {
    if (!std::is_sorted(own.begin(), own.end(), std::less_equal<>())) return false;
    if (!own.empty() && own.front() < 0) return false;
    entries += own.size();
  }
  // A column that nothing stands for may claim any number of them.
  if (views.cols() > entries) return false;
  std::vector<bool> covered(views.cols());
  for (const std::vector<std::int32_t>& own : views.columns) {
    for (const std::int32_t c : own) covered[static_cast<std::size_t>(c)] = true;
  }
  return std::find(covered.begin(), covered.end(), false) == covered.end();
}

}  // namespace

Views Views::from_json(const nlohmann::json& json) {
  Views views;
  views.names = detail::json_field<std::vector<std::string>>(json, "names", "views");
  if (json.contains("view_of")) {
    read_first_version(json, views);
  } else {
    views.columns =
        detail::json_field<std::vector<std::vector<std::int32_t>>>(json, "columns", "views");
    views.maps = detail::json_field<std::vector<std::string>>(json, "maps", "views");
  }
  const std::size_t count = views.names.size();
  const std::unordered_set<std::string> distinct(views.names.begin(), views.names.end());
  if (count == 0 || distinct.size() != count || views.columns.size() != count ||
      views.maps.size() != count || !sound(views)) {
    fail_input("views: names or columns are invalid; the file is damaged or was edited");
  }
  return views;
}

}  // namespace covshift
