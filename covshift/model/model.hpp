// A model as users keep it: from the columns of a file to predictions, in one file of its own.
#pragma once

#include <string>
#include <vector>

#include "covshift/data/encoder.hpp"
#include "covshift/data/labels.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/data/table.hpp"
#include "covshift/data/views.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

struct ModelOptions {
  std::string label;  ///< the column of the class
  /// The classes in their order, which ordinal losses and cost matrices go by (empty: numbers by
  /// size, texts by the alphabet).
  std::vector<std::string> classes;
  std::string weight;                 ///< a column of sample weights; empty: none
  std::string ratio_column;           ///< a column of P_test/P_train; empty: estimated
  std::string generalization_column;  ///< a column of log P_gen/P_test, for generalize=given
  std::string views = "all";          ///< all, each or a file
  Views::Groups view_groups;          ///< views by their columns, instead; empty: as `views` says
  ScaleKind scale = ScaleKind::unit;
  FitOptions fit;
};

/// A table as a model sees it.
struct EncodedRows {
  EncodedTable table;
  std::vector<double> log_ratio;           ///< from the ratio column, if the model has one
  std::vector<double> log_generalization;  ///< from the generalization column, likewise

  [[nodiscard]] GivenDensities given() const { return {log_ratio, log_generalization}; }
};

class Model {
 public:
  /// Learns from a labelled table and, for methods under shift, an unlabelled one (null: none). The
  /// target's labels, if it has any, are not looked at.
  static Model fit(const Table& train, const Table* target, const ModelOptions& options);

  /// The same from matrices that are numbers already: `encoder` names their columns. Views are the
  /// options'; the columns that options name are not used, as there are none. With ScaleKind::none
  /// the matrices are looked at where they are, otherwise one scaled copy of each is made.
  static Model fit(const TrainingData& data, Encoder encoder, Classes classes,
                   const ModelOptions& options);

  [[nodiscard]] EncodedRows encode(const Table& table, int threads = 0) const;
  [[nodiscard]] Predictions predict(const EncodedRows& rows, int threads = 0) const;
  /// Of encoded rows as they are before scaling; a block of them is scaled at a time.
  [[nodiscard]] Predictions predict(const MatrixView& x, int threads = 0) const;
  [[nodiscard]] std::vector<double> potentials(const MatrixView& x, int threads = 0) const;
  /// log P_test(x)/P_train(x); 0 without a target.
  [[nodiscard]] std::vector<double> log_ratio(const MatrixView& x, int threads = 0) const;

  /// Written whole or not at all. Reading gives back the same predictions to the last bit; a file
  /// that is truncated, changed by hand or of a newer version is refused.
  void save(const std::string& path) const;
  static Model load(const std::string& path);
  [[nodiscard]] std::string to_text() const;
  static Model from_text(const std::string& text, const std::string& source);

  /// The names of the predictor's actions: the classes, then "abstain" or the rows of a cost
  /// matrix.
  [[nodiscard]] std::vector<std::string> action_names() const;

  [[nodiscard]] const std::string& label() const { return label_; }
  /// True if rows must bring densities in columns of their own.
  [[nodiscard]] bool needs_columns() const {
    return !ratio_column_.empty() || !generalization_column_.empty();
  }
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  [[nodiscard]] const Classes& classes() const { return classes_; }
  [[nodiscard]] const Scaler& scaler() const { return scaler_; }
  [[nodiscard]] const Views& views() const { return views_; }
  [[nodiscard]] const Classifier& classifier() const { return classifier_; }

 private:
  static Model train(const TrainingData& data, Encoder encoder, Classes classes, Scaler scaler,
                     const ModelOptions& options);
  Model(std::string label, Encoder encoder, Classes classes, Scaler scaler, Views views,
        Classifier classifier)
      : label_(std::move(label)),
        encoder_(std::move(encoder)),
        classes_(std::move(classes)),
        scaler_(std::move(scaler)),
        views_(std::move(views)),
        classifier_(std::move(classifier)) {}

  std::string label_;
  std::string ratio_column_;
  std::string generalization_column_;
  Encoder encoder_;
  Classes classes_;
  Scaler scaler_;
  Views views_;
  Classifier classifier_;
};

}  // namespace covshift
