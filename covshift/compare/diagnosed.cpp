#include "covshift/compare/diagnosed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

/// The plane of the map: the given columns, or the numeric ones that shifted most.
MapOptions map_axes(std::vector<std::string> names, const Diagnosis& d,
                    const Preparation& preparation) {
  if (names.empty() && !d.scatter.y.empty()) names = {d.scatter.x, d.scatter.y};
  if (names.empty()) return {};
  const std::vector<Feature> features = features_of(preparation.encoder());
  const auto column = [&](const std::string& name) {
    for (const Feature& f : features) {
      if (f.name == name && f.levels.empty()) return static_cast<int>(f.columns[0]);
    }
    fail_input("the map: there is no numeric input named '{}'", name);
  };
  if (names.size() != 2 || names[0] == names[1]) {
    fail_input("the map needs two different columns, a,b; not '{}'", fmt::join(names, ","));
  }
  const Scaler& scaler = preparation.scaler();
  MapOptions map;
  map.x = column(names[0]);
  map.y = column(names[1]);
  map.x_name = names[0];
  map.y_name = names[1];
  map.x_unit = scaler.scales()[static_cast<std::size_t>(map.x)];
  map.x_origin = scaler.offsets()[static_cast<std::size_t>(map.x)];
  map.y_unit = scaler.scales()[static_cast<std::size_t>(map.y)];
  map.y_origin = scaler.offsets()[static_cast<std::size_t>(map.y)];
  return map;
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
  options.map = map_axes(axes, found.diagnosis, preparation);
  found.comparison = compare(TrainingData(preparation, train, &target), truth, options);
  answer(found.comparison, "", found.diagnosis.recommendation);
  return found;
}

void answer(const Comparison& c, std::string command, Recommendation& r) {
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
