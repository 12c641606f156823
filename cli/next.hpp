// What to run next, as a command that can be pasted into a shell.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "covshift/diagnose/trust.hpp"

namespace covshift::cli {

/// `covshift NAME WORDS`, then what the user gave to `called` of the options that NAME has too, but
/// for --label, what only concerns the output, and those left out.
std::string next_command(const CLI::App& called, const std::string& name,
                         const std::vector<std::string>& words,
                         const std::set<std::string>& left_out = {});

/// The files of a fit.
struct FitFiles {
  std::string train, target;
  std::string label;  ///< empty: the files have their own (svmlight)
};
/// The fit of a method of `compare`'s table.
std::string next_fit(const CLI::App& called, const FitFiles& files, const std::string& method);

/// The answer to whether a model can be trusted on the target, and its grounds.
void print_trust(const TrustAnswer& answer);

/// The file that next_fit writes.
constexpr const char* next_model = "model.json";

}  // namespace covshift::cli
