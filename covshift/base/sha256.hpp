// SHA-256, to tell whether a file is the one that is meant (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace covshift {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace covshift
