#include "covshift/base/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "covshift/base/missing_words.hpp"

namespace covshift {

namespace detail {

const char* scan_any_number(const char* begin, const char* end, double& value) noexcept {
  const char* start = begin;
  if (start != end && *start == '+') {
    ++start;
    if (start != end && *start == '-') return nullptr;
  }
  const auto [stop, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say which end of the range was left: 1e-999 has a negative exponent or
    // only zeros before and after its point for hundreds of digits; 1e999 has neither.
    const std::string_view text(start, static_cast<std::size_t>(stop - start));
    const auto letter = text.find_first_of("eE");
    const bool tiny = letter != std::string_view::npos
                          ? text.substr(letter + 1).starts_with('-')
                          : text.find_first_of("123456789") > text.find('.');
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    if (text.starts_with('-')) value = -value;
  }
  return stop;
}

}  // namespace detail

std::string_view trim(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> parse_number(std::string_view text) noexcept {
  text = trim(text);
  double value = 0.0;
  const char* const end = text.data() + text.size();
  if (text.empty() || scan_number(text.data(), end, value) != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_missing(std::string_view text) noexcept {
  return std::find(missing_words.begin(), missing_words.end(), text) != missing_words.end();
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string quoted_excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  // A character of several bytes that the cut went through is dropped whole.
  if (text.size() > longest) {
    while (result.size() > 1 && (static_cast<unsigned char>(text[longest]) & 0xC0U) == 0x80U &&
           (static_cast<unsigned char>(result.back()) & 0x80U) != 0) {
      const bool lead = (static_cast<unsigned char>(result.back()) & 0xC0U) == 0xC0U;
      result.pop_back();
      if (lead) break;
    }
    result += "...";
  }
  return result + "'";
}

}  // namespace covshift
