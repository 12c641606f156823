// Fitted models.
#include "covshift/model/model.hpp"

#include "covshift/base/error.hpp"
#include "covshift/shift/methods.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

/// A table with the class and the weight of each row as columns, which is how a model takes them.
Table with_labels(const Table& table, std::span<const std::int32_t> codes,
                  std::span<const double> weight, ModelOptions& options) {
  Table all = table;
  all.columns.push_back({options.label,
                         true,
                         {},
                         std::vector<std::int32_t>(codes.begin(), codes.end()),
                         options.classes});
  if (!weight.empty()) {
    options.weight = "sample_weight";
    while (all.find(options.weight) != nullptr) options.weight += '_';
    all.columns.push_back(
        {options.weight, false, std::vector<double>(weight.begin(), weight.end()), {}, {}});
  }
  return all;
}

Model fit(const Data& data, const Data* target, const std::vector<std::string>& names,
          const Vector<std::int32_t>& labels, const std::optional<Vector<double>>& weight,
          const nb::dict& options, const nb::object& progress) {
  ModelOptions model = model_options(options);
  const std::span<const std::int32_t> codes(labels.data(), labels.size());
  const std::span<const double> weights = span_of(weight);
  return interruptible(progress, [&](const Control& control) {
    model.fit.cancelled = control.cancelled;
    model.fit.progress = control.progress;
    if (data.is_table()) {
      const Table train = with_labels(data.as_table(), codes, weights, model);
      return Model::fit(train, target != nullptr ? &target->as_table() : nullptr, model);
    }
    TrainingData training;
    training.features = data.view();
    training.labels = codes;
    training.sample_weight = weights;
    training.target = target != nullptr ? &target->view() : nullptr;
    Encoder encoder = names.empty() ? Encoder::of_numbers(data.view().cols, data.is_sparse())
                                    : Encoder::of_columns(names);
    return Model::fit(training, std::move(encoder), Classes::from_names(model.classes), model);
  });
}

/// A table's rows as the model sees them, with what is worth a warning.
EncodedRows encode(const Model& model, const Data& data, int threads) {
  return model.encode(data.as_table(), threads);
}

void refuse_matrix(const Model& model) {
  if (model.encoder().numeric() && !model.needs_columns()) return;
  fail_input(
      "the model was trained on columns with categories or densities; give a DataFrame with the "
      "same columns");
}

Predictions predict(const Model& model, const Data& data, int threads) {
  if (data.is_table()) return model.predict(encode(model, data, threads), threads);
  refuse_matrix(model);
  return model.predict(data.view(), threads);
}

auto probabilities(const Model& model, const Data& data, int threads) {
  Predictions p;
  {
    const nb::gil_scoped_release release;
    p = predict(model, data, threads);
  }
  const auto actions = static_cast<std::size_t>(p.actions);
  return to_numpy(std::move(p.p), {p.rows, actions});
}

auto actions(const Model& model, const Data& data, int threads) {
  Predictions p;
  {
    const nb::gil_scoped_release release;
    p = predict(model, data, threads);
  }
  return to_numpy(std::move(p.action), {p.rows});
}

auto potentials(const Model& model, const Data& data, int threads) {
  std::vector<double> psi;
  {
    const nb::gil_scoped_release release;
    if (data.is_table()) {
      const EncodedRows rows = encode(model, data, threads);
      psi = model.classifier().potentials(rows.table.matrix.view(), rows.given(), threads);
    } else {
      refuse_matrix(model);
      psi = model.potentials(data.view(), threads);
    }
  }
  const auto k = static_cast<std::size_t>(model.classifier().game().labels());
  return to_numpy(std::move(psi), {data.rows(), k});
}

auto log_ratio(const Model& model, const Data& data, int threads) {
  std::vector<double> out;
  {
    const nb::gil_scoped_release release;
    if (data.is_table()) {
      const EncodedRows rows = encode(model, data, threads);
      out = model.classifier().shift().at(rows.table.matrix.view(), rows.given()).log_ratio;
    } else {
      refuse_matrix(model);
      out = model.log_ratio(data.view(), threads);
    }
  }
  return to_numpy(std::move(out), {data.rows()});
}

/// The loss as an option: its name, or the matrix of costs.
nb::object loss(const Model& model) {
  const Game& game = model.classifier().game();
  const CostMatrix* const c = game.costs();
  if (game.name() != "cost" || c == nullptr) return nb::cast(game.name());
  return nb::cast(to_numpy(std::vector<double>(c->cost), {static_cast<std::size_t>(c->actions),
                                                          static_cast<std::size_t>(c->labels)}));
}

nb::dict certificate(const Model& model) {
  const Certificate& c = model.classifier().certificate();
  nb::dict out;
  out["game_value"] = c.game_value;
  out["gap"] = c.gap;
  out["target_value"] = c.target_value;
  out["target_risk"] = c.target_risk;
  out["mean_weight"] = c.mean_weight;
  out["reliable"] = c.reliable;
  out["finite_sample"] = c.finite_sample;
  out["delta"] = c.delta;
  out["statement"] = describe(c, model.classifier().game().name());
  return out;
}

