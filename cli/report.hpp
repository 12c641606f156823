// The --report flag of the commands that have a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/training.hpp"
#include "covshift/options/option.hpp"

namespace covshift::cli {

/// Notes the command line, for the foot of the page.
void note_command(int argc, const char* const* argv);

Option report_file(std::string& path);
/// Throws Error if the page cannot be written, because this build has none or the folder does not
/// exist; called before any work is done.
void check_report(const std::string& path);

/// What a page is made from.
struct Made {
  std::string kind;                ///< diagnose, compare or demo
  std::vector<std::string> files;  ///< training, target and, if there are any, labels of the target
  std::string label;
  unsigned long long seed = 0;
};
void write_report(const std::string& path, const Made& made, const nlohmann::ordered_json& data);

/// Adds the kept columns of the target (--keep) to the rows that a diagnosis names.
void add_ids(const std::vector<KeptColumn>& kept, nlohmann::ordered_json& diagnosis);

}  // namespace covshift::cli
