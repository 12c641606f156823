#include "covshift/engine/fit_parts.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/engine/agree.hpp"
#include "covshift/engine/sample.hpp"
#include "covshift/model/setting.hpp"

namespace covshift {
namespace {

/// Another reducer, with the passes counted.
class Counted final : public Reducer {
 public:
  explicit Counted(const Reducer& other) : other_(other) {}
  void sum(std::span<double> totals) const override { other_.sum(totals); }
  void max(std::span<double> largest) const override { other_.max(largest); }
  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    return other_.gather(std::move(piece));
  }
  [[nodiscard]] std::size_t holder() const override { return other_.holder(); }
  void pass() const override {
    ++passes;
    other_.pass();
  }
  mutable std::size_t passes = 0;

 private:
  const Reducer& other_;
};

/// This holder's data as a training problem.
void check_part(const TrainingData& part, const FitOptions& options) {
  if (options.held_out) {
    fail_input("held-out predictions of all training rows need the rows in one place");
  }
  if (part.shift != nullptr) fail_input("parts estimate the shift themselves");
  if (part.features.rows > 0 && !part.labels.empty()) {
    check_training(part, options);
  } else {
    Rows(part.features, {}).check("the training data", options.solve.threads);
  }
  check_target(part, options);
}

std::string shape_of(const TrainingData& part) {
  return fmt::format("{} columns, {} classes, {} views and {} target", part.features.cols,
                     part.classes, part.views.names.size(), part.target != nullptr ? "a" : "no");
}
bool sparse(const MatrixView& x) { return x.storage.index() >= 2; }

/// A holder's data, checked together with the others': of one shape and kind of storage, which
/// decide how the problem is solved. Empty parts may be stored in any way.
class CheckedPart {
 public:
  CheckedPart(const TrainingData& given, const FitOptions& options, const Reducer& reducer)
      : data(given) {
    agree(reducer, [&] { check_part(given, options); });
    const std::vector<std::string> shapes = reducer.gather(shape_of(given));
    const std::vector<std::string> kinds = reducer.gather(kind_of(given));
    std::size_t first = kinds.size();
    for (std::size_t h = 0; h < shapes.size(); ++h) {
      if (shapes[h] != shapes[0]) {
        fail_input("part {} has {}, but part 1 has {}; all parts need the same", h + 1, shapes[h],
                   shapes[0]);
      }
      if (kinds[h] == "empty") continue;
      if (first < kinds.size() && kinds[h] != kinds[first]) {
        fail_input("part {} is {}, but part {} is {}; all parts must be stored alike", h + 1,
                   kinds[h], first + 1, kinds[first]);
      }
      first = std::min(first, h);
    }
    if (first == kinds.size()) fail_input("there are no rows");
    // A holder without rows does not know that views have densities.
    const auto know_views = [&](GivenDensities& densities) {
      const double most = static_cast<double>(densities.views.size());
      densities.views.resize(static_cast<std::size_t>(max_over(&reducer, most)));
    };
    know_views(data.given_train);
    know_views(data.given_target);
    own(data.features, kinds[first] == "sparse");
    if (given.target == nullptr) return;
    target_ = *given.target;
    own(target_, kinds[first] == "sparse");
    data.target = &target_;
    const auto rows = static_cast<double>(target_.rows);
    data.unlike = sum_over(&reducer, given.unlike * rows) / std::max(1.0, sum_over(&reducer, rows));
  }
  CheckedPart(const CheckedPart&) = delete;
  CheckedPart& operator=(const CheckedPart&) = delete;

  TrainingData data;

