#pragma once

#include <string_view>

namespace covshift {

/// "major.minor.patch"
std::string_view version();

}  // namespace covshift
