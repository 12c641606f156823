// draw/: pictures from plain numbers and texts: PNG, SVG, and the plots of the paper's experiments.
// Uses base/. Here: pixels, their colours, and the file that browsers read them from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace covshift {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// Row by row from the top, each from the left.
struct Pixels {
  std::size_t width = 0, height = 0;
  std::vector<Rgb> colours;
};

/// A PNG file (ISO/IEC 15948): 8 bits a channel, no transparency. An Error if the picture is empty,
/// or its size is not that of its colours.
std::string png(const Pixels& pixels);

/// Colours that readers with any colour vision, and a grey printer, can tell apart. Blue at 0 over
/// near-white at 1/2 to orange at 1, equally dark at both ends.
Rgb diverging(double t);
/// #rrggbb for things without an order (Okabe and Ito's set, without yellow); repeats after seven.
std::string categorical(std::size_t i);
std::string hex(Rgb colour);

/// RFC 4648, with padding.
std::string base64(const std::string& bytes);

}  // namespace covshift
