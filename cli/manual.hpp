// Manual pages.
#pragma once

#include <string>

#include "cli/commands.hpp"

namespace covshift::cli {

/// Writes a manual page for the program and one for each command (covshift-fit.1) to a folder.
void write_manual(const CLI::App& app, const Common& common, const std::string& folder);

}  // namespace covshift::cli
