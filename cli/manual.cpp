#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "covshift/base/file.hpp"
#include "covshift/base/version.hpp"

namespace covshift::cli {
namespace {

/// Text that means nothing else to man: a dash is no hyphen, and no line is a command.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '~' || c == '^' || c == '`') {
      out += c == '~' ? "\\(ti" : c == '^' ? "\\(ha" : "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += out.empty() && c == '.' ? "\\&." : std::string(1, c);
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string heading(const std::string& name, const std::string& summary) {
  return fmt::format(
      ".TH {} 1 \"\" \"covshift {}\" \"User Commands\"\n.nh\n.ad l\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      escaped(upper(name)), version(), escaped(name), escaped(summary));
}

/// A section of lines that stay as they are.
std::string verbatim(std::string_view title, std::string_view text) {
  std::string out = fmt::format(".SH {}\n.nf\n", title);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    out += escaped(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return out + "\n.fi\n";
}

/// What the help shows below the options: a title, a colon, and lines.
std::string footer_section(const std::string& footer) {
  const std::size_t colon = footer.find(":\n");
  if (colon == std::string::npos) return "";
  std::string_view lines = footer;
  lines.remove_prefix(colon + 2);
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  return verbatim(upper(footer.substr(0, colon)), lines);
}

/// Values to choose from, not a short word for any value ("FILE", "a,b").
bool listed(const Option& option) {
  return option.values.find('|') != std::string::npos || option.values.size() > 20;
}

/// The name of an option as it is typed, bold, and its value, in italics.
std::string tag(const Option& option) {
  std::string names = "\\fB" + escaped(option.flag) + "\\fR";
  const std::size_t comma = names.find(',');
  if (comma != std::string::npos) names.replace(comma, 1, "\\fR, \\fB");
  if (!option.flag.starts_with('-') || option.type == OptionType::flag) return names;
  const std::string value = option.type == OptionType::list ? "VALUE,..." : "VALUE";
  return fmt::format("{} \\fI{}\\fR", names, listed(option) ? value : escaped(option.values));
}

std::string manual_description(const Option& option) {
  std::string out = escaped(option.help) + ".\n";
  if (listed(option)) {
    out += "Values: ";
    for (const char c : option.values) {
      out += escaped(std::string(1, c));
      if (c == '|' || c == ',') out += "\\:";  // a line may end here
    }
    out += ".\n";
  }
  if (option.required) return out + "Required.\n";
  if (option.type == OptionType::flag || option.fallback.empty()) return out;
  return out + "Default: " + escaped(option.fallback) + ".\n";
}

std::string command_page(const CLI::App& command, const Options& options) {
  std::string usage, list, group;
  for (const Option& option : options) {
    if (!option.flag.starts_with('-')) {
      const std::string name = "\\fI" + escaped(option.flag) + "\\fR";
      usage += option.required ? ' ' + name : " [" + name + ']';
    }
    if (option.group != group && (!group.empty() || option.group != "Options")) {
      list += ".SS " + escaped(option.group) + '\n';
    }
    group = option.group;
    list += ".TP\n" + tag(option) + '\n' + manual_description(option);
  }
  return heading("covshift-" + command.get_name(), command.get_description()) + "\\fBcovshift " +
         escaped(command.get_name()) + "\\fR [\\fIOPTION\\fR]..." + usage + "\n.SH OPTIONS\n" +
         list + ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint a summary of the command.\n" +
         footer_section(command.get_footer()) + ".SH SEE ALSO\n.BR covshift (1)\n";
}

constexpr std::string_view program_notes =
    ".SH SEVERAL PROCESSES\n"
    "Under mpirun or srun, covshift hands over to covshift\\-mpi, which is installed beside it "
    "where\n"
    "MPI was found at build time: fit, predict, evaluate and diagnose then share the work.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBCOVSHIFT_KERNELS\\fR\n"
    "The instruction set of the innermost loops, baseline, avx2 or avx512, instead of the best "
    "that\n"
    "the processor has.\n"
    ".TP\n\\fBTMPDIR\\fR\n"
    "The folder for the cache of \\fB\\-\\-memory\\fR where \\fB\\-\\-cache\\-dir\\fR names none.\n"
    ".TP\n\\fBSOURCE_DATE_EPOCH\\fR\n"
    "The date on report pages, in seconds since 1970, instead of today.\n"
    ".SH EXIT STATUS\n0: success; 1: the run failed; 2: a usage error.\n"
    "Results go to standard output, messages to standard error.\n";

/// The program's own page; its description is a line, an empty one, and examples.
std::string program_page(const CLI::App& app, const Common& common) {
  const std::string text = app.get_description();
  const std::size_t line = text.find('\n');
  std::string summary = text.substr(0, line);
  summary = summary.substr(summary.find(": ") + 2);
  if (summary.ends_with('.')) summary.pop_back();
  std::string out = heading("covshift", summary) +
                    "\\fBcovshift\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n"
                    "\\fBcovshift\\fR \\fBhelp\\fR [\\fICOMMAND\\fR]\n.br\n"
                    "\\fBcovshift\\fR \\fB\\-\\-version\\fR | \\fB\\-\\-help\\fR\n.SH COMMANDS\n";
  for (const auto& [command, options] : common.commands) {
    out += fmt::format(".TP\n.BR covshift\\-{} (1)\n{}.\n", escaped(command->get_name()),
                       escaped(command->get_description()));
  }
  return out + verbatim("EXAMPLES", text.substr(text.find("\n  ") + 1)) +
         std::string(program_notes);
}

}  // namespace

void write_manual(const CLI::App& app, const Common& common, const std::string& folder) {
  std::vector<FileContent> pages = {{folder + "/covshift.1", program_page(app, common)}};
  for (const auto& [command, options] : common.commands) {
    pages.push_back({fmt::format("{}/covshift-{}.1", folder, command->get_name()),
                     command_page(*command, options)});
  }
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  write_whole(pages);
}

}  // namespace covshift::cli
