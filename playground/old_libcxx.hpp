// What the C++ library of Debian 12's emscripten (libc++ 13) lacks of C++20, included before every
// source of the playground. A newer one has all of it, and then this is empty.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#if !defined(__cpp_lib_bit_cast)
namespace std {  // NOLINT(cert-dcl58-cpp): that is the point
template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

#if !defined(__cpp_lib_to_chars)
namespace std {  // NOLINT(cert-dcl58-cpp)
/// By strtod, in the only locale that emscripten has. What strtod reads but from_chars does not is
/// refused: blanks, a plus sign, hexadecimal numbers.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* digits = first;
  if (digits != last && *digits == '-') ++digits;
  const bool starts = digits != last && (*digits == '.' || (*digits >= '0' && *digits <= '9') ||
                                         ::strchr("iInN", *digits) != nullptr);
  if (!starts) return {first, errc::invalid_argument};
  string text(first, last);
  const auto hexadecimal = text.find_first_of("xX");
  if (hexadecimal != string::npos) text.resize(hexadecimal);
  char* stop = nullptr;
  const double found = ::strtod(text.c_str(), &stop);
  if (stop == text.c_str()) return {first, errc::invalid_argument};
  const char* const end = first + (stop - text.c_str());
  const bool named = ::strchr("iI", *digits) != nullptr;
  const bool nothing = string(digits, end).find_first_of("123456789") == string::npos ||
                       *digits == 'n' || *digits == 'N';
  if ((std::isinf(found) && !named) || (found == 0 && !nothing)) {
    return {end, errc::result_out_of_range};
  }
  value = found;
  return {end, errc()};
}
}  // namespace std
#endif
