// options/: the table of options (options.hpp) and its rows (here). The program's flags, help,
// completion and docs/options.md, and the Python package's defaults and checks all come from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/range.hpp"

namespace covshift {

enum class OptionType {
  text,
  number,
  whole,
  text_or_number,
  list,      ///< a,b,c on the command line
  interval,  ///< two numbers
  flag,      ///< no value on the command line, True or False in Python
};

/// On the command line ("--scale", "-o,--output", "TRAIN" for a positional argument) and in Python
/// (empty: only in the program), with Python's default if it differs.
struct OptionName {
  const char* flag;
  const char* python = "";
  const char* python_fallback = nullptr;
};

/// A row of the table, bound to the variable it sets. The default is the variable's value when the
/// row is created.
struct Option {
  std::string flag, python;
  std::optional<std::string> python_fallback;
  OptionType type = OptionType::text;
  std::string values;    ///< "unit|standard|none"; capitals stand for any value: "FILE"
  std::string fallback;  ///< the default as users write it; empty: none
  std::string help;      ///< one sentence
  std::function<void(const std::vector<std::string>&)> set;  ///< throws Error
  bool required = false;
  std::string group = "Options";  ///< heading in the help
};
using Options = std::vector<Option>;

/// "a|b|c".
std::string joined(std::span<const std::string_view> words, std::string_view separator = "|");
/// The text; throws Error if it is not one of the words.
const std::string& one_of(const std::string& text, std::span<const std::string_view> known);
/// Throws Error if the text is not a finite number in the range.
double parse_in(const Range& range, const std::string& text);

// --- rows ---

/// Any number of texts, or one text.
Option row(OptionName name, OptionType type, std::string values, std::string fallback,
           std::string help, std::function<void(const std::vector<std::string>&)> set);
Option parsed(OptionName name, OptionType type, std::string values, std::string fallback,
              std::string help, std::function<void(const std::string&)> set);
Option text(OptionName name, std::string& x, std::string values, std::string help);
/// One of the words.
Option word(OptionName name, std::string& x, const std::vector<std::string_view>& known,
            std::string help);
Option number(OptionName name, double& x, const Range& range, std::string help);
Option number_or_cv(OptionName name, std::optional<double>& x, const Range& range,
                    std::string help);
/// Two numbers, 0 < low <= high.
Option interval(OptionName name, std::string fallback, std::string help,
                std::function<void(double low, double high)> set);
Option list(OptionName name, std::vector<std::string>& x, std::string values, std::string help);
/// Present on the command line: x = value.
Option flag(OptionName name, bool& x, std::string help, bool value = true);

template <typename E>
Option choice(OptionName name, E& x, std::string help) {
  return parsed(name, OptionType::text, joined(names_of<E>()), std::string(to_string(x)),
                std::move(help), [&x](const std::string& given) { x = parse_name<E>(given); });
}

/// A number 0, 1, 2, ...
template <typename Int>
Option whole(OptionName name, Int& x, const Range& range, std::string help) {
  if (*range.note != '\0') help += fmt::format(" ({})", range.note);
  return parsed(
      name, OptionType::whole, "N", fmt::format("{}", x), std::move(help),
      [&x, range](const std::string& given) {
        const std::optional<std::uint64_t> value = parse_count(given);
        if (!value || !std::in_range<Int>(*value) || !range.contains(static_cast<double>(*value))) {
          fail_input("must be a whole number{}, not '{}'", range.text(), given);
        }
        x = static_cast<Int>(*value);
      });
}

inline Option required(Option option) {
  option.required = true;
  return option;
}

/// Sets the option. Errors start with `name`, as the user knows it.
void set_option(const Option& option, std::string_view name, const std::vector<std::string>& given);

}  // namespace covshift
