// Names of enumeration values, for users and files: one table beside each enumeration.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace covshift {

/// Specialised beside each enumeration, in the order in which messages list the names:
///     template <>
///     inline constexpr auto names<Metric> =
///         std::to_array<Named<Metric>>({{Metric::brier, "brier"}, ...});
template <typename E>
using Named = std::pair<E, std::string_view>;
template <typename E>
inline constexpr std::array<Named<E>, 0> names{};

/// "a, b or c"; `last` stands before the last word.
std::string listed(std::span<const std::string_view> words, std::string_view last = " or ");
/// "; did you mean 'robust'?" if a word is close to the text, else "".
std::string suggestion(std::string_view text, std::span<const std::string_view> words);
/// Throws Error: "`what` must be a, b or c, not 'text'", with a suggestion.
[[noreturn]] void fail_name(std::string_view what, std::string_view text,
                            std::span<const std::string_view> known);

template <typename E>
requires(names<E>.size() > 0) constexpr std::string_view to_string(E value) {
  for (const auto& [known, name] : names<E>) {
    if (known == value) return name;
  }
  return "unknown";
}

template <typename E>
constexpr auto names_of() {
  std::array<std::string_view, names<E>.size()> list;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = names<E>[i].second;
  return list;
}

/// The value of this name. Throws Error that lists the names.
template <typename E>
E parse_name(std::string_view text, std::string_view what = "") {
  for (const auto& [value, name] : names<E>) {
    if (name == text) return value;
  }
  fail_name(what, text, names_of<E>());
}

}  // namespace covshift
