// Shell completion and docs/options.md, made from the options of every command.
#include <fmt/format.h>

#include <cctype>

#include "cli/commands.hpp"
#include "cli/manual.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

/// The words that a shell can complete: of "all|each|FILE" the first two, of "temper:G" "temper:".
std::string words_of(const std::string& values) {
  std::string words, word;
  for (const char c : values + '|') {
    if (c != '|' && c != ',') {
      word += c;
      continue;
    }
    word = word.substr(0, word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ["));
    if (word.size() > 1) words += (words.empty() ? "" : " ") + word;
    word.clear();
  }
  return words;
}

std::string long_name(const Option& option) {
  const std::size_t dashes = option.flag.find("--");
  return dashes == std::string::npos ? "" : option.flag.substr(dashes);
}

std::string bash_script(const Common& common) {
  std::string commands, cases;
  for (const auto& [command, options] : common.commands) {
    std::string flags = "--help", words, values;
    for (const Option& option : options) {
      const std::string known = words_of(option.values);
      const std::string name = long_name(option);
      if (!name.empty()) flags += ' ' + name;
      if (name.empty()) words += known;
      if (!name.empty() && !known.empty()) {
        values += fmt::format("        {}) {}=\"{}\" ;;\n", name,
                              option.values.ends_with("FILE") ? "words" : "values", known);
      }
    }
    commands += command->get_name() + ' ';
    cases += fmt::format(
        "    {}) flags=\"{}\" words=\"{}\"\n      case \"$before\" in\n{}        *) ;;\n      esac "
        ";;\n",
        command->get_name(), flags, words, values);
  }
  return fmt::format(R"(_covshift() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local flags="" words="" values=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}--help --version" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$word"))
       else COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word")); fi ;;
  esac
}}
complete -o filenames -F _covshift covshift
)",
                     commands, cases);
}

/// In a table of Markdown.
std::string cell(const std::string& text, bool code) {
  if (text.empty()) return "";
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return code ? '`' + out + '`' : out;
}

void print_options(const std::string& title, const Options& options, bool python_only) {
  fmt::print("\n## {}\n\n", title);
  if (!python_only) fmt::print("| flag ");
  fmt::print("| Python | values | default | |\n{}|---|---|---|---|\n", python_only ? "" : "|---");
  for (const Option& o : options) {
    if (!python_only) fmt::print("| {} ", cell(o.flag, true));
    std::string fallback = cell(o.type == OptionType::flag ? "" : o.fallback, true);
    if (o.python_fallback) fallback += fmt::format(" (Python: `{}`)", *o.python_fallback);
    fmt::print("| {} | {} | {} | {} |\n", cell(o.python, true), cell(o.values, true),
               o.required ? "required" : fallback, cell(o.help, false));
  }
}

void print_page(const Common& common) {
  fmt::print(
      "# Options\n\nWritten by `covshift options > docs/options.md` from the table in "
      "`covshift/options/options.cpp`; a test compares\nthe two. Words in capitals stand for any "
      "value. Every command except `completion` and `options` also takes `--json`, `--quiet` and "
      "`--threads N`.\n");
  for (const auto& [command, options] : common.commands) {
    Options own = options;
    std::erase_if(own, [](const Option& o) {
      return o.flag == "--json" || o.flag == "-q,--quiet" || o.flag == "--threads";
    });
    if (!own.empty()) print_options("covshift " + command->get_name(), own, false);
  }
  for (const auto& [name, options] : python_options()) {
    if (name.ends_with("Ratio") ||
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == name.npos) {
      print_options("Python: " + name, options, true);
    }
  }
}

}  // namespace

void add_completion(CLI::App& app, Common& common) {
  auto shell = std::make_shared<std::string>("bash");
  add_command(app, common, "completion",
              "Print a script that completes commands, flags and values in a shell",
              {word({"SHELL"}, *shell, {"bash", "zsh"}, "source <(covshift completion bash)")},
              false)
      .callback([&common, shell] {
        if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
        fmt::print("{}", bash_script(common));
      });
}

void add_options_page(CLI::App& app, Common& common) {
  auto manual = std::make_shared<std::string>();
  add_command(app, common, "options", "Print every option of every command as Markdown",
              {text({"--man"}, *manual, "FOLDER",
                    "Instead, write a manual page for each command to this folder")},
              false)
      .callback([&app, &common, manual] {
        if (manual->empty()) {
          print_page(common);
        } else {
          write_manual(app, common, *manual);
        }
      });
}

}  // namespace covshift::cli
