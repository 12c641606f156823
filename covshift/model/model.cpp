#include "covshift/model/model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/model/envelope.hpp"

namespace covshift {
namespace {

using nlohmann::json;

constexpr FileFormat model_file{"covshift model", "model", 2};

template <typename T>
void put(const std::vector<T>& block, std::vector<T>& all, std::size_t at) {
  std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

PreparationOptions inputs_of(const ModelOptions& options) {
  using Kind = Assumption::Kind;
  PreparationOptions inputs = static_cast<const PreparationOptions&>(options);
  const FitOptions& fit = options.fit;
  const bool own = fit.method != "auto" && !fit.choose_temper;
  const bool by_view = fit.generalize ? fit.generalize->kind == Kind::views
                                      : own && find_method(fit.method).generalize == Kind::views;
  if (by_view && inputs.views.empty() && inputs.view_groups.empty()) inputs.views = "each";
  return inputs;
}

Model Model::fit(const Input& train, const Input* target, const ModelOptions& options) {
  const int threads = options.fit.solve.threads;
  Preparation preparation(train, inputs_of(options));
  PreparedRows train_rows = preparation.encode_training(train, threads);
  PreparedRows target_rows;
  if (target != nullptr) target_rows = preparation.encode(*target, threads);
  PreparedRows* const other = target != nullptr ? &target_rows : nullptr;
  preparation.fit(train_rows, other, threads);
  return fit(std::move(preparation), train_rows, other, options.fit);
}

Model Model::fit(Preparation preparation, const PreparedRows& train, const PreparedRows* target,
                 const FitOptions& options) {
  FitOptions own = options;
  own.shift.given_ratio = preparation.given_ratio();
  Classifier classifier = Classifier::fit(TrainingData(preparation, train, target), own);
  return {std::move(preparation), std::move(classifier)};
}

Predictions Model::predict(const Input& rows, int threads) const {
  return predict(preparation_.encode(rows, threads), threads);
}

Predictions Model::predict(const PreparedRows& rows, int threads) const {
  const auto k = static_cast<std::size_t>(classifier_.game().labels());
  const auto a = static_cast<std::size_t>(classifier_.game().actions());
  const std::size_t n = rows.features.rows;
  const GivenDensities given = GivenDensities::of(rows);
  Predictions all;
  all.rows = n;
  all.actions = static_cast<int>(a);
  all.p.resize(n * a);
  all.psi.resize(n * k);
  all.log_ratio.resize(n);
  all.action.resize(n);
  preparation_.each_block(rows.features, threads, [&](std::size_t first, const MatrixView& part) {
    const Predictions block = classifier_.predict(part, given.part(first, part.rows), 1);
    put(block.p, all.p, first * a);
    put(block.psi, all.psi, first * k);
    put(block.log_ratio, all.log_ratio, first);
    put(block.action, all.action, first);
  });
  return all;
}

std::vector<std::string> Model::action_names() const {
  const Game& game = classifier_.game();
  const auto k = static_cast<std::size_t>(game.labels());
  const auto a = static_cast<std::size_t>(game.actions());
  std::vector<std::string> names;
  if (a == k || a == k + 1) {
    names = preparation_.classes().names();
    if (a == k) return names;
    // A class may be called abstain; the names must differ.
    std::string abstain = "abstain";
    while (std::find(names.begin(), names.end(), abstain) != names.end()) abstain += '_';
    names.push_back(abstain);
    return names;
  }
  for (std::size_t i = 0; i < a; ++i) names.push_back(fmt::format("action {}", i + 1));
  return names;
}

nlohmann::ordered_json Model::report_json() const {
  nlohmann::ordered_json report = classifier_.report_json();
  report["classes"] = preparation_.classes().names();
  report["missing"] = preparation_.missing_report();
  return report;
}

std::string Model::to_text() const {
  json body = preparation_.to_json();
  body["classifier"] = classifier_.to_json();
  return seal(model_file, body);
}

void Model::save(const std::string& path) const { write_whole(path, to_text()); }

Model Model::load(const std::string& path) { return from_text(read_whole(path), path); }

Model Model::from_text(const std::string& text, const std::string& source) {
  const json body = unseal(model_file, text, source);
  try {
    Preparation preparation = Preparation::from_json(body);
    Classifier classifier =
        Classifier::from_json(detail::json_field<json>(body, "classifier", "model"),
                              preparation.views(), static_cast<int>(preparation.classes().size()));
    return {std::move(preparation), std::move(classifier)};
  } catch (const Error& e) {
    fail_input("{}: {}", source, e.what());
  }
}

}  // namespace covshift
