// Figures 1 to 3: the paper states the number of points (100; in figure 3 50 and 100), the noise
// (5 %; in figure 3 10 %), how the densities lie relative to each other, and that the boundary is a
// straight line shared by training and target. Means, covariances, the boundary, lambda and how
// P_gen grows are chosen here.
#include <cmath>
#include <numbers>

#include "covshift/lab/figures.hpp"

namespace covshift {
namespace {

/// Small (the paper's grid has 2^-16 below it): the panels show what a method assumes rather than
/// how it is regularised. The same for all.
constexpr double figure_lambda = 0x1p-12;

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
                   std::string method, std::optional<double> paper = {},
                   std::optional<Gaussian> generalization = {}) {
  PanelSetting p{std::move(name), std::move(title),         example, paper_fit(),
                 paper,           std::move(generalization)};
  p.fit.method = std::move(method);
  p.fit.lambda = {LambdaChoice::Kind::fixed, figure_lambda};
  return p;
}

}  // namespace

FigureSetting figure1_setting() {
  // The paper's first picture lacks training points at the top right.
  const PlaneExample corner = {gaussian(-1, -1, 1, 1), gaussian(0.5, 0.5, 1.5, 1.5), {0, -1, 1}};
  const PlaneExample crossing = {
      gaussian(-1, 0, 1.5, 1, 0.5), gaussian(1, 0, 1.5, 1, -0.5), {0, 0.5, 1}};
  return {"figure1",
          "Robust 0-1 loss: certain where training supports it, and only there",
          "P_gen = P_train; 100 training points, 5 % of labels flipped; the log loss on the same "
          "points beside it",
          &PanelScores::expected_loss,
          -4.5,
          4.5,
          {panel("corner 0-1", "Corner, 0-1 loss", corner, "robust01"),
           panel("corner log", "Corner, log loss", corner, "robust"),
           panel("crossing 0-1", "Crossing, 0-1 loss", crossing, "robust01"),
           panel("crossing log", "Crossing, log loss", crossing, "robust")},
          {{0, 1}, {2, 3}}};
}

FigureSetting figure2_setting() {
  // Wider across the boundary than along it: there the noise costs methods that are too certain.
  const auto density = [](double g) { return turned(-45, 1 + g * (1.6 - 1), 1 + g * (3.0 - 1)); };
  const PlaneExample example = {density(0), density(1), {0, 1, 1}};
  const auto step = [&](const char* name, const char* title, double g, double paper) {
    return panel(name, title, example, "robust", paper, density(g));
  };
  return {
      "figure2",
      "How far should training features be trusted? P_gen growing from train to test",
      "Robust log loss; 100 training points, 5 % of labels flipped; P_gen's standard deviations "
      "go from P_train's to P_test's in equal steps",
      &PanelScores::log_loss,
      -6.5,
      6.5,
      {step("P_gen = P_train", "P_gen = P_train (robust)", 0, 0.56),
       step("1/3", "P_gen a third of the way", 1.0 / 3, 0.48),
       step("2/3", "P_gen two thirds of the way", 2.0 / 3, 0.46),
       step("P_gen = P_test", "P_gen = P_test (IW)", 1, 0.75)},
      {{1, 0}, {2, 1}, {2, 0}, {1, 3}, {2, 3}, {0, 3}}};
}

FigureSetting figure3_setting() {
  // Training covers little of x1; x2 is N(0, 4) on both sides, in the target uncorrelated with x1.
  const PlaneExample example = {
      gaussian(0, 0, 0.4, 2, 0.5), gaussian(1.5, 0, 1, 2), {-1.5, 1, 1}, 0.1, 50, 100};
  FigureSetting figure = {
      "figure3",
      "A view that generalizes: x2 has the same distribution in training and target",
      "Log loss; 50 training points, 10 % of labels flipped",
      &PanelScores::log_loss,
      -5.5,
      5.5,
      {panel("lr", "LR", example, "lr", 1.18), panel("iw", "IW", example, "iw", 0.916),
       panel("robust", "Robust", example, "robust", 0.859),
       panel("robust-view", "Robust-View", example, "robust-view", 0.729)},
      {{1, 0}, {2, 1}, {3, 2}, {2, 0}, {3, 0}, {3, 1}}};
  ShiftOptions& shift = figure.panels[3].fit.shift;
  shift.automatic = false;
  shift.generalized_views = {"x2"};
  return figure;
}

}  // namespace covshift
