// The types of Arrow's columns, and their values as the library has them.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "covshift/base/number.hpp"
#include "python/bind/arrow.hpp"

namespace covshift::python {
namespace {

constexpr double seconds_per_day = 86400;

/// Units per day of a date's or timestamp's format; 0 if it is neither.
double units_per_day(std::string_view format) {
  if (format == "tdD") return 1;
  if (format == "tdm" || format.starts_with("tsm:")) return seconds_per_day * 1e3;
  if (format.starts_with("tss:")) return seconds_per_day;
  if (format.starts_with("tsu:")) return seconds_per_day * 1e6;
  if (format.starts_with("tsn:")) return seconds_per_day * 1e9;
  return 0;
}

/// Text i of a column, counted from its buffers' start.
std::string_view text_at(const ArrowArray& array, const ArrowType& type, std::int64_t at) {
  const auto with_offsets = [&]<typename Offset>(Offset) {
    const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
    const auto* bytes = static_cast<const char*>(array.buffers[2]);
    const auto begin = static_cast<std::size_t>(offsets[at]);
    return std::string_view(bytes + begin, static_cast<std::size_t>(offsets[at + 1]) - begin);
  };
  if (type.format == "u") return with_offsets(std::int32_t{});
  if (type.format == "U") return with_offsets(std::int64_t{});
  // A view: its length, then up to 12 bytes in place, or a prefix, a buffer's number and a place.
  struct View {
    std::int32_t length;
    std::int32_t prefix;
    std::int32_t buffer;
    std::int32_t place;
  };
  constexpr std::int32_t in_place = 12;
  const auto* raw = static_cast<const char*>(array.buffers[1]) + at * std::int64_t{sizeof(View)};
  View view;
  std::memcpy(&view, raw, sizeof view);
  const auto length = static_cast<std::size_t>(view.length);
  if (view.length <= in_place) return {raw + sizeof view.length, length};
  return {static_cast<const char*>(array.buffers[2 + view.buffer]) + view.place, length};
}

/// A moment as text: 2020-01-31, with the time of day (UTC) if there is one.
std::string date_text(std::int64_t value, double per_day) {
  using namespace std::chrono;
  const auto units = static_cast<std::int64_t>(per_day);
  const std::int64_t day = value / units - (value % units < 0 ? 1 : 0);
  const std::int64_t rest = value - day * units;
  const year_month_day date{sys_days{days{day}}};
  std::string text =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (rest == 0) return text;
  const std::int64_t per_second = units / static_cast<std::int64_t>(seconds_per_day);
  const std::int64_t second = rest / per_second;
  text += fmt::format(" {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  if (rest % per_second != 0) {
    const int digits = static_cast<int>(std::lround(std::log10(static_cast<double>(per_second))));
    text += fmt::format(".{:0{}}", rest % per_second, digits);
  }
  return text;
}

std::int64_t date_at(const ArrowArray& array, const ArrowType& type, std::int64_t at) {
  return type.format == "tdD" ? static_cast<const std::int32_t*>(array.buffers[1])[at]
                              : static_cast<const std::int64_t*>(array.buffers[1])[at];
}

}  // namespace

ArrowType::ArrowType(const ArrowSchema& schema) : dictionary(schema.dictionary != nullptr) {
  format = dictionary ? schema.dictionary->format : schema.format;
  if (format.size() == 1 && std::string_view("nbcCsSiIlLefg").find(format) != std::string::npos) {
    kind = Kind::number;
  } else if (format == "u" || format == "U" || format == "vu") {
    kind = Kind::text;
  } else if (const double units = units_per_day(format); units > 0) {
    kind = Kind::date;
    per_day = units;
  } else if (format.starts_with("d:")) {  // d:precision,scale or d:precision,scale,bits
    int places = 0;
    const int read = std::sscanf(format.c_str(), "d:%*d,%d,%d", &places, &bits);
    if (read >= 1 && bits <= 128) kind = Kind::decimal;
    unit = std::pow(10.0, places);
  }
}

std::string ArrowType::name() const {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> known{
      {{"+l", "list"},
       {"+L", "list"},
       {"+w", "list"},
       {"+v", "list"},
       {"+s", "struct"},
       {"+m", "map"},
       {"+u", "union"},
       {"tt", "time of day"},
       {"tD", "duration"},
       {"ti", "interval"},
       {"d:", "decimal of more than 128 bits"},
       {"+r", "run-end encoded"}}};
  for (const auto& [start, words] : known) {
    if (std::string_view(format).starts_with(start)) return std::string(words);
  }
  const bool binary = format == "z" || format == "Z" || format == "vz" || format.starts_with("w:");
  return binary ? "binary" : fmt::format("'{}'", format);
}

double arrow::half(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31U;
  const auto fraction = static_cast<double>(bits & 1023U);
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double arrow::decimal(const ArrowArray& array, const ArrowType& type, std::int64_t at) {
  if (type.bits == 32) return static_cast<const std::int32_t*>(array.buffers[1])[at] / type.unit;
  const auto* words = static_cast<const std::int64_t*>(array.buffers[1]);
  if (type.bits == 64) return static_cast<double>(words[at]) / type.unit;
  // Two's complement of 128 bits, the low word first.
  const auto low = static_cast<double>(static_cast<std::uint64_t>(words[2 * at]));
  const std::int64_t high = words[2 * at + 1];
  // Small negative numbers would cancel.
  if (high == -1 && words[2 * at] < 0) return static_cast<double>(words[2 * at]) / type.unit;
  return (std::ldexp(static_cast<double>(high), 64) + low) / type.unit;
}

void read_categories(const ArrowArray& array, const ArrowSchema& schema, const ArrowType& type,
                     std::int64_t first, std::int64_t count, Dictionary& levels,
                     std::vector<std::int32_t>& codes) {
  const std::int64_t begin = array.offset + first;
  if (type.dictionary) {
    std::vector<std::int32_t> own;
    ArrowType values = type;
    values.dictionary = false;
    read_categories(*array.dictionary, *schema.dictionary, values, 0, array.dictionary->length,
                    levels, own);
    const ArrowType places(
        ArrowSchema{schema.format, nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr});
    each_number(array, places, first, count, [&](std::int64_t /*row*/, double place) {
      codes.push_back(place == place ? own[static_cast<std::size_t>(place)] : -1);
    });
  } else if (type.kind == ArrowType::Kind::text) {
    for (std::int64_t at = begin; at < begin + count; ++at) {
      const bool absent = arrow::missing(array, at) || is_missing(text_at(array, type, at));
      codes.push_back(absent ? -1 : levels.code(text_at(array, type, at)));
    }
  } else if (type.kind == ArrowType::Kind::date) {
    std::unordered_map<std::int64_t, std::int32_t> known;
    for (std::int64_t at = begin; at < begin + count; ++at) {
      if (arrow::missing(array, at)) {
        codes.push_back(-1);
        continue;
      }
      const std::int64_t value = date_at(array, type, at);
      const auto [place, fresh] = known.try_emplace(value, 0);
      if (fresh) place->second = levels.code(date_text(value, type.per_day));
      codes.push_back(place->second);
    }
  } else {  // numbers of a dictionary
    each_number(array, type, first, count, [&](std::int64_t /*row*/, double value) {
      codes.push_back(value == value ? levels.code(number_text(value)) : -1);
    });
  }
}

}  // namespace covshift::python
