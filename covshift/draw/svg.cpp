#include "covshift/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

/// To a hundredth of a pixel, without trailing zeros.
std::string number(double value) {
  if (!std::isfinite(value)) fail_input("a picture cannot show {} as a length or position", value);
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value) {
  return fmt::format(" {}=\"{}\"", name, number(value));
}

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_escaped(value));
}

std::string painted(const Paint& paint) {
  std::string out = attribute("fill", paint.fill);
  if (paint.stroke != "none") {
    out += attribute("stroke", paint.stroke) + attribute("stroke-width", paint.width);
    if (paint.dash != "none") out += attribute("stroke-dasharray", paint.dash);
  }
  if (paint.opacity != 1) out += attribute("opacity", paint.opacity);
  return out;
}

/// The length in bytes of the first UTF-8 character; 0 if it is invalid or not allowed in XML 1.0.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool shorter = code < (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return shorter || surrogate || code > 0x10ffff || code == 0xfffe || code == 0xffff ? 0 : length;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  constexpr std::string_view special = "&<>\"'";
  constexpr std::array<std::string_view, 5> escapes = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const std::size_t escape = special.find(text[0]);
    out += length == 0                        ? "\xef\xbf\xbd"
           : escape != std::string_view::npos ? escapes[escape]
                                              : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

Svg::Svg(double width, double height, std::string_view title) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n",
      number(width), number(height), xml_escaped(title));
  rect({0, 0}, width, height, {.fill = "#ffffff"});
}

void Svg::text(Point at, std::string_view text, const Font& font) {
  std::string out = "<text" + attribute("x", at.x) + attribute("y", at.y) +
                    attribute("font-size", font.size) + attribute("fill", font.fill);
  if (font.anchor != Font::Anchor::start) {
    out += attribute("text-anchor", font.anchor == Font::Anchor::middle ? "middle" : "end");
  }
  if (font.bold) out += attribute("font-weight", "bold");
  if (font.italic) out += attribute("font-style", "italic");
  if (font.rotate != 0) {
    out += fmt::format(" transform=\"rotate({} {} {})\"", number(font.rotate), number(at.x),
                       number(at.y));
  }
  body_ += out + ">" + xml_escaped(text) + "</text>\n";
}

void Svg::line(Point from, Point to, const Paint& paint) {
  body_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) +
           attribute("y2", to.y) + painted(paint) + "/>\n";
}

void Svg::polyline(std::span<const Point> points, const Paint& paint, bool closed) {
  std::string list;
  for (const Point& p : points) {
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", number(p.x), number(p.y));
  }
  body_ += fmt::format("<{} points=\"{}\"{} stroke-linejoin=\"round\"/>\n",
                       closed ? "polygon" : "polyline", list, painted(paint));
}

void Svg::rect(Point corner, double width, double height, const Paint& paint) {
  body_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) +
           attribute("width", width) + attribute("height", height) + painted(paint) + "/>\n";
}

void Svg::circle(Point centre, double radius, const Paint& paint) {
  body_ += "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) +
           attribute("r", radius) + painted(paint) + "/>\n";
}

void Svg::ellipse(Point centre, double rx, double ry, double degrees, const Paint& paint) {
  body_ += fmt::format(
      "<ellipse rx=\"{}\" ry=\"{}\" transform=\"translate({} {}) rotate({})\"{}/>\n", number(rx),
      number(ry), number(centre.x), number(centre.y), number(degrees), painted(paint));
}

void Svg::image(Point corner, double width, double height, const Pixels& pixels) {
  // SVG 1.1 requires xlink:href; SVG 2 still accepts it.
  body_ += "<image" + attribute("x", corner.x) + attribute("y", corner.y) +
           attribute("width", width) + attribute("height", height) +
           " preserveAspectRatio=\"none\" xlink:href=\"data:image/png;base64," +
           base64(png(pixels)) + "\"/>\n";
}

void Svg::begin_moved(Point offset) {
  body_ += fmt::format("<g transform=\"translate({} {})\">\n", number(offset.x), number(offset.y));
  open_.emplace_back("</g>\n");
}

void Svg::begin_clipped(Point corner, double width, double height) {
  // A nested document clips without an id, which could clash with other pictures on the page.
  body_ += fmt::format(
      "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\" "
      "overflow=\"hidden\">\n",
      number(corner.x), number(corner.y), number(width), number(height));
  open_.emplace_back("</svg>\n");
}

void Svg::end() {
  if (open_.empty()) fail_input("end() without a matching begin");
  body_ += open_.back();
  open_.pop_back();
}

std::string Svg::str() const {
  if (!open_.empty()) fail_input("{} groups of a picture lack an end()", open_.size());
  return body_ + "</svg>\n";
}

std::vector<double> round_ticks(double low, double high, int most) {
  std::vector<double> ticks;
  if (!(high > low) || !std::isfinite(high - low) || most < 1) return ticks;
  double decade = std::pow(10.0, std::floor(std::log10((high - low) / most)));
  for (;; decade *= 10) {
    for (const double unit : {1.0, 2.0, 5.0}) {
      const double step = unit * decade;
      const double first = std::ceil(low / step - 1e-9);
      const double last = std::floor(high / step + 1e-9);
      if (last - first + 1 > most) continue;
      for (double t = first; t <= last; t += 1) ticks.push_back(t * step + 0.0);  // no -0
      return ticks;
    }
  }
}

}  // namespace covshift
