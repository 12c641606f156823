#include "cli/next.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "covshift/base/words.hpp"
#include "covshift/shift/methods.hpp"

namespace covshift::cli {

std::string next_command(const CLI::App& called, const std::string& name,
                         const std::vector<std::string>& words,
                         const std::set<std::string>& left_out) {
  static const std::set<std::string> own = {"label", "json", "quiet", "threads", "help"};
  std::string command = "covshift " + name;
  for (const std::string& word : words) command += ' ' + shell_word(word);
  const CLI::App* const next = called.get_parent()->get_subcommand(name);
  for (const CLI::Option* option : called.get_options()) {
    const std::string& flag = option->get_single_name();
    if (option->get_positional() || option->count() == 0 || own.contains(flag) ||
        left_out.contains("--" + flag) || next->get_option_no_throw("--" + flag) == nullptr) {
      continue;
    }
    command += " --" + flag;
    if (option->get_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) command += ' ' + shell_word(value);
  }
  return command;
}

void print_trust(const TrustAnswer& answer) {
  fmt::print("Can a model of these data be trusted on the new rows? {}. {}\n",
             answer.trust == Trust::yes      ? "Yes"
             : answer.trust == Trust::partly ? "Partly"
                                             : "No",
             printable(answer.headline));
  fmt::print("  How good: {}. {}\n", answer.performance, answer.basis);
  for (const std::string& sentence : answer.evidence) fmt::print("  {}\n", sentence);
  fmt::print("  {}\n\n", printable(answer.next));
}

std::string next_fit(const CLI::App& called, const FitFiles& files, const std::string& method) {
  std::vector<std::string> words = {files.train, "--target", files.target};
  if (!files.label.empty()) words.insert(words.end(), {"--label", files.label});
  if (method == "tempered") {
    words.insert(words.end(), {"--method", "robust", "--generalize", "temper:auto"});
  } else if (method != "auto") {
    words.insert(words.end(), {"--method", method});
  }
  words.insert(words.end(), {"-o", next_model});
  const bool named = method != "auto" && method != "tempered";
  const bool unused = named && find_method(method).generalize == Assumption::Kind::none;
  return next_command(called, "fit", words, unused ? shift_flags() : std::set<std::string>());
}

}  // namespace covshift::cli
