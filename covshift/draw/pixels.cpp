#include "covshift/draw/pixels.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

void append_number(std::string& out, std::size_t number) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>((number >> shift) & 0xff);
}

/// Length, type, data, and the checksum of type and data.
void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_number(out, data.size());
  const std::size_t checked = out.size();
  out += type;
  out += data;
  append_number(
      out, crc32_z(0, reinterpret_cast<const Bytef*>(out.data() + checked), out.size() - checked));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string out(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  if (code != Z_OK) throw Error(Error::Kind::numeric, "not enough memory to compress an image");
  out.resize(size);
  return out;
}

// The ends of ColorBrewer's RdBu and PuOr.
constexpr std::array<std::uint32_t, 9> diverging_stops = {
    0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfee0b6, 0xfdb863, 0xe08214, 0xb35806};
constexpr std::array<std::uint32_t, 7> categories = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                     0x56b4e9, 0xe69f00, 0x000000};

Rgb rgb(std::uint32_t code) {
  return {static_cast<std::uint8_t>(code >> 16), static_cast<std::uint8_t>(code >> 8),
          static_cast<std::uint8_t>(code)};
}

}  // namespace

Rgb diverging(double t) {
  const double position = std::clamp(t, 0.0, 1.0) * (diverging_stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(position), diverging_stops.size() - 2);
  const double share = position - static_cast<double>(low);
  const auto mix = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  const Rgb a = rgb(diverging_stops[low]);
  const Rgb b = rgb(diverging_stops[low + 1]);
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

std::string categorical(std::size_t i) { return hex(rgb(categories[i % categories.size()])); }

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string png(const Pixels& pixels) {
  constexpr std::size_t largest = std::numeric_limits<std::int32_t>::max();
  const std::size_t w = pixels.width;
  const std::size_t h = pixels.height;
  if (w == 0 || h == 0 || w > largest || h > largest || pixels.colours.size() / w != h ||
      pixels.colours.size() % w != 0) {
    fail_input("an image of {} x {} pixels cannot have {} colours", w, h, pixels.colours.size());
  }
  std::string header;
  append_number(header, w);
  append_number(header, h);
  header += {8, 2, 0, 0, 0};  // bits, red-green-blue, deflate, filter by row, not interlaced

  // Filter 2 (up): each byte less the one above it, which is small in a smooth colour map.
  std::string rows;
  rows.reserve(h * (1 + 3 * w));
  for (std::size_t y = 0; y < h; ++y) {
    rows += '\2';
    for (std::size_t x = 0; x < w; ++x) {
      const Rgb c = pixels.colours[y * w + x];
      const Rgb up = y > 0 ? pixels.colours[(y - 1) * w + x] : Rgb{};
      rows += static_cast<char>(c.red - up.red);
      rows += static_cast<char>(c.green - up.green);
      rows += static_cast<char>(c.blue - up.blue);
    }
  }
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", deflated(rows));
  append_chunk(out, "IEND", "");
  return out;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[(group >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return out;
}

}  // namespace covshift
