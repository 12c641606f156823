#include "covshift/model/envelope.hpp"

#include <zlib.h>

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/version.hpp"
#include "covshift/data/json_fields.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

constexpr std::string_view body_key = "\"body\": ";

std::string checksum(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return fmt::format("{:08x}", ::crc32_z(0, bytes, text.size()));
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
  try {
    file = json::parse(text);
  } catch (const json::parse_error& e) {
    fail_input(
        "{}: not a complete {} file (truncated or damaged at byte {}); train again or "
        "copy it again",
        source, format.what, e.byte);
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
