#include "covshift/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/model/envelope.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

constexpr FileFormat format{"covshift model", "model", 1};

/// A column of numbers that must be there and finite.
const std::vector<double>& numbers(const Table& table, const std::string& name, const char* what) {
  return finite_numbers(table, table.at(name), what);
}

std::vector<double> log_of(const Table& table, const std::string& name) {
  std::vector<double> values = numbers(table, name, "density ratio");
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!(values[row] > 0)) {
      fail_input("{}: the density ratio is {}; it must be positive",
                 table.where(row, table.at(name)), values[row]);
    }
    values[row] = std::log(values[row]);
  }
  return values;
}

std::vector<double> sample_weights(const Table& table, const std::string& name) {
  const std::vector<double>& values = numbers(table, name, "weight");
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row] < 0) {
      fail_input("{}: the weight is {}; weights must not be negative",
                 table.where(row, table.at(name)), values[row]);
    }
  }
  if (std::all_of(values.begin(), values.end(), [](double w) { return w == 0; })) {
    fail_input("{}: no example has a positive weight (column '{}')", table.source, name);
  }
  return values;
}

/// The classes that occur, in the caller's order if he gave one.
Classes classes_of(const Table& train, const ModelOptions& options) {
  Classes found = Classes::fit(train, options.label);
  if (options.classes.empty()) return found;
  Classes ordered = Classes::from_names(options.classes);
  for (const std::string& name : found.names()) {
    if (ordered.index_of(name) < 0) {
      fail_input("{}: the class '{}' is not in the list of classes given", train.source, name);
    }
  }
  if (ordered.size() != found.size()) {
    fail_input("{}: {} classes were given, but column '{}' has {}", train.source, ordered.size(),
               options.label, found.size());
  }
  return ordered;
}

}  // namespace

Model Model::fit(const Table& train, const Table* target, const ModelOptions& options) {
  std::vector<std::string> exclude = {options.label};
  for (const std::string* name :
       {&options.weight, &options.ratio_column, &options.generalization_column}) {
    if (!name->empty()) exclude.push_back(*name);
  }
  Classes classes = classes_of(train, options);
  if (classes.size() < 2) {
    fail_input("{}: column '{}' has one class only ('{}'); a classifier needs at least two",
               train.source, options.label, classes.names()[0]);
  }
  Encoder encoder = Encoder::fit(train, exclude);
  const auto read = [&](const Table& table) {
    EncodedRows rows{encoder.encode(table, {false, options.fit.solve.threads}), {}, {}};
    if (!options.ratio_column.empty()) rows.log_ratio = log_of(table, options.ratio_column);
    if (!options.generalization_column.empty()) {
      rows.log_generalization =
          numbers(table, options.generalization_column, "log generalization density");
    }
    return rows;
  };
  const LabelCodes codes = classes.codes(train, options.label);
  std::vector<double> weights;
  if (!options.weight.empty()) weights = sample_weights(train, options.weight);
  EncodedRows train_rows = read(train);
  Scaler scaler = Scaler::fit(options.scale, train_rows.table.matrix, weights);
  scaler.apply(train_rows.table.matrix);
  EncodedRows target_rows;
  MatrixView target_view;
  if (target != nullptr) {
    target_rows = read(*target);
    scaler.apply(target_rows.table.matrix);
    target_view = target_rows.table.matrix.view();
  }
  TrainingData data;
  data.features = train_rows.table.matrix.view();
  data.labels = codes.codes;
  data.sample_weight = weights;
  data.target = target != nullptr ? &target_view : nullptr;
  data.given_train = train_rows.given();
  data.given_target = target_rows.given();
  return Model::train(data, std::move(encoder), std::move(classes), std::move(scaler), options);
}

Model Model::fit(const TrainingData& given, Encoder encoder, Classes classes,
                 const ModelOptions& options) {
  if (given.features.cols != encoder.cols()) {
    fail_input("{} columns, but names for {}", given.features.cols, encoder.cols());
  }
  if (!options.weight.empty() || !options.ratio_column.empty() ||
      !options.generalization_column.empty()) {
    fail_input("a matrix has no named columns of weights or densities; give a table");
  }
  Scaler scaler = Scaler::fit(options.scale, given.features, given.sample_weight);
  TrainingData data = given;
  Matrix train;
  Matrix target;
  MatrixView target_view;
  if (options.scale != ScaleKind::none) {
    train = scaler.scaled(given.features);
    data.features = train.view();
    if (given.target != nullptr) {
      target = scaler.scaled(*given.target);
      target_view = target.view();
      data.target = &target_view;
    }
  }
  return Model::train(data, std::move(encoder), std::move(classes), std::move(scaler), options);
}

