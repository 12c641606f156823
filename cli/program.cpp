#include "cli/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/version.hpp"

namespace {

using namespace covshift;

bool is_command(const cli::Common& common, std::string_view word) {
  return std::any_of(common.commands.begin(), common.commands.end(),
                     [&](const auto& own) { return own.first->get_name() == word; });
}

/// What people call commands elsewhere.
std::string_view known_as(std::string_view word) {
  constexpr auto others = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"train", "fit"}, {"learn", "fit"}, {"score", "evaluate"}, {"test", "evaluate"}});
  for (const auto& [other, own] : others) {
    if (word == other) return own;
  }
  return {};
}

/// The arguments, where `help` asks as --help does, and a command that does not exist cannot be
/// asked for help.
std::vector<std::string> arguments(int argc, char** argv, const cli::Common& common) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words[0].starts_with('-')) return words;
  if (words[0] == "help") {
    words.erase(words.begin());
    if (words.empty() || words[0].starts_with('-')) return {"--help"};
    words.resize(1);
    if (is_command(common, words[0])) words.emplace_back("--help");
  } else if (!is_command(common, words[0])) {
    std::erase_if(words, [](const std::string& word) { return word == "-h" || word == "--help"; });
  }
  return words;
}

/// What is wrong with a call. An unknown command or flag comes first, with the one that it was
/// probably meant to be: what else is missing may follow from it.
std::string complaint(const CLI::App& app, const cli::Common& common, const CLI::Error& e) {
  const bool no_command = app.get_subcommands().empty();
  for (const std::string& word : app.remaining(true)) {
    if (!no_command && !word.starts_with('-')) continue;
    const bool option = word.starts_with('-');
    std::vector<std::string> known;
    if (no_command && option) {
      for (const CLI::Option* own : app.get_options()) known.push_back(own->get_name());
    }
    if (const std::string_view own = known_as(word); no_command && !own.empty()) {
      return fmt::format("there is no command '{}'; did you mean '{}'?", word, own);
    }
    for (const auto& [command, options] : common.commands) {
      if (no_command && !option) known.push_back(command->get_name());
      if (!command->parsed()) continue;
      for (const CLI::Option* own : command->get_options()) known.push_back(own->get_name());
    }
    return fmt::format("there is no {} '{}'{}", option ? "option" : "command", word,
                       suggestion(word, std::vector<std::string_view>(known.begin(), known.end())));
  }
  std::string text = e.what();
  const std::size_t twice = text.find(": At Most 1 required");
  return twice == std::string::npos ? text : text.substr(0, twice) + " is given more than once";
}

int run_command(int argc, char** argv, const Reducer* reducer) {
  CLI::App app(
      "covshift: classifiers that stay honest when the data they are used on differ from the data "
      "they were trained on.\n\n"
      "Start here:\n"
      "  covshift demo                                    see what it does, no files needed\n"
      "  covshift diagnose train.csv new.csv --label y    is there shift, and what to do\n"
      "  covshift compare train.csv new.csv --label y --report report.html\n"
      "  covshift fit train.csv --target new.csv --label y -o model.json\n"
      "  covshift predict model.json new.csv -o predictions.csv\n"
      "  covshift evaluate model.json labelled.csv\n"
      "  covshift estimate model.json labelled.csv --target new.csv    how good on new.csv?");
  app.name("covshift");
  app.footer("covshift help COMMAND shows the options of a command.");
  app.set_version_flag("--version", "covshift " + std::string(version()));
  app.require_subcommand(argc > 1 ? 1 : 0);
  cli::Common common;
  common.reducer = reducer;
  app.failure_message([&](const CLI::App* /*app*/, const CLI::Error& e) {
    return cli::printable(fmt::format("covshift: {}\nRun with --help for more information.\n",
                                      complaint(app, common, e)),
                          true);
  });
  for (const auto add :
       {cli::add_fit, cli::add_predict, cli::add_evaluate, cli::add_estimate, cli::add_export,
        cli::add_diagnose, cli::add_compare, cli::add_sample, cli::add_demo, cli::add_reproduce,
        cli::add_datasets, cli::add_completion, cli::add_options_page}) {
    add(app, common);
  }
  if (reducer != nullptr) {
    for (const auto& [command, options] : common.commands) {
      static const std::set<std::string> shared = {"fit", "predict", "evaluate", "diagnose"};
      const std::string name = command->get_name();
      if (shared.contains(name)) continue;
      command->parse_complete_callback([name] {
        throw CLI::ValidationError(name, "runs in one process: start it without mpirun");
      });
    }
  }
  try {
    std::vector<std::string> words = arguments(argc, argv, common);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
    if (argc <= 1) fmt::print("{}", app.help());
  } catch (const CLI::ParseError& e) {
    // Help and version are not errors; everything else is a usage error.
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  } catch (const Error& e) {
    cli::message(e.what());
    return e.kind() == Error::Kind::stopped ? 130 : 1;
  } catch (const std::bad_alloc&) {
    cli::message("out of memory; use fewer rows or columns");
    return 1;
  } catch (const std::system_error& e) {
    // What printing failed with names no file: finish_output says that it is standard output.
    if (std::ferror(stdout) == 0) cli::message(e.what());
    errno = e.code().value();
    return 1;
  } catch (const std::exception& e) {
    cli::message(e.what());
    return 1;
  }
  return 0;
}

}  // namespace

int covshift::cli::run_program(int argc, char** argv, const Reducer* reducer) {
  open_standard_streams();
  end_on_interrupt();
  note_command(argc, argv);
  const int code = run_command(argc, argv, reducer);
  return finish_output() || code != 0 ? code : 1;
}
