// Lists of names on a command line, and names in remedies that a user pastes into a shell.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace covshift {

/// A field of a line of CSV: in quotes if it has a comma, a quote or a line end.
std::string csv_quoted(std::string_view text);
/// The parts of a,b,c. A part may be in quotes, as in CSV: "my, id",x.
std::vector<std::string> split(std::string_view text);
/// The text as one word of a shell command, quoted where it must be.
std::string shell_word(std::string_view text);
/// Names as the value of an option that takes a list, for the shell.
std::string list_word(std::span<const std::string> names);
std::string list_word(const std::string& name);

}  // namespace covshift
