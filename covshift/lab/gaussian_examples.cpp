// What the paper leaves open in its figures 1 to 3, chosen: means, covariances, the boundary,
// lambda and how P_gen grows. The paper states the number of points (100; in figure 3 50 and 100),
// the noise (5 %; in figure 3 10 %), where the densities lie to each other, and that the boundary
// is a straight line that training and target share.
#include <cmath>
#include <numbers>

#include "covshift/lab/gaussians.hpp"

namespace covshift {
namespace {

/// Small (the paper's grid has 2^-16 below it): the panels show what a method assumes rather than
/// how it is regularised. The same for all.
constexpr double lambda = 0x1p-12;

/// Standard deviations of x1 and x2, and their correlation.
Gaussian gaussian(double mean1, double mean2, double sd1, double sd2, double correlation = 0) {
  const double both = correlation * sd1 * sd2;
  return {{mean1, mean2}, {sd1 * sd1, both, both, sd2 * sd2}};
}

/// Around 0, with standard deviations along a direction (in degrees) and across it.
Gaussian turned(double degrees, double along, double across) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double a = along * along;
  const double b = across * across;
  return {{0, 0}, {c * c * a + s * s * b, c * s * (a - b), c * s * (a - b), s * s * a + c * c * b}};
}

PanelSetting panel(std::string name, std::string title, const PlaneExample& example,
                   std::string method) {
  PanelSetting p;
  p.name = std::move(name);
  p.title = std::move(title);
  p.example = example;
  p.fit.method = std::move(method);
  p.fit.lambda = {LambdaChoice::Kind::fixed, lambda};
  return p;
}

}  // namespace

FigureSetting figure1_setting() {
  // The paper's first picture lacks training points at the top right.
  PlaneExample corner;
  corner.train = gaussian(-1, -1, 1, 1);
  corner.target = gaussian(0.5, 0.5, 1.5, 1.5);
  corner.boundary = {0, -1, 1};
  PlaneExample crossing;
  crossing.train = gaussian(-1, 0, 1.5, 1, 0.5);
  crossing.target = gaussian(1, 0, 1.5, 1, -0.5);
  crossing.boundary = {0, 0.5, 1};

  FigureSetting figure;
  figure.name = "figure1";
  figure.title = "Robust 0-1 loss: certain where training supports it, and only there";
  figure.subtitle =
      "P_gen = P_train; 100 training points, 5 % of labels flipped; the log loss on the same "
      "points "
      "beside it";
  figure.measure = FigureSetting::Measure::expected_loss;
  figure.low = -4.5;
  figure.high = 4.5;
  figure.panels = {panel("corner 0-1", "Corner, 0-1 loss", corner, "robust01"),
                   panel("corner log", "Corner, log loss", corner, "robust"),
                   panel("crossing 0-1", "Crossing, 0-1 loss", crossing, "robust01"),
                   panel("crossing log", "Crossing, log loss", crossing, "robust")};
  figure.comparisons = {{0, 1}, {2, 3}};
  return figure;
}

FigureSetting figure2_setting() {
  // Wider across the boundary than along it: there the noise costs those who are too certain.
  constexpr double downhill = -45;
  constexpr double along = 1.6;
  constexpr double across = 3;
  PlaneExample example;
  example.train = turned(downhill, 1, 1);
  example.target = turned(downhill, along, across);
  example.boundary = {0, 1, 1};

  FigureSetting figure;
  figure.name = "figure2";
  figure.title = "How far should training features be trusted? P_gen growing from train to test";
  figure.subtitle =
      "Robust log loss; 100 training points, 5 % of labels flipped; P_gen's standard deviations go "
      "from P_train's to P_test's in equal steps";
  figure.low = -6.5;
  figure.high = 6.5;
  const std::array<const char*, 4> names = {"P_gen = P_train", "1/3", "2/3", "P_gen = P_test"};
  const std::array<const char*, 4> titles = {"P_gen = P_train (robust)", "P_gen a third of the way",
                                             "P_gen two thirds of the way", "P_gen = P_test (IW)"};
  const std::array<double, 4> paper = {0.56, 0.48, 0.46, 0.75};
  for (std::size_t k = 0; k < 4; ++k) {
    const double g = static_cast<double>(k) / 3;
    PanelSetting p = panel(names[k], titles[k], example, "robust");
    p.generalization = turned(downhill, 1 + g * (along - 1), 1 + g * (across - 1));
    p.paper = paper[k];
    figure.panels.push_back(std::move(p));
  }
  figure.comparisons = {{1, 0}, {2, 1}, {2, 0}, {1, 3}, {2, 3}, {0, 3}};
  return figure;
}

FigureSetting figure3_setting() {
  // Training sees little of x1; x2 has the same N(0, 4) on both sides, in the target without its
  // correlation with x1.
  PlaneExample example;
  example.train = gaussian(0, 0, 0.4, 2, 0.5);
  example.target = gaussian(1.5, 0, 1, 2);
  example.boundary = {-1.5, 1, 1};
  example.noise = 0.1;
  example.train_rows = 50;

  FigureSetting figure;
  figure.name = "figure3";
  figure.title = "A view that generalizes: x2 has the same distribution in training and target";
  figure.subtitle = "Log loss; 50 training points, 10 % of labels flipped";
  figure.low = -5.5;
  figure.high = 5.5;
  figure.panels = {panel("lr", "LR", example, "lr"), panel("iw", "IW", example, "iw"),
                   panel("robust", "Robust", example, "robust"),
                   panel("robust-view", "Robust-View", example, "robust-view")};
  const std::array<double, 4> paper = {1.18, 0.916, 0.859, 0.729};
  for (std::size_t k = 0; k < 4; ++k) figure.panels[k].paper = paper[k];
  ShiftOptions& shift = figure.panels[3].fit.shift;
  shift.automatic = false;
  shift.generalized_views = {"x2"};
  figure.comparisons = {{1, 0}, {2, 1}, {3, 2}, {2, 0}, {3, 0}, {3, 1}};
  return figure;
}

}  // namespace covshift
