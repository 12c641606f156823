#include "covshift/lab/colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace covshift {

Rgb diverging(double t) {
  // The ends of ColorBrewer's RdBu and PuOr.
  static constexpr std::array<Rgb, 9> stops = {{{33, 102, 172},
                                                {67, 147, 195},
                                                {146, 197, 222},
                                                {209, 229, 240},
                                                {247, 247, 247},
                                                {254, 224, 182},
                                                {253, 184, 99},
                                                {224, 130, 20},
                                                {179, 88, 6}}};
  const double position = std::clamp(t, 0.0, 1.0) * (stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(position), stops.size() - 2);
  const double share = position - static_cast<double>(low);
  const auto mix = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  const Rgb a = stops[low];
  const Rgb b = stops[low + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

std::string categorical(std::size_t i) {
  static constexpr std::array<Rgb, 7> set = {{{0, 114, 178},
                                              {213, 94, 0},
                                              {0, 158, 115},
                                              {204, 121, 167},
                                              {86, 180, 233},
                                              {230, 159, 0},
                                              {0, 0, 0}}};
  return hex(set[i % set.size()]);
}

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

}  // namespace covshift
