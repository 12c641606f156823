// The paper's figures 1 to 3, with the spread over many draws that the paper leaves out: points in
// the plane from two known Gaussians, labels by a straight line that training and target share,
// some of them flipped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "covshift/lab/experiment.hpp"
#include "covshift/lab/result.hpp"
#include "covshift/ratio/gaussian.hpp"

namespace covshift {

struct PlaneExample {
  Gaussian train, target;
  std::array<double, 3> boundary;  ///< '+' (class 1) where b0 + b1 x1 + b2 x2 > 0
  double noise = 0.05;             ///< the exact share of each sample's labels that is flipped
  std::size_t train_rows = 100, target_rows = 100;
};

struct PlanePoints {
  std::vector<double> x;  ///< x1 and x2 of every point
  std::vector<int> y;     ///< 1 is '+', 0 is 'o'
  [[nodiscard]] MatrixView view() const { return MatrixView::dense(x.data(), x.size() / 2, 2); }
};

struct PlaneDraw {
  PlanePoints train, target;
};

/// A draw in which both classes occur in training (drawn again until they do).
PlaneDraw draw_plane(const PlaneExample& example, std::uint64_t seed);

/// A method on an example, with the densities known rather than estimated.
struct PanelSetting {
  std::string name;   ///< as in tables
  std::string title;  ///< as above the picture
  PlaneExample example;
  FitOptions fit;
  std::optional<double> paper;             ///< the paper's log loss in bits, if it states one
  std::optional<Gaussian> generalization;  ///< P_gen; none: the method's own
};

/// Classifier::fit given log P_test/P_train, and log P_gen/P_test where P_gen is set. A view's
/// ratio is always estimated.
Classifier fit_panel(const PanelSetting& panel, const PlaneDraw& draw, int threads);
Predictions predict_panel(const PanelSetting& panel, const Classifier& model, const MatrixView& x,
                          int threads);

/// One draw in one panel, scored on the target sample.
struct PanelScores {
  double log_loss = 0;       ///< bits; infinite where a label had probability 0
  double expected_loss = 0;  ///< 0-1 loss of drawing the label from the prediction
  double accuracy = 0;
  double certain_inside = 0;   ///< mean |2P - 1| where P_train >= P_test ...
  double certain_outside = 0;  ///< ... and where P_train < P_test / 10
  bool operator==(const PanelScores&) const = default;
};

struct FigureSetting {
  std::string name, title, subtitle;
  /// The loss that panels are compared by. The 0-1 game's predictor may give a label probability 0,
  /// which makes its log loss infinite: it is judged by its own loss.
  double PanelScores::*measure = &PanelScores::log_loss;
  double low = -5, high = 5;  ///< of both axes in the picture
  std::vector<PanelSetting> panels;
  /// Pairs of panels that the paper compares: the first against the second.
  std::vector<std::array<std::size_t, 2>> comparisons;
};

/// The 0-1 loss under two kinds of overlap, P_gen = P_train, beside the log loss.
FigureSetting figure1_setting();
/// The log loss with P_gen growing from P_train to P_test.
FigureSetting figure2_setting();
/// Logistic regression, importance weighting, robust, and robust with a view that generalizes.
FigureSetting figure3_setting();

/// Scores of every panel, [panel][draw]; panels with the same example see the same draws.
struct FigureRun {
  std::vector<std::uint64_t> seeds;  ///< of the draws
  std::vector<std::vector<PanelScores>> scores;
};
FigureRun run_figure(const FigureSetting& figure, const ExperimentOptions& options);

/// Runs and reports a figure; the picture shows the draw whose panels are nearest to their medians.
LabResult report_figure(const FigureSetting& figure, const ExperimentOptions& options);

}  // namespace covshift
