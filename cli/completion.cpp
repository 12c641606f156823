#include <fmt/format.h>

#include "cli/commands.hpp"

namespace covshift::cli {
namespace {

std::string flags_of(const CLI::App& command) {
  std::string flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags += " --" + name;
  }
  return flags;
}

/// A bash function made from the program's own commands and flags: it cannot fall behind them.
std::string bash_script(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands += " " + command->get_name();
    cases +=
        fmt::format("    {}) flags=\"{}\" ;;\n", command->get_name(), flags_of(*command).substr(1));
  }
  return fmt::format(R"(_covshift() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _covshift covshift
)",
                     commands.substr(1), cases);
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* completion = app.add_subcommand(
      "completion", "Print a script that completes commands and flags in a shell");
  completion->add_option("SHELL", *shell, "bash|zsh: source <(covshift completion bash)")
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->capture_default_str();
  completion->callback([&app, shell] {
    if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    fmt::print("{}", bash_script(app));
  });
}

}  // namespace covshift::cli
