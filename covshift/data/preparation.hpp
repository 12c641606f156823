// Turns a table or matrix into rows that need no further checks: the only way data enter.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/data/column_checks.hpp"
#include "covshift/data/encoder.hpp"
#include "covshift/data/labels.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/data/summary.hpp"
#include "covshift/data/table.hpp"
#include "covshift/data/views.hpp"

namespace covshift {

struct PreparationOptions {
  std::string label;  ///< the column of the class; empty: none
  /// The classes in order, for ordinal losses and cost matrices (empty: numbers ascending, strings
  /// alphabetically).
  std::vector<std::string> classes;
  std::string weight;                 ///< a column of sample weights; empty: none
  std::string ratio_column;           ///< a column of P_test/P_train; empty: estimated
  std::string generalization_column;  ///< a column of log P_gen/P_test, for generalize=given
  std::string views = "all";          ///< all, each or a file
  Views::Groups view_groups;          ///< views as lists of columns; empty: as `views` says
  /// The same columns for single views; a name may be empty.
  struct ViewColumns {
    std::string view, ratio, generalization;
  };
  std::vector<ViewColumns> view_columns;
  ScaleKind scale = ScaleKind::standard;
  bool cut = true;  ///< what standard scaling cuts; a diagnosis shows every value as it is
  ColumnOptions columns;
};

/// A table or a matrix of numbers in the caller's memory.
struct Input {
  Input(const Table& rows) : table(&rows) {}  // NOLINT(*-explicit-*): a table is an input
  /// `columns`: their names; empty: numbered from 1.
  Input(const MatrixView& rows, std::vector<std::string> columns = {})  // NOLINT(*-explicit-*)
      : matrix(rows), names(std::move(columns)) {}

  const Table* table = nullptr;
  MatrixView matrix;
  std::vector<std::string> names;
  /// Classes (positions in PreparationOptions::classes) and weights of training rows, if they are
  /// not columns of a table.
  std::span<const int> labels;
  std::span<const double> weight;
};

/// What a part of the training rows says about its columns.
Summary summarise(const Input& part, const PreparationOptions& options,
                  const Summary::Place& place = {});

/// What some rows have that training never saw. Of blocks of a file it can be put together.
struct Strange {
  std::string source;
  bool lines = false;  ///< the source has lines
  std::size_t rows = 0;
  std::vector<EncodedTable::Unseen> unseen;
  std::vector<EncodedTable::Absent> absent;
  std::size_t unlike = 0;  ///< EncodedTable::unlike
  ConstantColumns::Varying varying;
  std::size_t ignored_entries = 0;
  std::size_t entries = 0;

  void append(const Strange& next);
  [[nodiscard]] std::vector<std::string> warnings() const;
};

/// Rows as numbers. A matrix that needs no scaling stays in the caller's memory.
struct PreparedRows {
  PreparedRows() = default;
  PreparedRows(const PreparedRows&) = delete;
  PreparedRows& operator=(const PreparedRows&) = delete;
  PreparedRows(PreparedRows&&) = default;
  PreparedRows& operator=(PreparedRows&&) = default;
  ~PreparedRows() = default;

  MatrixView features;  ///< in the caller's memory, in `own` or in `floats`
  Matrix own;
  /// Asks that `own`, which is dense, be replaced by `floats` when it is scaled.
  bool single_precision = false;
  std::vector<float, LargeAllocator<float>> floats;
  std::vector<int> labels;                 ///< training rows only
  std::vector<double> weight;              ///< training rows only; empty: 1
  std::vector<double> log_ratio;           ///< from the ratio column, if there is one
  std::vector<double> log_generalization;  ///< from the generalization column, if there is one
  /// The same for each view; empty if no view has such columns.
  struct ViewColumns {
    std::vector<double> log_ratio, log_generalization;
  };
  std::vector<ViewColumns> views;
  Strange strange;
  /// What looks wrong in the training data, or else what is strange.
  std::vector<std::string> warnings;
};

/// Encoder, classes, views and scaler: learned from training data, stored with a model, applied to
/// all other data. Everything that makes features belongs here.
class Preparation {
 public:
  /// Learns columns, classes and views. Throws Error, also if there is only one class.
  Preparation(const Input& train, const PreparationOptions& options)
      : Preparation(summarise(train, options), options) {}
  /// The same from the summary of all parts of the training rows, of which none is Summary::mixed.
  Preparation(const Summary& train, const PreparationOptions& options);
  /// Without classes or views, for a density ratio.
  Preparation(Encoder encoder, Scaler scaler)
      : encoder_(std::move(encoder)), scaler_(std::move(scaler)) {}