/// From scaled features.
Model Model::train(const TrainingData& given, Encoder encoder, Classes classes, Scaler scaler,
                   const ModelOptions& options) {
  TrainingData data = given;
  data.classes = static_cast<int>(classes.size());
  data.views = options.view_groups.empty() ? Views::parse(options.views, encoder)
                                           : Views::from_groups(options.view_groups, encoder);
  FitOptions fit = options.fit;
  fit.shift.given_ratio = !options.ratio_column.empty();
  Classifier classifier = Classifier::fit(data, fit);
  Model model(options.label, std::move(encoder), std::move(classes), std::move(scaler),
              std::move(data.views), std::move(classifier));
  model.ratio_column_ = options.ratio_column;
  model.generalization_column_ = options.generalization_column;
  return model;
}

EncodedRows Model::encode(const Table& table, int threads) const {
  EncodedRows rows{encoder_.encode(table, {false, threads}), {}, {}};
  scaler_.apply(rows.table.matrix);
  if (!ratio_column_.empty()) rows.log_ratio = log_of(table, ratio_column_);
  if (!generalization_column_.empty()) {
    rows.log_generalization = numbers(table, generalization_column_, "log generalization density");
  }
  return rows;
}

Predictions Model::predict(const EncodedRows& rows, int threads) const {
  return classifier_.predict(rows.table.matrix.view(), rows.given(), threads);
}

std::vector<std::string> Model::action_names() const {
  const Game& game = classifier_.game();
  const auto k = static_cast<std::size_t>(game.labels());
  const auto a = static_cast<std::size_t>(game.actions());
  if (a == k) return classes_.names();
  if (a == k + 1) {
    std::vector<std::string> names = classes_.names();
    // A class may have that name too; the action's must be another.
    std::string abstain = "abstain";
    while (std::find(names.begin(), names.end(), abstain) != names.end()) abstain += '_';
    names.push_back(abstain);
    return names;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < a; ++i) names.push_back(fmt::format("action {}", i + 1));
  return names;
}

std::string Model::to_text() const {
  return seal(format, {{"label", label_},
                       {"ratio_column", ratio_column_},
                       {"generalization_column", generalization_column_},
                       {"classes", classes_.to_json()},
                       {"encoder", encoder_.to_json()},
                       {"scaler", scaler_.to_json()},
                       {"views", views_.to_json()},
                       {"classifier", classifier_.to_json()}});
}

void Model::save(const std::string& path) const { write_whole(path, to_text()); }

Model Model::load(const std::string& path) { return from_text(read_whole(path), path); }

Model Model::from_text(const std::string& text, const std::string& source) {
  const json body = unseal(format, text, source);
  try {
    Classes classes = Classes::from_json(json_field<json>(body, "classes", "model"));
    Encoder encoder = Encoder::from_json(json_field<json>(body, "encoder", "model"));
    Scaler scaler = Scaler::from_json(json_field<json>(body, "scaler", "model"));
    Views views = Views::from_json(json_field<json>(body, "views", "model"));
    if (views.view_of.size() != encoder.cols() || scaler.cols() != encoder.cols()) {
      fail_input("the parts of the model are of different sizes");
    }
    Classifier classifier = Classifier::from_json(json_field<json>(body, "classifier", "model"),
                                                  views, static_cast<int>(classes.size()));
    Model model(json_field<std::string>(body, "label", "model"), std::move(encoder),
                std::move(classes), std::move(scaler), std::move(views), std::move(classifier));
    model.ratio_column_ = json_field<std::string>(body, "ratio_column", "model");
    model.generalization_column_ = json_field<std::string>(body, "generalization_column", "model");
    return model;
  } catch (const Error& e) {
    fail_input("{}: {}", source, e.what());
  }
}

}  // namespace covshift
