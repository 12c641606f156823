#include "covshift/base/words.hpp"

#include <algorithm>

namespace covshift {
namespace {

/// The end of the quoted field at the start of a text: behind its last quote. 0 if there is none,
/// or if something other than a comma follows.
std::size_t quoted_end(std::string_view text) {
  if (!text.starts_with('"')) return 0;
  std::size_t at = text.find('"', 1);
  while (at != text.npos && text.substr(at + 1).starts_with('"')) at = text.find('"', at + 2);
  if (at == text.npos) return 0;
  return at + 1 == text.size() || text[at + 1] == ',' ? at + 1 : 0;
}

std::string unquoted(std::string_view field) {
  std::string text;
  for (std::size_t at = 1; at + 1 < field.size(); ++at) {
    text += field[at];
    if (field[at] == '"') ++at;  // two mean one
  }
  return text;
}

}  // namespace

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t quoted = quoted_end(text);
    const std::size_t end = quoted > 0 ? quoted : std::min(text.find(','), text.size());
    parts.push_back(quoted > 0 ? unquoted(text.substr(0, end)) : std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string shell_word(std::string_view text) {
  const bool plain =
      !text.empty() &&
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/+-") == text.npos;
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string list_word(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ',';
    list += csv_quoted(name);
  }
  return shell_word(list);
}

std::string list_word(const std::string& name) { return list_word({&name, 1}); }

}  // namespace covshift
