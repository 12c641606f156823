// report/: a page to open in a browser and to send to a colleague: one file, nothing loaded from
// anywhere. Uses base/. The page (page.html, page.css, page.js) and the plotting library are
// embedded when the library is built.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace covshift {

/// False if this was built without the plotting library; report_page then throws an Error that says
/// how to get it.
bool report_available();

/// The page for what `kind` (diagnose, compare or demo) found. `data` is the same object that the
/// program prints with --json: the page shows no number that is not in it. Texts in it may be
/// anything; none is ever read as HTML.
std::string report_page(std::string_view kind, std::string_view title,
                        const nlohmann::ordered_json& data);

}  // namespace covshift
