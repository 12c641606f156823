#include "covshift/options/option.hpp"

#include <algorithm>
#include <cmath>

#include "covshift/base/number.hpp"

namespace covshift {

std::string joined(std::span<const std::string_view> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
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

Option row(OptionName name, OptionType type, std::string values, std::string fallback,
           std::string help, std::function<void(const std::vector<std::string>&)> set) {
  Option option{name.flag,       name.python,   {}, type, std::move(values), std::move(fallback),
                std::move(help), std::move(set)};
  if (name.python_fallback != nullptr) option.python_fallback = name.python_fallback;
  return option;
}

Option parsed(OptionName name, OptionType type, std::string values, std::string fallback,
              std::string help, std::function<void(const std::string&)> set) {
  return row(name, type, std::move(values), std::move(fallback), std::move(help),
             [set = std::move(set)](const auto& given) { set(given.at(0)); });
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
  return parsed(name, OptionType::number, "NUMBER", number_text(x),
                range.explained(std::move(help)),
                [&x, range](const std::string& given) { x = parse_in(range, given); });
}

Option number_or_cv(OptionName name, std::optional<double>& x, const Range& range,
                    std::string help) {
  return parsed(name, OptionType::text_or_number, "NUMBER|cv", "cv", std::move(help),
                [&x, range](const std::string& given) {
                  Range noted = range;
                  noted.note = "or 'cv'";
                  x = given == "cv" ? std::nullopt : std::optional(parse_in(noted, given));
                });
}

Option interval(OptionName name, std::string fallback, std::string help,
                std::function<void(double, double)> set) {
  return row(name, OptionType::interval, "LOW HIGH", std::move(fallback), std::move(help),
             [set = std::move(set)](const std::vector<std::string>& given) {
               if (given.size() != 2) fail_input("must be two numbers, low and high");
               const double low = parse_in(allowed::positive, given[0]);
               const double high = parse_in(allowed::positive, given[1]);
               if (low > high)
                 fail_input("must be in order, low and high, not {} and {}", low, high);
               set(low, high);
             });
}

Option list(OptionName name, std::vector<std::string>& x, std::string values, std::string help) {
  return row(name, OptionType::list, std::move(values), fmt::format("{}", fmt::join(x, ",")),
             std::move(help), [&x](const std::vector<std::string>& given) { x = given; });
}

Option flag(OptionName name, bool& x, std::string help, bool value) {
  return row(name, OptionType::flag, "", x ? "True" : "False", std::move(help),
             [&x, value](const std::vector<std::string>& given) {
               x = given.empty() ? value : given[0] == "True";
             });
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
