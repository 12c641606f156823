#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "covshift/draw/plots.hpp"

namespace covshift {
namespace {

constexpr double panel_size = 260;
constexpr double panel_step = 292;
constexpr double left = 62;
constexpr double top = 112;
constexpr double strip_top = top + panel_size + 102;
constexpr double strip_height = 44;
constexpr double plot_height = strip_top + strip_height + 96;
const Font small = {.size = 11, .fill = "#444444"};
const Font small_centred = {.size = 11, .anchor = Font::Anchor::middle, .fill = "#444444"};
const Font small_end = {.size = 11, .anchor = Font::Anchor::end, .fill = "#444444"};
const Paint tick_ink = {.stroke = "#444444"};
const Paint ink = {.stroke = "#111111", .width = 1.8};
const Paint white_casing = {.stroke = "#ffffff", .width = 4.2};
const Paint target_ink = {.stroke = "#111111", .width = 1.8, .dash = "7 4"};
const std::vector<Paint> generalization_ink = {{.stroke = "#111111", .width = 6},
                                               {.stroke = "#ffffff", .width = 4}};
const Paint boundary_ink = {.stroke = "#444444", .width = 1.6, .dash = "1.5 4"};

/// With a minus as wide as a digit.
std::string signed_text(int number) {
  return number < 0 ? fmt::format("\u2212{}", -number) : fmt::format("{}", number);
}

/// A panel's coordinates on the page.
struct Plane {
  double low, high, x0;
  [[nodiscard]] double scale() const { return panel_size / (high - low); }
  [[nodiscard]] Point at(double x1, double x2) const {
    return {x0 + (x1 - low) * scale(), top + (high - x2) * scale()};
  }
};

void draw_marker(Svg& svg, Point at, bool plus) {
  constexpr double arm = 4.2;
  if (!plus) {
    svg.circle(at, 3.4, {.fill = "#ffffff", .stroke = "#111111", .width = 1.6});
    return;
  }
  for (const Paint& paint : {white_casing, ink}) {
    svg.line({at.x - arm, at.y}, {at.x + arm, at.y}, paint);
    svg.line({at.x, at.y - arm}, {at.x, at.y + arm}, paint);
  }
}

/// The points at two standard deviations.
void draw_ellipse(Svg& svg, const Plane& plane, const PlanePlot::Density& density,
                  const std::vector<Paint>& paints) {
  const Eigen::Map<const Eigen::Matrix2d> covariance(density.covariance.data());
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen(covariance);
  const Eigen::Vector2d axis = eigen.eigenvectors().col(1);
  const double degrees = -std::atan2(axis[1], axis[0]) * 180 / std::numbers::pi;
  for (const Paint& paint : paints) {
    svg.ellipse(plane.at(density.mean[0], density.mean[1]),
                2 * std::sqrt(eigen.eigenvalues()[1]) * plane.scale(),
                2 * std::sqrt(eigen.eigenvalues()[0]) * plane.scale(), degrees, paint);
  }
}

/// A line far beyond the panel, which clips it.
void draw_boundary(Svg& svg, const Plane& plane, const std::array<double, 3>& b) {
  const double square = b[1] * b[1] + b[2] * b[2];
  const double far = 4 * (plane.high - plane.low) / std::sqrt(square);
  const double x1 = -b[0] * b[1] / square;
  const double x2 = -b[0] * b[2] / square;
  svg.line(plane.at(x1 - far * b[2], x2 + far * b[1]), plane.at(x1 + far * b[2], x2 - far * b[1]),
           boundary_ink);
}

void draw_plane_axes(Svg& svg, const Plane& plane, bool first) {
  const double bottom = top + panel_size;
  const auto limit = static_cast<int>(std::floor(plane.high / 2)) * 2;
  for (int tick = -limit; tick <= limit; tick += 2) {
    const Point p = plane.at(tick, tick);
    svg.line({p.x, bottom}, {p.x, bottom + 5}, tick_ink);
    svg.text({p.x, bottom + 17}, signed_text(tick), small_centred);
    svg.line({plane.x0 - 5, p.y}, {plane.x0, p.y}, tick_ink);
    if (first) {
      svg.text({plane.x0 - 8, p.y + 4}, signed_text(tick), small_end);
    }
  }
  const Font label = {.size = 13, .anchor = Font::Anchor::middle, .italic = true};
  svg.text({plane.x0 + panel_size / 2, bottom + 34}, "x1", label);
  if (first) {
    Font up = label;
    up.rotate = -90;
    svg.text({plane.x0 - 34, top + panel_size / 2}, "x2", up);
  }
}

void draw_map(Svg& svg, const Plane& plane, const PlanePlot::Panel& panel) {
  svg.begin_clipped({plane.x0, top}, panel_size, panel_size);
  svg.image({plane.x0, top}, panel_size, panel_size, panel.map);
  draw_boundary(svg, plane, panel.boundary);
  if (panel.generalization) draw_ellipse(svg, plane, *panel.generalization, generalization_ink);
  draw_ellipse(svg, plane, panel.train, {ink});
  draw_ellipse(svg, plane, panel.target, {target_ink});
  for (std::size_t i = 0; i < panel.points.size(); ++i) {
    draw_marker(svg, plane.at(panel.points[i].x, panel.points[i].y), panel.labels[i] == 1);
  }
  svg.end();
  svg.rect({plane.x0, top}, panel_size, panel_size, tick_ink);
}

/// One axis for the losses of all panels: from the least to nearly the largest.
struct LossAxis {
  double low = 0, high = 1, step = 0.1;
  [[nodiscard]] double at(double value) const { return (value - low) / (high - low) * panel_size; }
};

LossAxis loss_axis(const std::vector<PlanePlot::Panel>& panels) {
  LossAxis axis;
  axis.low = HUGE_VAL;
  axis.high = -HUGE_VAL;
  for (const PlanePlot::Panel& panel : panels) {
    std::vector<double> losses = panel.losses;
    std::sort(losses.begin(), losses.end());
    axis.low = std::min(axis.low, losses.front());
    axis.high = std::max(axis.high, losses[(losses.size() - 1) * 19 / 20]);
  }
  // At most six steps, of 1, 2 or 5 times a power of ten.
  const double range = std::max(axis.high - axis.low, 1e-3);
  const double unit = std::pow(10, std::floor(std::log10(range / 6)));
  for (const double factor : {10.0, 5.0, 2.0}) {
    if (range <= 6 * factor * unit) axis.step = factor * unit;
  }
  axis.low = std::floor(axis.low / axis.step) * axis.step;
  axis.high = std::ceil(axis.high / axis.step + 1e-9) * axis.step;
  return axis;
}

void draw_triangle(Svg& svg, Point tip) {
  const std::array<Point, 3> corners = {{tip, {tip.x - 5, tip.y + 9}, {tip.x + 5, tip.y + 9}}};
  svg.polyline(corners, {.fill = "#111111"}, true);
}

void draw_strip(Svg& svg, double x0, const LossAxis& axis, const PlanePlot::Panel& panel,
                std::size_t shown) {
  const std::vector<double>& values = panel.losses;
  const double middle = strip_top + strip_height / 2;
  const double bottom = strip_top + strip_height;
  svg.rect({x0, strip_top}, panel_size, strip_height, {.fill = "#f6f6f6"});
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] <= axis.high)) {
      ++beyond;
      continue;
    }
    // Spread over the height by the golden ratio, so that dots of equal losses stay apart.
    const double share = std::fmod(static_cast<double>(i) * std::numbers::phi, 1.0);
    svg.circle({x0 + axis.at(values[i]), strip_top + 5 + share * (strip_height - 10)}, 2.4,
               {.fill = categorical(0), .opacity = 0.45});
  }
  const auto inside = [&](double value) { return value >= axis.low && value <= axis.high; };
  if (inside(panel.mean)) {
    const double x = x0 + axis.at(panel.mean);
    const double arm = panel.standard_error * (axis.at(axis.high) / (axis.high - axis.low));
    svg.line({x, strip_top}, {x, bottom}, {.stroke = categorical(1), .width = 2.4});
    svg.line({x - arm, middle}, {x + arm, middle}, {.stroke = categorical(1), .width = 4});
  }
  if (inside(values[shown])) {
    svg.circle({x0 + axis.at(values[shown]), middle}, 4.5, {.stroke = "#111111", .width = 1.8});
  }
  if (panel.paper && inside(*panel.paper)) {
    draw_triangle(svg, {x0 + axis.at(*panel.paper), bottom});
  }
  const auto ticks = static_cast<int>(std::lround((axis.high - axis.low) / axis.step));
  for (int t = 0; t <= ticks; ++t) {
    const double value = axis.low + t * axis.step;
    const double x = x0 + axis.at(value);
    svg.line({x, bottom}, {x, bottom + 4}, tick_ink);
    svg.text({x, bottom + 21}, fmt::format("{:.3g}", value), small_centred);
  }
  if (beyond > 0) {
    svg.text({x0 + panel_size, strip_top - 5}, fmt::format("{} beyond →", beyond), small_end);
  }
}

