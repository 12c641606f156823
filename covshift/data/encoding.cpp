#include "covshift/data/encoding.hpp"

#include <array>
#include <cstdint>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

void append(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | (c >> 6U));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | (c >> 12U));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (c >> 18U));
    out += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

/// Windows-1252 is Latin-1 but for these; 0: not a character.
constexpr std::array<std::uint16_t, 32> windows_80_to_9f = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

std::string from_bytes(std::string_view bytes, bool windows) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char byte : bytes) {
    std::uint32_t c = static_cast<unsigned char>(byte);
    if (windows && c >= 0x80 && c < 0xA0 && windows_80_to_9f[c - 0x80] != 0) {
      c = windows_80_to_9f[c - 0x80];
    }
    append(out, c);
  }
  return out;
}

[[noreturn]] void fail_utf16(const std::string& path, const std::string& why) {
  fail_input(
      "{}: this is not UTF-16, because {}; name the file's own encoding (--encoding latin1 or "
      "windows-1252), or none if it is UTF-8",
      path, why);
}

/// Two bytes as a number.
std::uint32_t unit_at(std::string_view bytes, std::size_t at, bool big) {
  const auto a = static_cast<unsigned char>(bytes[at]);
  const auto b = static_cast<unsigned char>(bytes[at + 1]);
  return static_cast<std::uint32_t>(big ? a << 8U | b : b << 8U | a);
}

/// How many line ends the text has in this order of bytes.
std::size_t line_ends(std::string_view bytes, bool big) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const std::uint32_t c = unit_at(bytes, at, big);
    count += c == '\n' || c == '\r' ? 1U : 0U;
  }
  return count;
}

std::string from_utf16(std::string_view bytes, const std::string& path) {
  bool big = bytes.starts_with("\xfe\xff");
  if (has_utf16_mark(bytes)) {
    bytes.remove_prefix(2);
    if (bytes.size() % 2 != 0) fail_input("{}: the UTF-16 text ends within a character", path);
  } else if (!bytes.empty()) {
    if (bytes.size() % 2 != 0) fail_utf16(path, "it has an odd number of bytes");
    const std::size_t little_ends = line_ends(bytes, false);
    const std::size_t big_ends = line_ends(bytes, true);
    if (little_ends + big_ends == 0) fail_utf16(path, "no line would end in it");
    big = big_ends > little_ends;
  }
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint32_t c = unit_at(bytes, at, big);
    if (c >= 0xD800 && c < 0xE000) {  // half of a pair
      const std::uint32_t low = at + 2 < bytes.size() ? unit_at(bytes, at + 2, big) : 0;
      if (c >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
        fail_utf16(path, fmt::format("byte {} begins half a character", at + 1));
      }
      c = 0x10000 + ((c - 0xD800) << 10U) + (low - 0xDC00);
      at += 2;
    }
    append(out, c);
  }
  return out;
}

}  // namespace

bool has_utf16_mark(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

std::string to_utf8(std::string_view bytes, Encoding from, const std::string& path) {
  if (from == Encoding::utf16 || (from == Encoding::detect && has_utf16_mark(bytes))) {
    return from_utf16(bytes, path);
  }
  if (from == Encoding::latin1 || from == Encoding::windows1252) {
    return from_bytes(bytes, from == Encoding::windows1252);
  }
  return std::string(bytes);
}

std::size_t first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char lead = byte(at);
    std::size_t more = 0;
    std::uint32_t c = lead;
    if (lead >= 0xF0 && lead < 0xF8) {
      more = 3;
      c = lead & 0x07U;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      more = 2;
      c = lead & 0x0FU;
    } else if (lead >= 0xC0 && lead < 0xE0) {
      more = 1;
      c = lead & 0x1FU;
    } else if (lead >= 0x80) {
      return at;
    }
    if (at + more >= text.size()) return at;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(at + k) & 0xC0U) != 0x80U) return at;
      c = c << 6U | (byte(at + k) & 0x3FU);
    }
    // Longer than needed, half of a UTF-16 pair, or no character.
    constexpr std::array<std::uint32_t, 4> least = {0, 0x80, 0x800, 0x10000};
    if (c < least[more] || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) return at;
    at += more + 1;
  }
  return std::string_view::npos;
}

}  // namespace covshift
