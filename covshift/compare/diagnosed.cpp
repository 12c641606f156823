#include "covshift/compare/diagnosed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

/// The share of a column's variance that lies between the classes.
double between_classes(const std::vector<double>& x, const std::vector<int>& labels,
                       std::size_t classes) {
  std::vector<double> sum(classes, 0.0);
  std::vector<double> count(classes, 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum[static_cast<std::size_t>(labels[i])] += x[i];
    ++count[static_cast<std::size_t>(labels[i])];
    mean += x[i] / static_cast<double>(x.size());
  }
  double between = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    if (count[k] > 0) between += count[k] * std::pow(sum[k] / count[k] - mean, 2);
  }
  double all = 0;
  for (const double v : x) all += (v - mean) * (v - mean);
  return all > 0 ? between / all : 0;
}

struct NumericColumn {
  std::string name;
  int column = 0;
  double matters = 0;  ///< how much it moved, times how well it tells the classes apart
};

/// Those that matter most first.
std::vector<NumericColumn> numeric_columns(const Diagnosis& d, const Preparation& preparation,
                                           const PreparedRows& train) {
  std::vector<NumericColumn> columns;
  for (const Feature& f : features_of(preparation.encoder())) {
    if (!f.levels.empty()) continue;
    columns.push_back({f.name, static_cast<int>(f.columns[0]), 0});
    const auto moved = std::find_if(d.features.begin(), d.features.end(),
                                    [&](const FeatureShift& s) { return s.name == f.name; });
    if (moved == d.features.end()) continue;
    columns.back().matters = std::max({0.0, moved->kl, moved->kl_binned}) *
                             between_classes(take_column(train.features, f.columns[0]),
                                             train.labels, preparation.classes().size());
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.matters > b.matters; });
  return columns;
}

MapOptions plane(const NumericColumn& x, const NumericColumn& y, const Scaler& scaler) {
  const auto unit = [&](int j) { return scaler.scales()[static_cast<std::size_t>(j)]; };
  const auto origin = [&](int j) { return scaler.offsets()[static_cast<std::size_t>(j)]; };
  return {x.column,       y.column,         x.name,         y.name,
          unit(x.column), origin(x.column), unit(y.column), origin(y.column)};
}

/// The plane of the map: the given columns, or the numeric ones that matter most; and planes of
/// these with each other.
void choose_planes(const std::vector<std::string>& names, const Diagnosis& d,
                   const Preparation& preparation, const PreparedRows& train,
                   CompareOptions& options) {
  constexpr std::size_t most = 4;           // columns in further planes
  constexpr std::size_t most_width = 2000;  // encoded columns: each cell of a plane is a whole row
  std::vector<NumericColumn> columns = numeric_columns(d, preparation, train);
  const auto find = [&](const std::string& name) {
    return std::find_if(columns.begin(), columns.end(),
                        [&](const NumericColumn& c) { return c.name == name; });
  };
  if (!names.empty()) {
    for (const std::string& name : names) {
      if (find(name) == columns.end()) {
        fail_input("the map: there is no numeric input named '{}'", name);
      }
    }
    if (names.size() != 2 || names[0] == names[1]) {
      fail_input("the map needs two different columns, a,b; not '{}'", fmt::join(names, ","));
    }
    for (std::size_t k = 0; k < 2; ++k) {  // to the front
      const auto at = columns.begin() + static_cast<std::ptrdiff_t>(k);
      std::rotate(at, find(names[k]), find(names[k]) + 1);
    }
  }
  if (columns.size() < 2) return;
  options.map = plane(columns[0], columns[1], preparation.scaler());
  if (train.features.cols > most_width) return;
  columns.resize(std::min(most, columns.size()));
  for (std::size_t b = 2; b < columns.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      options.more_maps.push_back(plane(columns[a], columns[b], preparation.scaler()));
    }
  }
}

/// The shift is estimated with the options of the models.
DiagnoseOptions diagnose_as(const CompareOptions& options) {
  DiagnoseOptions own;
  own.ratio = options.fit.shift.ratio;
  own.ratio.cancelled = options.fit.cancelled;
  own.view_threshold = options.fit.shift.view_threshold;
  own.seed = options.fit.solve.seed;
  own.threads = options.fit.solve.threads;
  own.progress = options.fit.progress;
  return own;
}

/// Of the method to use.
Expected performance_of(const Comparison& c) {
  const Compared& m = *std::find_if(c.methods.begin(), c.methods.end(),
                                    [&](const Compared& one) { return one.name == c.recommended; });
  const Judgement& judged = c.by_truth ? *m.truth : m.estimated;
  return {.model = m.name,
          .labels = c.by_truth ? c.truth_rows : 0,
          .reliable = judged.reliable,
          .accuracy = 1 - judged.error.value,
          .low = std::max(0.0, 1 - judged.error.high()),
          .high = std::min(1.0, 1 - judged.error.low()),
          .training = 1 - m.training_error.value,
          .least_drop = m.drop.low(),
          .largest_drop = m.drop.high(),
          .gain = m.gain.value};
}

}  // namespace

DiagnosedComparison diagnose_and_compare(const Preparation& preparation, const PreparedRows& train,
                                         const PreparedRows& target, const Truth* truth,
                                         CompareOptions options,
                                         const std::vector<std::string>& axes) {
  DiagnosedComparison found;
  found.diagnosis = diagnose(preparation, train, target, diagnose_as(options));
  options.classes = preparation.classes().names();
  options.effective_sample_size = found.diagnosis.effective_sample_size;
  options.unsupported = found.diagnosis.support.share;
  choose_planes(axes, found.diagnosis, preparation, train, options);
  found.comparison = compare(TrainingData(preparation, train, &target), truth, options);
  answer(found.comparison, "", found.diagnosis);
  return found;
}

void answer(const Comparison& c, std::string command, Diagnosis& d) {
  Recommendation& r = d.recommendation;
  TrustEvidence evidence = trust_evidence(d);
  evidence.expected = performance_of(c);
  r.trust = trust(evidence);
  r.method = c.recommended;
  r.why = c.statement;
  r.command = std::move(command);
}

nlohmann::ordered_json to_json(const DiagnosedComparison& found, const std::string& command) {
  nlohmann::ordered_json json = to_json(found.comparison);
  json["command"] = command;
  json["diagnosis"] = to_json(found.diagnosis);
  json["diagnosis"]["recommendation"]["command"] = command;
  return json;
}

}  // namespace covshift
