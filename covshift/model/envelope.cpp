#include "covshift/model/envelope.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/version.hpp"
#include "covshift/data/json_fields.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

constexpr std::string_view body_key = "\"body\": ";

/// CRC-32 as in gzip files, a byte at a time: parsing the text takes far longer.
std::string checksum(std::string_view text) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> rest{};
    for (std::uint32_t byte = 0; byte < rest.size(); ++byte) {
      rest[byte] = byte;
      for (int bit = 0; bit < 8; ++bit) {
        rest[byte] = (rest[byte] >> 1U) ^ ((rest[byte] & 1U) != 0 ? 0xedb88320U : 0U);
      }
    }
    return rest;
  }();
  std::uint32_t sum = 0xffffffff;
  for (const char c : text) {
    sum = (sum >> 8U) ^ table[(sum ^ static_cast<unsigned char>(c)) & 0xffU];
  }
  return fmt::format("{:08x}", sum ^ 0xffffffffU);
}

/// The parts of a file are few levels deep. What is nested far deeper would exhaust the stack when
/// it is copied.
void check_depth(const FileFormat& format, std::string_view text, const std::string& source) {
  constexpr int deepest = 100;
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (depth > deepest) {
      fail_input("{}: this is not a {} (nested more than {} levels deep at byte {})", source,
                 format.name, deepest, at + 1);
    }
  }
}

}  // namespace

std::string seal(const FileFormat& format, const json& body) {
  const std::string text = body.dump();
  return fmt::format(
      "{{\n\"format\": \"{}\",\n\"version\": {},\n\"program\": \"covshift {}\",\n\"checksum\": "
      "\"{}\",\n{}{}\n}}\n",
      format.name, format.version, version(), checksum(text), body_key, text);
}

json unseal(const FileFormat& format, const std::string& text, const std::string& source) {
  json file;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] != '{' && text[first] != '[') {
    fail_input(
        "{}: this is not a {} file, which starts with '{{', or it is damaged; check the order "
        "of the files",
        source, format.what);
  }
  check_depth(format, text, source);
  try {
    file = json::parse(text);
  } catch (const json::parse_error& e) {
    fail_input(
        "{}: not a complete {} file (truncated or damaged at byte {}); train again or "
        "copy it again",
        source, format.what, e.byte);
  } catch (const json::exception&) {
    fail_input("{}: a number in this {} file is out of range; the file is damaged or was edited",
               source, format.what);
  }
  if (!file.is_object() || file.value("format", json()) != format.name) {
    fail_input("{}: this is not a {} (\"format\" is not \"{}\")", source, format.name, format.name);
  }
  const int found = json_field<int>(file, "version", source);
  if (found > format.version) {
    fail_input(
        "{}: a {} of format version {}; this program reads up to version {}: use a newer covshift",
        source, format.what, found, format.version);
  }
  if (found < 1) fail_input("{}: there is no format version {}", source, found);
  // The checksum is that of the body as stored: one line.
  const std::size_t key = text.find(body_key);
  const std::size_t begin = key == std::string::npos ? text.size() : key + body_key.size();
  const std::string_view line =
      std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  if (checksum(line) != json_field<std::string>(file, "checksum", source)) {
    fail_input(
        "{}: the checksum does not match: the file was damaged or edited by hand; train again "
        "or copy it again",
        source);
  }
  return json_field<json>(file, "body", source);
}

}  // namespace covshift
