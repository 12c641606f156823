#include "covshift/draw/plots.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace covshift {
namespace {

const Font heading = {.size = 13, .anchor = Font::Anchor::middle, .bold = true};
const Font note = {.size = 11, .anchor = Font::Anchor::middle, .fill = "#555555"};

void draw_title(Svg& svg, const std::string& title, const std::string& subtitle) {
  svg.text({16, 26}, title, {.size = 16, .bold = true});
  svg.text({16, 46}, subtitle, {.size = 12, .fill = "#555555"});
}

void begin_panel(Svg& svg, Point corner, double width, double height, const std::string& name) {
  svg.begin_moved(corner);
  svg.rect({0, 0}, width, height, {.fill = "#f7f7f7", .stroke = "#cccccc"});
  svg.text({width / 2, -10}, name, heading);
}

void draw_x_tick(Svg& svg, double x, double height, const std::string& text) {
  svg.line({x, height}, {x, height + 4}, {.stroke = "#888888"});
  svg.text({x, height + 17}, text, note);
}

}  // namespace

std::string draw(const DotPlot& plot) {
  constexpr double panel_step = 200;
  constexpr double width = panel_step - 24;
  constexpr double height = 190;
  constexpr double left = 150;
  const double step = height / static_cast<double>(plot.labels.size());
  const auto row = [&](std::size_t i) { return step * (static_cast<double>(i) + 0.5); };
  Svg svg(left + panel_step * static_cast<double>(plot.panels.size()) + 20, height + 130,
          plot.title);
  draw_title(svg, plot.title, plot.subtitle);
  for (std::size_t i = 0; i < plot.labels.size(); ++i) {
    svg.text({left - 10, 100 + row(i) + 4}, plot.labels[i],
             {.size = 13, .anchor = Font::Anchor::end});
  }
  for (std::size_t p = 0; p < plot.panels.size(); ++p) {
    double low = 1e300;
    double high = -1e300;
    for (const DotPlot::Dot& dot : plot.panels[p].dots) {
      low = std::min({low, dot.value - dot.error, dot.reference.value_or(dot.value)});
      high = std::max({high, dot.value + dot.error, dot.reference.value_or(dot.value)});
    }
    const double margin = 0.06 * (high - low) + 1e-9;
    low -= margin;
    high += margin;
    const auto at = [&](double value) { return width * (value - low) / (high - low); };
    begin_panel(svg, {left + panel_step * static_cast<double>(p), 100}, width, height,
                plot.panels[p].name);
    for (const double value : round_ticks(low, high, 4)) {
      draw_x_tick(svg, at(value), height, fmt::format("{:.3g}", value));
    }
    for (std::size_t i = 0; i < plot.labels.size(); ++i) {
      const DotPlot::Dot& dot = plot.panels[p].dots[i];
      const std::string colour = categorical(i);
      svg.line({at(dot.value - dot.error), row(i)}, {at(dot.value + dot.error), row(i)},
               {.stroke = colour, .width = 2.5});
      svg.circle({at(dot.value), row(i)}, 5.5, {.fill = colour});
      if (!dot.reference) continue;
      svg.circle({at(*dot.reference), row(i)}, 5, {.stroke = colour, .width = 1.8});
    }
    svg.end();
  }
  return svg.str();
}

std::string draw(const LinePlot& plot) {
  constexpr double panel_step = 260;
  constexpr double width = panel_step - 40;
  constexpr double height = 240;
  Svg svg(70 + panel_step * static_cast<double>(plot.panels.size()), height + 170, plot.title);
  draw_title(svg, plot.title, plot.subtitle);
  const double first = plot.x_ticks.front();
  const double range = first - plot.x_ticks.back();
  const auto at = [&](double x) { return 12 + (width - 24) * (first - x) / range; };
  for (std::size_t p = 0; p < plot.panels.size(); ++p) {
    const LinePlot::Panel& panel = plot.panels[p];
    double high = 0;
    for (const LinePlot::Line& line : panel.lines) {
      for (const Point& point : line.points) high = std::max(high, point.y);
    }
    high = 1.05 * std::min(high, 2.5 * panel.reference);
    const auto up = [&](double y) { return height * (1 - y / high); };
    begin_panel(svg, {60 + panel_step * static_cast<double>(p), 90}, width, height, panel.name);
    for (const double value : round_ticks(0, high, 6)) {
      svg.text({-6, up(value) + 4}, fmt::format("{:.3g}", value),
               {.size = 11, .anchor = Font::Anchor::end, .fill = "#555555"});
    }
    for (const double x : plot.x_ticks) draw_x_tick(svg, at(x), height, fmt::format("{}", x));
    svg.text({width / 2, height + 36}, plot.x_name, note);
    svg.begin_clipped({0, 0}, width, height);
    svg.line({0, up(panel.reference)}, {width, up(panel.reference)},
             {.stroke = "#888888", .dash = "1 4"});
    for (const LinePlot::Line& line : panel.lines) {
      std::vector<Point> points;
      points.reserve(line.points.size());
      for (const Point& point : line.points) points.push_back({at(point.x), up(point.y)});
      svg.polyline(points, {.stroke = categorical(line.label),
                            .width = line.dashed ? 1.5 : 2.5,
                            .dash = line.dashed ? "5 4" : "none"});
    }
    svg.end();
    svg.end();
  }
  for (std::size_t i = 0; i < plot.labels.size(); ++i) {
    const double x = 70 + 130 * static_cast<double>(i);
    svg.line({x, height + 145}, {x + 24, height + 145}, {.stroke = categorical(i), .width = 2.5});
    svg.text({x + 30, height + 149}, plot.labels[i], {.size = 12});
  }
  return svg.str();
}

}  // namespace covshift
