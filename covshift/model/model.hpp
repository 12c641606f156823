// A complete model, from the columns of a file to predictions, stored in one file.
#pragma once

#include <string>
#include <vector>

#include "covshift/data/preparation.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

struct ModelOptions : PreparationOptions {
  ModelOptions() { views.clear(); }  // not given

  FitOptions fit;
};
/// What the preparation is told: without views of the caller's, a view for each column if the
/// method trusts views one by one (assumption `views`), else one of all columns.
PreparationOptions inputs_of(const ModelOptions& options);

class Model {
 public:
  /// Learns from labelled data and, for methods under shift, unlabelled data (null: none). Labels
  /// in the latter are ignored.
  static Model fit(const Input& train, const Input* target, const ModelOptions& options);
  /// From rows that `preparation` has prepared.
  static Model fit(Preparation preparation, const PreparedRows& train, const PreparedRows* target,
                   const FitOptions& options);

  /// From rows that were prepared and fitted elsewhere (engine/fit_parts.hpp).
  Model(Preparation preparation, Classifier classifier)
      : preparation_(std::move(preparation)), classifier_(std::move(classifier)) {}

  /// For rows from preparation().encode(); scales a block of them at a time.
  [[nodiscard]] Predictions predict(const PreparedRows& rows, int threads = 0) const;
  [[nodiscard]] Predictions predict(const Input& rows, int threads = 0) const;

  /// Written atomically. A loaded model predicts the same to the last bit; a file that is
  /// truncated, was edited or has a newer version is rejected.
  void save(const std::string& path) const;
  static Model load(const std::string& path);
  [[nodiscard]] std::string to_text() const;
  static Model from_text(const std::string& text, const std::string& source);

  /// The names of the predictor's actions: the classes, then "abstain" or the rows of a cost
  /// matrix.
  [[nodiscard]] std::vector<std::string> action_names() const;

  /// What `covshift fit --json` prints.
  [[nodiscard]] nlohmann::ordered_json report_json() const;

  [[nodiscard]] const Preparation& preparation() const { return preparation_; }
  [[nodiscard]] const Classifier& classifier() const { return classifier_; }

 private:
  Preparation preparation_;
  Classifier classifier_;
};

}  // namespace covshift
