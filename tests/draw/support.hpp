// What the tests of pictures share.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace covshift {

/// What is wrong with a text as XML, as far as our own documents go (tags, attributes in double
/// quotes, the five entities and numbered ones); empty if nothing is.
inline std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  bool had_root = false;
  const auto plain = [](std::string_view text) -> std::string {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return "a control character";
      if (c == '<' || c == '"') return "a bare " + std::string(1, text[i]);
      if (c != '&') continue;
      const std::size_t end = text.find(';', i);
      const std::string_view name = text.substr(i + 1, end - i - 1);
      if (end == std::string_view::npos ||
          (name != "amp" && name != "lt" && name != "gt" && name != "quot" && name != "#39")) {
        return "a bare ampersand";
      }
    }
    return "";
  };
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '-';
  };
  while (!xml.empty()) {
    const std::size_t tag = std::min(xml.find('<'), xml.size());
    if (const std::string fault = plain(xml.substr(0, tag)); !fault.empty()) return fault;
    if (open.empty() && xml.substr(0, tag).find_first_not_of(" \n") != std::string_view::npos) {
      return "text outside the root";
    }
    xml.remove_prefix(tag);
    if (xml.empty()) break;
    xml.remove_prefix(1);
    const bool closing = xml.starts_with('/');
    if (closing) xml.remove_prefix(1);
    std::size_t n = 0;
    while (n < xml.size() && is_name(xml[n])) ++n;
    const std::string name(xml.substr(0, n));
    if (name.empty()) return "a tag without a name";
    xml.remove_prefix(n);
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
      if (!xml.starts_with('>')) return "</" + name + " does not end";
      xml.remove_prefix(1);
      continue;
    }
    if (open.empty() && had_root) return "a second root";
    had_root = true;
    std::vector<std::string> attributes;
    while (xml.starts_with(' ')) {
      xml.remove_prefix(1);
      n = 0;
      while (n < xml.size() && is_name(xml[n])) ++n;
      const std::string attribute(xml.substr(0, n));
      for (const std::string& other : attributes) {
        if (other == attribute) return attribute + " twice in " + name;
      }
      attributes.push_back(attribute);
      xml.remove_prefix(n);
      if (attribute.empty() || !xml.starts_with("=\"")) return "no value of " + attribute;
      xml.remove_prefix(2);
      const std::size_t end = xml.find('"');
      if (end == std::string_view::npos) return "an open quote in " + name;
      if (const std::string fault = plain(xml.substr(0, end)); !fault.empty()) return fault;
      xml.remove_prefix(end + 1);
    }
    if (xml.starts_with("/>")) {
      xml.remove_prefix(2);
    } else if (xml.starts_with('>')) {
      xml.remove_prefix(1);
      open.push_back(name);
    } else {
      return "<" + name + " does not end";
    }
  }
  if (!open.empty()) return "<" + open.back() + "> stays open";
  return had_root ? "" : "no root";
}

}  // namespace covshift
