// An SVG document, shape by shape.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/draw/pixels.hpp"

namespace covshift {

struct Point {
  double x = 0, y = 0;
};

/// How a shape is painted. Colours are as in CSS, or "none".
struct Paint {
  std::string fill = "none";
  std::string stroke = "none";
  double width = 1;           ///< of the stroke
  std::string dash = "none";  ///< lengths of dashes and gaps, such as "6 4"
  double opacity = 1;
};

/// A line of text, its baseline at the given point.
struct Font {
  enum class Anchor { start, middle, end };
  double size = 12;
  Anchor anchor = Anchor::start;
  std::string fill = "#222222";
  bool bold = false;
  bool italic = false;
  double rotate = 0;  ///< degrees about the point, clockwise; -90 reads upwards
};

/// An SVG 1.1 document. Lengths are in pixels from the top left corner, y downwards. Text may be
/// any bytes: what XML does not allow becomes U+FFFD. A number that is not finite is an Error.
class Svg {
 public:
  /// A white page; `title` is for screen readers.
  Svg(double width, double height, std::string_view title);

  void text(Point at, std::string_view text, const Font& font = {});
  void line(Point from, Point to, const Paint& paint);
  void polyline(std::span<const Point> points, const Paint& paint, bool closed = false);
  void rect(Point corner, double width, double height, const Paint& paint);
  void circle(Point centre, double radius, const Paint& paint);
  /// Half-axes rx and ry, rotated clockwise by `degrees`.
  void ellipse(Point centre, double rx, double ry, double degrees, const Paint& paint);
  /// Stretched to the rectangle, smoothly.
  void image(Point corner, double width, double height, const Pixels& pixels);

  /// Move, or clip to a rectangle, everything drawn until end(). They can be nested.
  void begin_moved(Point offset);
  void begin_clipped(Point corner, double width, double height);
  void end();

  /// The document; an Error if a begin has no end.
  [[nodiscard]] std::string str() const;

 private:
  std::string body_;
  std::vector<std::string_view> open_;  ///< tags to close, innermost last
};

/// Round numbers from low to high for an axis: multiples of 1, 2 or 5 times a power of ten, at most
/// `most` of them.
std::vector<double> round_ticks(double low, double high, int most);

/// Text escaped for XML, between tags or in quotes.
std::string xml_escaped(std::string_view text);

}  // namespace covshift
