// A training problem under an assumption, with mapped features; private to model/ and engine/.
#pragma once

#include "covshift/model/classifier.hpp"

namespace covshift {

/// Throw Error unless the training rows make a problem, and the target has their columns; neither
/// may have a number that is not finite.
void check_training(const TrainingData& data, const FitOptions& options);
void check_target(const TrainingData& data, const FitOptions& options);

/// Features of the views, with the training rows that they make. The solver needs them all.
struct Mapped {
  /// `maps`: of views that name none; `open`: in place of auto.
  Mapped(const TrainingData& data, const std::string& maps, const std::string& open,
         const FitOptions& options)
      : features(
            Features::fit(close_maps(with_maps(data.views, maps), open),
                          {data.features, data.sample_weight, data.target, options.solve.seed})),
        rows(features, data.features, options.solve.threads) {}
  /// Features that were fitted to other rows.
  Mapped(const Features& fitted, const TrainingData& data, const FitOptions& options)
      : features(fitted), rows(features, data.features, options.solve.threads) {}

  Features features;
  FeatureRows rows;
};

/// With the data the problem refers to.
struct Setting {
  Setting(const TrainingData& data, const FitOptions& options, const Mapped& mapped, Shift under,
          const Game& game)
      : shift(std::move(under)),
        rows(shift.at(data.features, data.given_train, options.solve.threads)),
        scale_of_column(shift.scales_of(mapped.features.view_of())) {
    problem.game = &game;
    problem.features = mapped.rows.view();
    problem.labels = data.labels;
    problem.lambda = 1;
    problem.penalty = options.penalty;
    problem.bias = options.bias;
    problem.sample_weight = data.sample_weight;
    if (shift.weighted()) {
      // Where several holders have the rows, one without any solves the same kind of problem.
      if (data.features.rows == 0) rows.log_scale.assign(shift.scales(), 0.0);
      problem.log_weight = rows.log_weight;
      problem.log_scale = rows.log_scale;
      problem.scales = shift.scales();
      problem.scale_of_column = scale_of_column;
      problem.scale_of_bias = shift.scale_of_bias();
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  Shift shift;
  Shift::Ratios rows;
  std::vector<int> scale_of_column;
  Problem problem;
};

}  // namespace covshift