/// (name, columns, kl, generalized); columns are those of the data, not of their encoding.
std::vector<nb::tuple> views(const Model& model) {
  std::vector<nb::tuple> list;
  const Encoder& encoder = model.encoder();
  for (std::size_t v = 0; v < model.views().names.size(); ++v) {
    const ViewShift& shift = model.classifier().shift().views()[v];
    std::vector<std::string> columns;
    for (const std::int32_t column : model.views().columns_of(v)) {
      const std::string& name = encoder.source_name(encoder.source_of()[column]);
      if (columns.empty() || columns.back() != name) columns.push_back(name);
    }
    list.push_back(nb::make_tuple(shift.name, columns, shift.kl, shift.generalized));
  }
  return list;
}

nb::dict report(const Model& model) {
  const FitReport& r = model.classifier().report();
  nb::dict out;
  out["lam"] = r.lambda;
  out["lam_choice"] = r.lambda_choice;
  out["objective"] = r.solution.objective;
  out["dual"] = r.solution.dual;
  out["gap"] = r.solution.gap;
  out["iterations"] = r.solution.iterations;
  out["status"] = std::string(to_string(r.solution.status));
  out["seconds"] = r.seconds;
  out["effective_sample_size"] =
      r.ratio ? nb::cast(r.ratio->effective_sample_size) : nb::object(nb::none());
  std::vector<nb::tuple> candidates;
  for (const Candidate& c : r.candidates) {
    std::vector<nb::tuple> path;
    for (const CrossValidated& point : c.path) {
      path.push_back(nb::make_tuple(point.lambda, point.loss, point.standard_error));
    }
    candidates.push_back(nb::make_tuple(c.method, c.generalize, path));
  }
  out["candidates"] = candidates;
  return out;
}

std::vector<std::string> sources(const Model& model) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < model.encoder().source_count(); ++s) {
    names.push_back(model.encoder().source_name(s));
  }
  return names;
}

auto weights(const Model& model) {
  const std::span<const double> t = model.classifier().weights();
  const auto k = static_cast<std::size_t>(model.classifier().game().labels());
  return to_numpy(std::vector<double>(t.begin(), t.end()), {t.size() / k, k});
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "Model", "A fitted model: what a model file holds.")
      .def("predict", &actions, nb::arg("data"), nb::arg("threads"))
      .def("probabilities", &probabilities, nb::arg("data"), nb::arg("threads"))
      .def("potentials", &potentials, nb::arg("data"), nb::arg("threads"))
      .def("log_ratio", &log_ratio, nb::arg("data"), nb::arg("threads"))
      .def("unseen", &unseen<Model>, nb::arg("data"))
      .def("certificate", &certificate)
      .def("views", &views)
      .def("report", &report)
      .def("weights", &weights)
      .def("sources", &sources)
      .def_prop_ro("classes", [](const Model& model) { return model.classes().names(); })
      .def_prop_ro("actions", &Model::action_names)
      .def_prop_ro("numeric", [](const Model& model) { return model.encoder().numeric(); })
      .def_prop_ro("numbered",
                   [](const Model& model) {
                     const Encoder& own = model.encoder();
                     for (std::size_t c = 0; c < own.cols(); ++c) {
                       if (own.name(c) != fmt::format("c{}", c + 1)) return own.from_svmlight();
                     }
                     return true;
                   })
      .def_prop_ro("needs_columns", &Model::needs_columns)
      .def_prop_ro("label", &Model::label)
      .def_prop_ro("method", [](const Model& model) { return model.classifier().method(); })
      .def_prop_ro("loss", &loss)
      .def_prop_ro(
          "generalize",
          [](const Model& model) { return to_string(model.classifier().shift().assumption()); })
      .def_prop_ro("lam", [](const Model& model) { return model.classifier().lambda(); })
      .def("save", &Model::save, nb::arg("path"))
      .def_static("load", &Model::load, nb::arg("path"))
      .def("to_text", &Model::to_text)
      .def_static("from_text", &Model::from_text, nb::arg("text"), nb::arg("source"))
      .def("__getstate__", &Model::to_text)
      .def("__setstate__", [](Model& model, const std::string& text) {
        new (&model) Model(Model::from_text(text, "a pickled model"));
      });
  m.def("fit", &fit, nb::arg("data"), nb::arg("target").none(), nb::arg("names"), nb::arg("labels"),
        nb::arg("weight").none(), nb::arg("options"), nb::arg("progress").none());
  m.def("methods", [] {
    std::vector<nb::tuple> list;
    for (const Method& row : methods()) {
      list.push_back(nb::make_tuple(std::string(row.name), std::string(row.loss),
                                    to_string({row.generalize}), std::string(row.summary)));
    }
    return list;
  });
}

}  // namespace covshift::python
