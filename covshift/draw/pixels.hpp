// draw/: pictures from plain numbers and texts: PNG, SVG, and the plots of the paper's experiments.
// Here: pixels, colours and PNG files.
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

/// A PNG file (ISO/IEC 15948): 8 bits per channel, no transparency. An Error if the picture is
/// empty or its size does not match its colours.
std::string png(const Pixels& pixels);

/// Blue at 0, near-white at 1/2, orange at 1, equally dark at both ends: distinguishable with any
/// colour vision, and the distance from 1/2 also in greyscale.
Rgb diverging(double t);
/// #rrggbb for unordered categories (Okabe and Ito's set without yellow); repeats after seven.
std::string categorical(std::size_t i);
std::string hex(Rgb colour);

/// RFC 4648, with padding.
std::string base64(const std::string& bytes);

}  // namespace covshift
