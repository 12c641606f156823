// report/: results as one self-contained HTML page, which loads nothing. The page (page.html,
// page.css, page.js) and the plotting library are embedded at build time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace covshift {

/// False if built without the plotting library; report_page then throws an Error that says how to
/// get it.
bool report_available();

/// The page for what `kind` (diagnose, compare, estimate or demo) found. `data` is the same object
/// that the program prints with --json: the page shows no other numbers. Strings in it are never
/// interpreted as HTML. `made`: how it came about, for the foot of the page; each of date, files (a
/// list), label, command and seed may be missing.
std::string report_page(std::string_view kind, std::string_view title,
                        const nlohmann::ordered_json& data, const nlohmann::ordered_json& made);
std::string report_page(std::string_view kind, std::string_view title,
                        const nlohmann::ordered_json& data);

/// Today as 2026-01-31 in UTC; what SOURCE_DATE_EPOCH says, where it is set, so that the same
/// command writes the same page.
std::string report_date();

}  // namespace covshift