 private:
  static std::string kind_of(const TrainingData& part) {
    const MatrixView* const some = part.features.rows > 0 ? &part.features
                                   : part.target != nullptr && part.target->rows > 0 ? part.target
                                                                                     : nullptr;
    return some == nullptr ? "empty" : sparse(*some) ? "sparse" : "dense";
  }
  static void own(MatrixView& x, bool as_sparse) {
    static constexpr std::int64_t no_offsets = 0;
    x.finite = true;
    if (x.rows > 0) return;
    if (as_sparse) {
      x.storage = SparseRows<double>{&no_offsets, nullptr, nullptr};
    } else {
      x.storage = DenseRows<double>{nullptr, x.cols};
    }
  }
  MatrixView target_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double total(std::span<const double> weight, std::size_t rows) {
  return weight.empty() ? static_cast<double>(rows)
                        : std::accumulate(weight.begin(), weight.end(), 0.0);
}

/// The weights with some rows left out; empty: all are 1.
std::vector<double> without(std::span<const double> weight, std::size_t rows,
                            const std::vector<std::size_t>& left_out) {
  std::vector<double> kept(weight.begin(), weight.end());
  if (left_out.empty()) return kept;
  kept.resize(rows, 1.0);
  for (const std::size_t i : left_out) kept[i] = 0;
  return kept;
}

/// At most 256 MB of dense rows.
std::size_t affordable(std::size_t most, const MatrixView& x) {
  if (sparse(x)) return most;
  constexpr std::size_t numbers = std::size_t{1} << 25U;
  return std::min(most, std::max<std::size_t>(2000, numbers / std::max<std::size_t>(1, x.cols)));
}

/// The first holder fits the sample; the others get what it found.
Classifier fit_sample(const TrainingData& sample, const FitOptions& options, bool promise,
                      const Reducer& reducer) {
  std::optional<Classifier> model;
  const std::string found = from_first(reducer, [&] {
    FitOptions own = options;
    own.solve.reducer = nullptr;
    own.promise = promise;
    model = Classifier::fit(sample, own);
    return model->to_json(true).dump();
  });
  if (!model) {
    model = Classifier::from_json(nlohmann::json::parse(found), sample.views, sample.classes);
  }
  return std::move(*model);
}

}  // namespace

Classifier fit_parts(const TrainingData& given, const FitOptions& given_options,
                     const Reducer& given_reducer, const PartsOptions& parts) {
  const auto begin = std::chrono::steady_clock::now();
  const Counted reducer(given_reducer);
  FitOptions options = given_options;
  options.solve.reducer = &reducer;
  const CheckedPart checked(given, options, reducer);
  TrainingData part = checked.data;
  const Draw draw(part, reducer, affordable(parts.sample, part.features),
                  options.promise ? parts.held_out : 0, options.solve.seed);
  PartsReport report{parts.engine, static_cast<std::size_t>(sum_over(&reducer, 1.0)), draw.rows,
                     draw.target_rows};
  double sample_weight = 0;
  double sample_target = 0;
  const Classifier sample = [&] {
    const Gathered rows(part, draw.sample, reducer, Receivers::first_holder);
    report.sample_rows = rows.rows();
    report.sample_target_rows = rows.target_rows();
    sample_weight = rows.total_weight();
    sample_target = static_cast<double>(report.sample_target_rows);
    return fit_sample(rows.data(), options, options.promise && draw.all(), reducer);
  }();

  report.sample_seconds = seconds_since(begin);
  const std::vector<double> weight =
      without(part.sample_weight, part.features.rows, draw.held_out.train);
  part.sample_weight = weight;
  const std::size_t target_rows = part.target != nullptr ? part.target->rows : 0;
  const std::vector<double> target_weight = without({}, target_rows, draw.held_out.target);
  const double all = sum_over(&reducer, total(weight, part.features.rows));
  const double all_target = sum_over(&reducer, total(target_weight, target_rows));
  Classifier model = sample.refit(part, options, target_weight, sample_weight / all,
                                  (sample_weight + sample_target) / (all + all_target));

  report.fit_seconds = seconds_since(begin) - report.sample_seconds;
  const auto promised = [&](const TrainingData* held_out) {
    const std::string found = from_first(reducer, [&] {
      if (held_out != nullptr) {
        model.promise_by(*held_out, options);
      } else if (options.promise) {
        model.promise_of(sample);
      }
      return model.to_json().dump();
    });
    if (reducer.holder() == 0) return;
    FitReport own = model.report();
    model = Classifier::from_json(nlohmann::json::parse(found), part.views, part.classes);
    model.set_report(std::move(own));
  };
  if (draw.all() || !options.promise) {
    promised(nullptr);
  } else {
    const Gathered rows(checked.data, draw.held_out, reducer, Receivers::first_holder);
    report.held_out_rows = rows.rows();
    report.held_out_target_rows = rows.target_rows();
    promised(&rows.data());
  }
  report.passes = reducer.passes;
  FitReport full = model.report();
  full.parts = report;
  full.seconds = seconds_since(begin);
  model.set_report(std::move(full));
  return model;
}

Model fit_parts(Preparation preparation, const PreparedRows& train, const PreparedRows* target,
                const FitOptions& options, const Reducer& reducer, const PartsOptions& parts) {
  FitOptions own = options;
  own.shift.given_ratio = preparation.given_ratio();
  Classifier classifier = fit_parts(TrainingData(preparation, train, target), own, reducer, parts);
  return {std::move(preparation), std::move(classifier)};
}

namespace {

PreparedRows own_rows(const MatrixView& features, const GivenDensities& given) {
  PreparedRows rows;
  std::vector<std::size_t> all(features.rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  rows.own = take_rows(features, all);
  rows.features = rows.own.view();
  rows.features.finite = true;
  const auto copy = [](std::span<const double> x) {
    return std::vector<double>(x.begin(), x.end());
  };
  rows.log_ratio = copy(given.log_ratio);
  rows.log_generalization = copy(given.log_generalization);
  for (const ViewDensities& view : given.views) {
    rows.views.push_back({copy(view.log_ratio), copy(view.log_generalization)});
  }
  return rows;
}

}  // namespace

RowCounts gather_sample(const Preparation& preparation, PreparedRows& train, PreparedRows& target,
                        const Reducer& reducer, unsigned long long seed, std::size_t most) {
  FitOptions options;
  options.solve.seed = seed;
  const CheckedPart checked(TrainingData(preparation, train, &target), options, reducer);
  const Draw draw(checked.data, reducer, affordable(most, checked.data.features), 0, seed);
  const Gathered rows(checked.data, draw.sample, reducer, Receivers::all_holders);
  const TrainingData& data = rows.data();
  train = own_rows(data.features, data.given_train);
  train.labels.assign(data.labels.begin(), data.labels.end());
  train.weight.assign(data.sample_weight.begin(), data.sample_weight.end());
  target = own_rows(*data.target, data.given_target);
  return {draw.rows, draw.target_rows};
}

}  // namespace covshift