void draw_colour_bar(Svg& svg, double x0) {
  Pixels bar{1, 200, {}};
  for (int i = 0; i < 200; ++i) bar.colours.push_back(diverging(1 - (i + 0.5) / 200));
  svg.image({x0, top}, 16, panel_size, bar);
  svg.rect({x0, top}, 16, panel_size, tick_ink);
  for (const double p : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double y = top + (1 - p) * panel_size;
    svg.line({x0 + 16, y}, {x0 + 21, y}, tick_ink);
    svg.text({x0 + 24, y + 4}, fmt::format("{}", p), small);
  }
  svg.text({x0 + 66, top + panel_size / 2}, "P('+' | x)",
           {.size = 13, .anchor = Font::Anchor::middle, .rotate = -90});
}

void draw_legend(Svg& svg, bool generalization, bool paper) {
  const double y = plot_height - 22;
  double x = left;
  const auto entry = [&](std::string_view text, double length, const auto& draw_sample) {
    draw_sample(Point{x + 14, y - 4});
    svg.text({x + 34, y}, text, {.size = 12});
    x += length;
  };
  const auto dash = [&](const Paint& paint) {
    return [&svg, &paint](Point p) { svg.line({p.x - 14, p.y}, {p.x + 14, p.y}, paint); };
  };
  entry("training '+'", 118, [&](Point p) { draw_marker(svg, p, true); });
  entry("training 'o'", 118, [&](Point p) { draw_marker(svg, p, false); });
  entry("P_train (2 sd)", 136, dash(ink));
  entry("P_test (2 sd)", 132, dash(target_ink));
  if (generalization) {
    entry("P_gen (2 sd)", 128, [&](Point p) {
      for (const Paint& paint : generalization_ink) dash(paint)(p);
    });
  }
  entry("true boundary", 136, dash(boundary_ink));
  entry("a draw", 84,
        [&](Point p) { svg.circle(p, 2.4, {.fill = categorical(0), .opacity = 0.6}); });
  entry("the draw shown", 140, [&](Point p) { svg.circle(p, 4.5, ink); });
  entry("mean ± se", 112, dash({.stroke = categorical(1), .width = 3}));
  if (paper) entry("the paper's", 100, [&](Point p) { draw_triangle(svg, {p.x, p.y - 4}); });
}

