// The --report flag of the commands that have a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "covshift/options/option.hpp"

namespace covshift::cli {

Option report_file(std::string& path);
/// Throws Error if the page cannot be written, because this build has none or the folder does not
/// exist; called before any work is done.
void check_report(const std::string& path);
void write_report(const std::string& path, const std::string& kind, const std::string& title,
                  const nlohmann::ordered_json& data);

}  // namespace covshift::cli
