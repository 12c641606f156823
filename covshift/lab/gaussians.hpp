// The paper's synthetic examples: inputs in the plane from two known Gaussians, labels by a
// straight line that training and target share, some of them flipped.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covshift/model/classifier.hpp"
#include "covshift/ratio/gaussian.hpp"

namespace covshift {

struct PlaneExample {
  Gaussian train, target;
  std::array<double, 3> boundary;  ///< '+' (class 1) where b0 + b1 x1 + b2 x2 > 0
  double noise = 0.05;             ///< the share of each sample's labels that is flipped, exactly
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
  std::optional<Gaussian> generalization;  ///< P_gen; none: as the method has it
  std::optional<double> paper;             ///< the paper's log loss in bits, if it states one
};

/// Classifier::fit with log P_test/P_train, and log P_gen/P_test where P_gen is set, given. The
/// ratio of a view is estimated: the classifier takes none from its caller.
Classifier fit_panel(const PanelSetting& panel, const PlaneDraw& draw, int threads);
Predictions predict_panel(const PanelSetting& panel, const Classifier& model, const MatrixView& x,
                          int threads);

/// How one draw came out in one panel, on the target sample.
struct PanelScores {
  double log_loss = 0;       ///< bits; infinite where a label had probability 0
  double expected_loss = 0;  ///< 0-1 loss of drawing the label from the prediction
  double accuracy = 0;
  double certain_inside = 0;   ///< mean |2P - 1| where P_train >= P_test ...
  double certain_outside = 0;  ///< ... and where P_train < P_test / 10
  bool operator==(const PanelScores&) const = default;
};

struct FigureSetting {
  /// What panels are compared by. The 0-1 game's predictor may give a label probability 0, which
  /// makes its log loss infinite: it is judged by the loss it is for.
  enum class Measure { log_loss, expected_loss };
  std::string name;
  std::string title;
  std::string subtitle;
  Measure measure = Measure::log_loss;
  double low = -5, high = 5;  ///< of both axes in the picture
  std::vector<PanelSetting> panels;
  /// Pairs of panels that the paper compares: the first against the second.
  std::vector<std::array<std::size_t, 2>> comparisons;
};

FigureSetting figure1_setting();
FigureSetting figure2_setting();
FigureSetting figure3_setting();

struct FigureOptions {
  int draws = 100;
  unsigned long long seed = 0;
  int threads = 0;                       ///< 0: all cores; the result is the same for any number
  std::function<void(double)> progress;  ///< the share that is done; one thread at a time
  std::function<bool()> cancelled;       ///< asked by several threads; true: throws Error (stopped)
  /// Other readings than the setting's own, for every panel.
  std::optional<LambdaChoice> lambda;
  std::optional<BiasAssumption> bias;
};

/// Scores of every panel, [panel][draw]; panels see the same draws as far as they share an example.
struct FigureRun {
  std::vector<std::uint64_t> seeds;  ///< of the draws
  std::vector<std::vector<PanelScores>> scores;
};

/// What the figure's panels are compared by, of one draw.
double measured(const FigureSetting& figure, const PanelScores& scores);

FigureRun run_figure(const FigureSetting& figure, const FigureOptions& options);

}  // namespace covshift