  /// Options for reading other files: categories stay text even if they look like numbers.
  [[nodiscard]] ReadOptions read_options(ReadOptions options = {}) const;

  /// Rows by column name, not yet scaled.
  [[nodiscard]] PreparedRows encode(const Input& input, int threads = 0) const;
  /// The same with labels and weights, and as warnings what looks wrong in all training rows
  /// (constant columns aside: what to say of them depends on the target, so fit() does).
  [[nodiscard]] PreparedRows encode_training(const Input& input, int threads = 0) const;
  /// Fits the scaling, applies it to the encoded rows of training and target (null: none), and
  /// checks that every number is finite. Of several holders each gives its own rows, and all learn
  /// the same scaling.
  void fit(PreparedRows& train, PreparedRows* target, int threads = 0,
           const Reducer& reducer = Reducer());
  /// The first part of it, for rows that are then scaled a block at a time (apply).
  void learn_scale(const MatrixView& train, std::span<const double> weight,
                   const Reducer& reducer = Reducer());
  /// Scales encoded rows and checks that they are finite; `what` names them in the message.
  void apply(PreparedRows& rows, const char* what, int threads = 0) const;
  /// Calls body(first, block) in parallel for scaled blocks of encoded rows, without copying all
  /// rows at once; `block` starts at row `first`.
  void each_block(const MatrixView& rows, int threads,
                  const std::function<void(std::size_t, const MatrixView&)>& body) const;

  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  /// The encoded columns that name rows (Encoder::ids): they say nothing about a shift.
  [[nodiscard]] std::vector<std::int32_t> id_columns() const;
  [[nodiscard]] const Classes& classes() const { return classes_; }
  [[nodiscard]] const Views& views() const { return views_; }
  [[nodiscard]] const Scaler& scaler() const { return scaler_; }
  [[nodiscard]] const std::string& label() const { return columns_.label; }
  /// Columns to copy beside predictions.
  [[nodiscard]] const std::vector<std::string>& keep() const { return keep_; }
  [[nodiscard]] bool given_ratio() const { return !columns_.ratio.empty(); }
  /// The rule for missing values, and how many each column had in training; null if there is
  /// nothing to tell.
  [[nodiscard]] nlohmann::ordered_json missing_report() const;
  /// True if rows need columns of densities, which only a table has.
  [[nodiscard]] bool needs_columns() const {
    return given_ratio() || !columns_.generalization.empty() || !view_columns_.empty();
  }

  [[nodiscard]] nlohmann::json to_json() const;
  static Preparation from_json(const nlohmann::json& json);

 private:
  Preparation() = default;

  /// Replaces the rows of `own` by scaled ones in `floats`.
  void scale_to_floats(PreparedRows& rows) const;

  struct Columns {
    std::string label, weight, ratio, generalization;
  };
  Columns columns_;
  std::vector<PreparationOptions::ViewColumns> view_columns_;
  std::vector<std::string> keep_;
  ScaleKind scale_ = ScaleKind::none;
  bool cut_ = true;
  Encoder encoder_;
  Classes classes_;
  Views views_;
  Scaler scaler_;
  // Not stored with a model:
  std::vector<std::string> warnings_;  ///< about the training rows
  ConstantColumns constants_;
};

}  // namespace covshift
