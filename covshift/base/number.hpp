// Numbers and missing values in text, the same for every text format.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace covshift {

namespace detail {
/// Any number std::from_chars understands, and those too large or small for it (infinity or zero).
const char* scan_any_number(const char* begin, const char* end, double& value) noexcept;

inline constexpr std::array<double, 23> powers_of_ten = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
/// Appends the decimal digits at `p` to `digits` (which wraps when there are too many); returns one
/// past them.
inline const char* scan_digits(const char* p, const char* end, std::uint64_t& digits) noexcept {
  while (p != end && static_cast<unsigned char>(*p - '0') <= 9) {
    digits = 10 * digits + static_cast<std::uint64_t>(*p++ - '0');
  }
  return p;
}
}  // namespace detail

/// Reads the decimal number that starts at `begin`; returns one past it, or nullptr if there is
/// none. `inf` and `nan` count as numbers. Correctly rounded.
inline const char* scan_number(const char* begin, const char* end, double& value) noexcept {
  // Most numbers in files are short: their digits fit a double exactly, and so does the power of
  // ten, so that a single division rounds correctly (Clinger). The others take the general way.
  constexpr int max_digits = 19;
  constexpr std::uint64_t exact_limit = std::uint64_t{1} << 53U;
  const char* p = begin;
  const bool negative = p != end && *p == '-';
  p += negative ? 1 : 0;
  std::uint64_t digits = 0;
  const char* const first = p;
  p = detail::scan_digits(p, end, digits);
  auto count = p - first;
  std::ptrdiff_t decimals = 0;
  if (p != end && *p == '.') {
    const char* const point = ++p;
    p = detail::scan_digits(p, end, digits);
    decimals = p - point;
    count += decimals;
  }
  const bool exponent = p != end && (*p == 'e' || *p == 'E');
  if (count == 0 || count > max_digits || digits > exact_limit || exponent) {
    return detail::scan_any_number(begin, end, value);
  }
  const double magnitude =
      static_cast<double>(digits) / detail::powers_of_ten[static_cast<std::size_t>(decimals)];
  // Without a branch: signs are as unpredictable as coins.
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                                (static_cast<std::uint64_t>(negative) << 63U));
  return p;
}

/// Without the blanks (spaces, tabs, carriage returns) at both ends.
std::string_view trim(std::string_view text) noexcept;

/// The whole text (blanks around it aside) as a number.
std::optional<double> parse_number(std::string_view text) noexcept;

/// The whole text as a number 0, 1, 2, ... in decimal digits.
std::optional<std::uint64_t> parse_count(std::string_view text) noexcept;

/// Empty, NA, NaN, nan or ?: a value that is not there.
bool is_missing(std::string_view text) noexcept;

/// The shortest text that reads back as the same number.
std::string number_text(double value);

/// Text for an error message: cut when long, without control characters.
std::string quoted_excerpt(std::string_view text);

}  // namespace covshift
