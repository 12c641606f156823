#include "covshift/options/option.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "covshift/data/number.hpp"

namespace covshift {

std::string Range::text() const {
  std::string out;
  if (std::isfinite(low) && std::isfinite(high)) {
    out = low_excluded || high_excluded ? fmt::format(" in {}{}, {}{}", low_excluded ? '(' : '[',
                                                      low, high, high_excluded ? ')' : ']')
                                        : fmt::format(" from {} to {}", low, high);
  } else if (std::isfinite(low)) {
    out = fmt::format(" {} {}", low_excluded ? ">" : ">=", low);
  }
  return *note == '\0' ? out : fmt::format("{} ({})", out, note);
}

std::string joined(std::span<const std::string_view> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

const std::string& one_of(const std::string& text, std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) fail_name("", text, known);
  return text;
}

double parse_in(const Range& range, const std::string& text) {
  const std::optional<double> value = parse_number(text);
  if (!value || !std::isfinite(*value) || !range.contains(*value)) {
    fail_input("must be a number{}, not '{}'", range.text(), text);
  }
  return *value;
}

Option parsed(OptionName name, OptionType type, std::string values, std::string fallback,
              std::string help, SetText set) {
  return {.flag = name.flag,
          .python = name.python,
          .type = type,
          .values = std::move(values),
          .fallback = std::move(fallback),
          .help = std::move(help),
          .set = [set = std::move(set)](const auto& given) { set(given.at(0)); }};
}

Option text(OptionName name, std::string& x, std::string values, std::string help) {
  return parsed(name, OptionType::text, std::move(values), x, std::move(help),
                [&x](const std::string& given) { x = given; });
}

Option word(OptionName name, std::string& x, const std::vector<std::string_view>& known,
            std::string help) {
  return parsed(name, OptionType::text, joined(known), x, std::move(help),
                [&x, known](const std::string& given) { x = one_of(given, known); });
}

Option number(OptionName name, double& x, const Range& range, std::string help) {
  if (*range.note != '\0') help += fmt::format(" ({})", range.note);
  return parsed(name, OptionType::number, "NUMBER", number_text(x), std::move(help),
                [&x, range](const std::string& given) { x = parse_in(range, given); });
}

Option number_or_cv(OptionName name, std::optional<double>& x, std::string help) {
  Option option =
      parsed(name, OptionType::text_or_number, "NUMBER|cv", x ? number_text(*x) : "cv",
             std::move(help), [&x](const std::string& given) {
               x = given == "cv" ? std::nullopt : std::optional(parse_in(positive, given));
             });
  option.none = true;
  return option;
}

Option interval(OptionName name, double& low, double& high, std::string help) {
  Option option{.flag = name.flag,
                .python = name.python,
                .type = OptionType::interval,
                .values = "LOW HIGH",
                .fallback = fmt::format("{} {}", low, high),
                .help = std::move(help)};
  option.set = [&low, &high](const std::vector<std::string>& given) {
    if (given.size() != 2) fail_input("must be two numbers, low and high");
    low = parse_in({}, given[0]);
    high = parse_in({}, given[1]);
  };
  return option;
}

Option list(OptionName name, std::vector<std::string>& x, std::string values, std::string help) {
  return {.flag = name.flag,
          .python = name.python,
          .type = OptionType::list,
          .values = std::move(values),
          .fallback = fmt::format("{}", fmt::join(x, ",")),
          .help = std::move(help),
          .set = [&x](const std::vector<std::string>& given) { x = given; },
          .none = true};
}

Option flag(OptionName name, bool& x, std::string help, bool value) {
  return {.flag = name.flag,
          .python = name.python,
          .type = OptionType::flag,
          .values = "",
          .fallback = x ? "True" : "False",
          .help = std::move(help),
          .set = [&x, value](const std::vector<std::string>& given) {
            x = given.empty() ? value : given[0] == "True";
          }};
}

void set_option(const Option& option, std::string_view name,
                const std::vector<std::string>& given) {
  try {
    option.set(given);
  } catch (const Error& e) {
    const std::string_view what = e.what();
    throw Error(e.kind(), fmt::format("{}{} {}", name, what.starts_with("must") ? "" : ":", what));
  }
}

}  // namespace covshift
