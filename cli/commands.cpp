#include "cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "covshift/base/file.hpp"
#include "covshift/base/words.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/engine/agree.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

/// Wrapped text; ~ is a non-breaking space.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 68;
  std::string out;
  std::size_t column = 0;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const bool fits = column + word.size() < width;
    if (column > 0) out += fits ? ' ' : '\n';
    out += word;
    column = (fits ? column + 1 : 0) + word.size();
  }
  std::replace(out.begin(), out.end(), '~', ' ');
  return out;
}

std::string description(const Option& row) {
  std::string text = row.help;
  if (row.values.find('|') != std::string::npos) text += fmt::format(" [values:~{}]", row.values);
  if (row.type != OptionType::flag && !row.fallback.empty()) {
    text += fmt::format(" [default:~{}]", row.fallback);
  }
  return wrapped(text);
}

void add_option(CLI::App& command, const Option& row) {
  const std::size_t dashes = row.flag.find("--");
  const std::string name = dashes == std::string::npos ? row.flag : row.flag.substr(dashes);
  const auto set = [row, name](const std::vector<std::string>& given) {
    try {
      set_option(row, name, row.type == OptionType::list ? split(given.at(0)) : given);
    } catch (const Error& e) {
      throw CLI::ValidationError(e.what());
    }
    return true;
  };
  if (row.type == OptionType::flag) {
    command
        .add_flag_callback(
            row.flag, [row] { row.set({}); }, description(row))
        ->group(row.group);
    return;
  }
  CLI::Option* option = command.add_option(row.flag, CLI::callback_t(set), description(row));
  if (row.type == OptionType::interval) option->expected(2);
  const std::string value = row.values.find('|') == std::string::npos ? row.values : "VALUE";
  option->option_text(option->get_positional() && row.required ? "(required)"
                      : row.required                           ? value + " (required)"
                      : option->get_positional()               ? " "
                                                               : value);
  option->required(row.required)->group(row.group);
}

}  // namespace

CLI::App& add_command(CLI::App& app, Common& common, const std::string& name,
                      const std::string& summary, Options options, bool prints) {
  CLI::App& command = *app.add_subcommand(name, summary);
  if (prints) {
    options = std::move(options) +
              Options{flag({"--json"}, common.json, "Print one JSON object on stdout"),
                      flag({"-q,--quiet"}, common.quiet, "Print no progress and no summary"),
                      threads_option(common.threads)};
  }
  for (const Option& row : options) add_option(command, row);
  common.commands.emplace_back(&command, std::move(options));
  return command;
}

Options operator+(Options options, Options more) {
  options.insert(options.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  return options;
}

Option train_file(std::string& path) {
  return required(text({"TRAIN"}, path, "FILE", "Training data: " + format_names()));
}
Option target_file(std::string& path) {
  return text({"TARGET"}, path, "FILE",
              "Unlabelled data from where the model will be used (labels in it are ignored)");
}
Option label_column(std::string& name) {
  return text({"--label"}, name, "COLUMN", "Column of the class (svmlight files have their own)");
}
Option output_file(std::string& path, const std::string& help, const char* flag) {
  return parsed({flag}, OptionType::text, "FILE", path, help, [&path](const std::string& given) {
    if (given.empty()) fail_input("must be the name of a file");
    path = given;
  });
}

void check_model(const std::string& path) {
  if (path != "-") return;
  throw CLI::ValidationError("MODEL", "a model cannot come from standard input; name its file");
}

void check_output(const std::string& path, const Common& common) {
  if (path.empty() || path == "-") return;
  if (common.reducer == nullptr) {
    check_writable(path);
  } else {
    agree(*common.reducer, [&] {
      if (is_first(common)) check_writable(path);
    });
  }
}

const std::set<std::string>& shift_flags() {
  static const std::set<std::string> flags = {"--ratio", "--ratio-lambda", "--generalized-views",
                                              "--view-threshold", "--caution"};
  return flags;
}

std::string views_file(const std::string& views) {
  return views == "all" || views == "each" ? "" : views;
}

std::string cost_file(const std::string& loss) {
  constexpr std::string_view prefix = "cost:";
  return loss.starts_with(prefix) ? loss.substr(prefix.size()) : "";
}

void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs,
                        const std::string& flag) {
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
    throw CLI::ValidationError("-", "standard input can be read only once; name a file");
  }
  if (output.empty() || output == "-") return;
  std::error_code ignored;
  const auto status = std::filesystem::status(output, ignored);
  // Not a terminal or pipe, which may well be input and output.
  const bool file = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  for (const std::string& input : inputs) {
    if (input.empty() || input == "-") continue;
    if (output == input || (file && same_place(output, input))) {
      throw CLI::ValidationError(
          flag, fmt::format("{} would overwrite {}, which this command uses; choose another name",
                            output, input));
    }
  }
}

}  // namespace covshift::cli
