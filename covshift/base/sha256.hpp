// SHA-256 (FIPS 180-4), to verify files.
#pragma once

#include <string>
#include <string_view>

namespace covshift {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace covshift
