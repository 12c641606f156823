// The plots of tables, sweeps and two-dimensional examples, as SVG documents.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "covshift/draw/svg.hpp"

namespace covshift {

/// A panel for each group: values with error bars, reference values hollow.
struct DotPlot {
  struct Dot {
    double value = 0, error = 0;
    std::optional<double> reference = {};
  };
  struct Panel {
    std::string name;
    std::vector<Dot> dots;  ///< one for each label
  };
  std::string title, subtitle;
  std::vector<std::string> labels;
  std::vector<Panel> panels;
};
std::string draw(const DotPlot& plot);

/// A panel for each group: lines over a shared x axis that falls from its first tick to its last.
struct LinePlot {
  struct Line {
    std::vector<Point> points;
    std::size_t label = 0;
    bool dashed = false;
  };
  struct Panel {
    std::string name;
    double reference = 0;  ///< a dotted line; lines leave the panel above 2.5 times it
    std::vector<Line> lines;
  };
  std::string title, subtitle, x_name;
  std::vector<double> x_ticks;
  std::vector<std::string> labels;
  std::vector<Panel> panels;
};
std::string draw(const LinePlot& plot);

/// A panel for each model of points in the plane: its predictions as a colour map, the densities
/// and training points of one draw; below it, the losses of all draws.
struct PlanePlot {
  struct Density {
    std::array<double, 2> mean;
    std::array<double, 4> covariance;
  };
  struct Panel {
    std::string title;
    Pixels map;
    std::array<double, 3> boundary;  ///< b0 + b1 x1 + b2 x2 = 0
    Density train, target;
    std::optional<Density> generalization;
    std::vector<Point> points;
    std::vector<int> labels;     ///< 1 is '+', 0 is 'o'
    std::vector<double> losses;  ///< of every draw
    double mean = 0, standard_error = 0;
    std::optional<double> paper;
  };
  std::string title, subtitle;
  std::string measure, unit;  ///< of the losses, such as "Log loss (bits)" and " bits"
  double low = -5, high = 5;  ///< of both axes
  std::size_t shown = 0;      ///< the draw of the points
  std::vector<Panel> panels;
};
std::string draw(const PlanePlot& plot);

}  // namespace covshift
