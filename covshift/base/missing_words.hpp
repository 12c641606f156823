// What stands for a value that is not there, in every text format.
#pragma once

#include <array>
#include <string_view>

namespace covshift {

inline constexpr std::array<std::string_view, 5> missing_words = {"", "NA", "NaN", "nan", "?"};

}  // namespace covshift
