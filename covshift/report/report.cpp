#include "covshift/report/report.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/version.hpp"

namespace covshift {
namespace embedded {
extern const std::string_view page;
extern const std::string_view style;
extern const std::string_view charts;
extern const std::string_view script;
extern const std::string_view library;
}  // namespace embedded

namespace {

/// JSON for a script element. '<' occurs only in strings, where \u003c means the same, so no string
/// can end the element or begin a comment. Non-ASCII characters are escaped, invalid UTF-8
/// replaced.
std::string script_json(const nlohmann::ordered_json& data) {
  const std::string text =
      data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

bool report_available() { return !embedded::library.empty(); }

std::string report_date() {
  const char* const fixed = std::getenv("SOURCE_DATE_EPOCH");
  const auto seconds = fixed == nullptr ? std::nullopt : parse_count(fixed);
  const auto now = seconds
                       ? std::chrono::sys_seconds(std::chrono::seconds(*seconds))
                       : std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

std::string report_page(std::string_view kind, std::string_view title,
                        const nlohmann::ordered_json& data) {
  return report_page(kind, title, data, {{"date", report_date()}});
}

std::string report_page(std::string_view kind, std::string_view title,
                        const nlohmann::ordered_json& data, const nlohmann::ordered_json& made) {
  if (!report_available()) {
    fail_input(
        "this covshift was built without the plotting library of the report; run "
        "scripts/report_library.sh (it needs npm) and build again, or use --json");
  }
  const nlohmann::ordered_json content = {
      {"kind", kind}, {"title", title}, {"version", version()}, {"made", made}, {"data", data}};
  const std::string json = script_json(content);
  // The template names what goes where: {{style}}, {{library}}, {{data}}, {{charts}}, {{script}}.
  // Filled in one pass: what is inserted is not searched for placeholders.
  std::string out;
  std::string_view rest = embedded::page;
  while (true) {
    const std::size_t open = rest.find("{{");
    const std::size_t close = rest.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    out += rest.substr(0, open);
    out += name == "style"     ? embedded::style
           : name == "library" ? embedded::library
           : name == "data"    ? std::string_view(json)
           : name == "charts"  ? embedded::charts
                               : embedded::script;
    rest = rest.substr(close + 2);
  }
  out += rest;
  return out;
}

}  // namespace covshift