/// The panel with what is written above and below it, and the strip of its losses.
void draw_column(Svg& svg, const PlanePlot& plot, std::size_t p, const LossAxis& axis) {
  const PlanePlot::Panel& panel = plot.panels[p];
  const Plane plane{plot.low, plot.high, left + static_cast<double>(p) * panel_step};
  const double middle = plane.x0 + panel_size / 2;
  svg.text({middle, top - 12}, fmt::format("({}) {}", "abcdefgh"[p % 8], panel.title),
           {.size = 13.5, .anchor = Font::Anchor::middle, .bold = true});
  draw_map(svg, plane, panel);
  draw_plane_axes(svg, plane, p == 0);
  svg.text({middle, top + panel_size + 62},
           fmt::format("{:.3f} ± {:.3f}{}", panel.mean, panel.standard_error, plot.unit),
           {.size = 17, .anchor = Font::Anchor::middle, .bold = true});
  std::string note = fmt::format("this draw {:.3f}", panel.losses[plot.shown]);
  if (panel.paper) note += fmt::format(", the paper's {}", *panel.paper);
  svg.text({middle, top + panel_size + 82}, note,
           {.size = 12.5, .anchor = Font::Anchor::middle, .fill = "#444444"});
  draw_strip(svg, plane.x0, axis, panel, plot.shown);
}

}  // namespace

std::string draw(const PlanePlot& plot) {
  const auto panels = static_cast<double>(plot.panels.size());
  const double right = left + (panels - 1) * panel_step + panel_size;
  Svg svg(right + 104, plot_height, plot.title);
  svg.text({left, 36}, plot.title, {.size = 21, .bold = true});
  svg.text({left, 60}, plot.subtitle, {.size = 13.5, .fill = "#444444"});
  const LossAxis axis = loss_axis(plot.panels);
  for (std::size_t p = 0; p < plot.panels.size(); ++p) draw_column(svg, plot, p, axis);
  svg.text({(left + right) / 2, strip_top + strip_height + 42},
           fmt::format("{} on the target in each of {} draws", plot.measure,
                       plot.panels[0].losses.size()),
           {.size = 12.5, .anchor = Font::Anchor::middle});
  draw_colour_bar(svg, right + 16);
  const auto any = [&](auto member) {
    return std::any_of(plot.panels.begin(), plot.panels.end(),
                       [&](const PlanePlot::Panel& p) { return (p.*member).has_value(); });
  };
  draw_legend(svg, any(&PlanePlot::Panel::generalization), any(&PlanePlot::Panel::paper));
  return svg.str();
}

}  // namespace covshift
