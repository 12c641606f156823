// Enums as users write them: one table of names for each, read in both directions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "covshift/base/error.hpp"

namespace covshift {

template <typename E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

template <typename E, std::size_t N>
std::string_view enum_name(const EnumNames<E, N>& names, E value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

/// The value of that name; an Error that lists the names otherwise. `what`: "metric".
template <typename E, std::size_t N>
E parse_enum(const EnumNames<E, N>& names, std::string_view text, std::string_view what) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i].second == text) return names[i].first;
    list += i == 0 ? "" : i + 1 == N ? " or " : ", ";
    list += names[i].second;
  }
  fail_input("there is no {} '{}'; choose {}", what, text, list);
}

}  // namespace covshift
