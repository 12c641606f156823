#include "covshift/data/views.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
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
      : path_(path), encoder_(encoder), claims_(encoder.source_count()) {}

  Views take(const Views::Groups& groups) {
    if (groups.empty()) fail_input("{}: there is no view; give each view its columns", path_);
    for (const auto& [name, columns] : groups) {
      ++line_;
      std::vector<Item> items = {{name, true}};
      if (columns.empty()) fail("the view names no columns; give it some, or leave it out");
      for (const std::string& column : columns) items.push_back({column, false});
      define(items);
    }
    return finish();
  }

  Views read() {
    ByteSource source(path_);
    each_line(source, std::size_t{64} << 10U, [&](std::string_view line) {
      ++line_;
      const std::vector<Item> items = split(line);
      if (!items.empty()) define(items);
    });
    if (views_.names.empty()) {
      fail_input("{}: the file holds no view; write lines such as name = column, other*", path_);
    }
    return finish();
  }

 private:
  struct Claim {
    std::int32_t view = -1;
    std::size_t line = 0;
  };

  /// The name of a view, then its patterns.
  void define(const std::vector<Item>& items) {
    const std::string& name = items.front().text;
    if (name.empty()) fail("the view has no name; write name = column, other*");
    if (std::count(views_.names.begin(), views_.names.end(), name) > 0) {
      fail(fmt::format("the view {} is defined twice; put its columns on one line",
                       quoted_excerpt(name)));
    }
    views_.names.push_back(name);
    for (auto item = items.begin() + 1; item != items.end(); ++item) claim(*item);
  }

  /// The name and the patterns of a line; nothing for an empty one.
  std::vector<Item> split(std::string_view line) {
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
        claim_source(s);
        found = true;
      }
    }
    if (!found) {
      fail(fmt::format("there is no feature {} in the training file; correct the name or remove it",
                       quoted_excerpt(item.text)));
    }
  }

  void claim_source(std::size_t source) {
    Claim& claim = claims_[source];
    const auto view = static_cast<std::int32_t>(views_.names.size() - 1);
    if (claim.view >= 0 && claim.view != view) {
      fail(fmt::format("the column {} is in the views {} (line {}) and {} (line {}); keep one",
                       quoted_excerpt(encoder_.source_name(source)),
                       quoted_excerpt(views_.names[static_cast<std::size_t>(claim.view)]),
                       claim.line, quoted_excerpt(views_.names.back()), line_));
    }
    claim = {view, line_};
  }

  Views finish() {
    const auto rest_name = std::string("rest");
    const bool leftovers = std::any_of(claims_.begin(), claims_.end(),
                                       [](const Claim& claim) { return claim.view < 0; });
    if (leftovers) {
      auto rest = std::find(views_.names.begin(), views_.names.end(), rest_name);
      if (rest == views_.names.end()) rest = views_.names.insert(rest, rest_name);
      const auto view = static_cast<std::int32_t>(rest - views_.names.begin());
      for (Claim& claim : claims_) {
        if (claim.view < 0) claim.view = view;
      }
    }
    for (const std::int32_t source : encoder_.source_of()) {
      views_.view_of.push_back(claims_[static_cast<std::size_t>(source)].view);
    }
    return std::move(views_);
  }

  [[noreturn]] void fail(std::string_view message) const {
    fail_input("{}:{}: {}", path_, line_, message);
  }

  const std::string& path_;
  const Encoder& encoder_;
  Views views_;
  std::vector<Claim> claims_;
  std::size_t line_ = 0;
};

}  // namespace

Views Views::all(const Encoder& encoder) {
  return {{"all"}, std::vector<std::int32_t>(encoder.cols(), 0)};
}

Views Views::each(const Encoder& encoder) {
  Views views;
  views.view_of = encoder.source_of();
  for (std::size_t s = 0; s < encoder.source_count(); ++s) {
    views.names.push_back(encoder.source_name(s));
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
  if (spec == "all") return all(encoder);
  if (spec == "each") return each(encoder);
  return from_file(spec, encoder);
}

std::vector<std::int32_t> Views::columns_of(std::size_t view) const {
  std::vector<std::int32_t> columns;
  for (std::size_t c = 0; c < view_of.size(); ++c) {
    if (view_of[c] == static_cast<std::int32_t>(view)) {
      columns.push_back(static_cast<std::int32_t>(c));
    }
  }
  return columns;
}

nlohmann::json Views::to_json() const { return {{"names", names}, {"view_of", view_of}}; }

Views Views::from_json(const nlohmann::json& json) {
  Views views;
  views.names = detail::json_field<std::vector<std::string>>(json, "names", "views");
  views.view_of = detail::json_field<std::vector<std::int32_t>>(json, "view_of", "views");
  const std::unordered_set<std::string> distinct(views.names.begin(), views.names.end());
  const auto count = static_cast<std::int32_t>(views.names.size());
  const bool sound = count > 0 && distinct.size() == views.names.size() &&
                     std::all_of(views.view_of.begin(), views.view_of.end(),
                                 [&](std::int32_t view) { return view >= 0 && view < count; });
  if (!sound) fail_input("views: names or columns are invalid; the file is damaged or was edited");
  return views;
}

}  // namespace covshift
