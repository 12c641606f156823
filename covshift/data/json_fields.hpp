// Reads members of a JSON object, with errors that name them. For the parts of a model file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "covshift/base/error.hpp"

namespace covshift::detail {

/// nlohmann's conversions would turn -1 into a huge size, true into 1, and 1e300 into anything.
template <typename T>
struct whole_numbers : std::bool_constant<std::is_integral_v<T> && !std::is_same_v<T, bool>> {
  static bool sound(const nlohmann::json& member) {
    return member.is_number_unsigned()
               ? std::in_range<T>(member.get<std::uint64_t>())
               : member.is_number_integer() && std::in_range<T>(member.get<std::int64_t>());
  }
};
template <typename T>
struct whole_numbers<std::vector<T>> : whole_numbers<T> {
  static bool sound(const nlohmann::json& member) {
    return member.is_array() && std::all_of(member.begin(), member.end(), whole_numbers<T>::sound);
  }
};

/// The member `name` of `object` as a T; `what` names the object in the message.
template <typename T>
T json_field(const nlohmann::json& object, const char* name, std::string_view what) {
  if (!object.is_object() || !object.contains(name)) {
    fail_input("{}: the member '{}' is missing; the file is damaged or was edited", what, name);
  }
  const nlohmann::json& member = object[name];
  if constexpr (whole_numbers<T>::value) {
    if (!whole_numbers<T>::sound(member)) {
      fail_input("{}: '{}' must be {}; the file is damaged or was edited", what, name,
                 std::is_same_v<T, std::size_t> ? "a non-negative integer" : "whole numbers");
    }
  }
  try {
    return member.get<T>();
  } catch (const nlohmann::json::exception&) {
    fail_input("{}: the member '{}' has the wrong type; the file is damaged or was edited", what,
               name);
  }
}

}  // namespace covshift::detail
