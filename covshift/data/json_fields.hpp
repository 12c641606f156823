// Reads members of a JSON object, with errors that name them. For the parts of a model file.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "covshift/base/error.hpp"

namespace covshift::detail {

/// The member `name` of `object` as a T; `what` names the object in the message.
template <typename T>
T json_field(const nlohmann::json& object, const char* name, std::string_view what) {
  if (!object.is_object() || !object.contains(name)) {
    fail_input("{}: the member '{}' is missing; the file is damaged or was edited", what, name);
  }
  const nlohmann::json& member = object[name];
  // nlohmann's conversions would turn -1 into a huge size and true into 1.
  if constexpr (std::is_same_v<T, std::size_t>) {
    if (!member.is_number_unsigned()) {
      fail_input("{}: '{}' must be a non-negative integer; the file is damaged or was edited", what,
                 name);
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
