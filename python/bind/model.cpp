// Fitted models.
#include "covshift/model/model.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/export/onnx.hpp"
#include "covshift/model/linear_form.hpp"
#include "covshift/shift/methods.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

Model fit(Data& data, Data* target, const std::vector<std::string>& names,
          const Vector<std::int32_t>& labels, const std::optional<Vector<double>>& weight,
          const nb::dict& options, const nb::object& progress) {
  ModelOptions model = model_options(options);
  return interruptible(progress, [&](const Control& control) {
    model.fit.cancelled = control.cancelled;
    model.fit.progress = control.progress;
    Input input = data.input(names);
    input.labels = {labels.data(), labels.size()};
    input.weight = span_of(weight);
    PreparedPair pair(data, input, target, inputs_of(model), model.fit.solve.threads);
    return Model::fit(std::move(pair.preparation), pair.train,
                      target != nullptr ? &pair.target : nullptr, model.fit);
  });
}

Predictions predict(const Model& model, Data& data, int threads) {
  const nb::gil_scoped_release release;
  return model.predict(data.encode(model.preparation(), threads), threads);
}

auto probabilities(const Model& model, Data& data, int threads) {
  Predictions p = predict(model, data, threads);
  return to_numpy(std::move(p.p), {p.rows, static_cast<std::size_t>(p.actions)});
}

auto actions(const Model& model, Data& data, int threads) {
  Predictions p = predict(model, data, threads);
  return to_numpy(std::move(p.action), {p.rows});
}

auto potentials(const Model& model, Data& data, int threads) {
  Predictions p = predict(model, data, threads);
  return to_numpy(std::move(p.psi),
                  {p.rows, static_cast<std::size_t>(model.classifier().game().labels())});
}

auto log_ratio(const Model& model, Data& data, int threads) {
  Predictions p = predict(model, data, threads);
  return to_numpy(std::move(p.log_ratio), {p.rows});
}

auto prediction_sets(const Model& model, Data& data, int threads, double alpha) {
  const Predictions p = predict(model, data, threads);
  return to_numpy(model.classifier().sets(p, alpha),
                  {p.rows, static_cast<std::size_t>(model.classifier().game().labels())});
}

std::string sets_doubt(const Model& model, double alpha) {
  return doubt_about_sets(model.classifier().certificate(), alpha);
}

/// The loss as an option: its name, or the matrix of costs.
nb::object loss(const Model& model) {
  const Game& game = model.classifier().game();
  const CostMatrix* const c = game.costs();
  if (game.name() != "cost" || c == nullptr) return nb::cast(game.name());
  return nb::cast(to_numpy(std::vector<double>(c->cost), {static_cast<std::size_t>(c->actions),
                                                          static_cast<std::size_t>(c->labels)}));
}

std::string certificate(const Model& model) {
  const Certificate& c = model.classifier().certificate();
  return to_json(c, describe(c, model.classifier().game())).dump();
}

/// (name, columns, kl, generalized), with the columns of the data, not of their encoding.
std::vector<nb::tuple> view_list(const Model& model) {
  std::vector<nb::tuple> list;
  const Encoder& encoder = model.preparation().encoder();
  const Views& views = model.preparation().views();
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    const ViewShift& shift = model.classifier().shift().views()[v];
    std::vector<std::string> columns;
    for (const std::int32_t column : views.columns[v]) {
      const std::string& name = encoder.source_name(encoder.source_of()[column]);
      if (columns.empty() || columns.back() != name) columns.push_back(name);
    }
    const std::vector<std::string> maps = model.classifier().components().front().features.maps();
    list.push_back(nb::make_tuple(shift.name, columns, shift.kl, shift.generalized,
                                  v < maps.size() ? maps[v] : ""));
  }
  return list;
}

std::vector<std::string> sources(const Model& model) {
  std::vector<std::string> names;
  const Encoder& encoder = model.preparation().encoder();
  for (std::size_t s = 0; s < encoder.source_count(); ++s) {
    names.push_back(encoder.source_name(s));
  }
  return names;
}

/// Of the first component's features: their names.
std::vector<std::string> feature_names(const Model& model) {
  const Encoder& encoder = model.preparation().encoder();
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < encoder.cols(); ++c) columns.push_back(encoder.name(c));
  return model.classifier().components().front().features.names(columns);
}

/// Weights K x outputs and biases K of the first component, as the solver has them.
nb::tuple weights(const Model& model) {
  const Component& first = model.classifier().components().front();
  const auto k = static_cast<std::size_t>(model.classifier().game().labels());
  const std::size_t outputs = first.weights.size() / k - (first.bias ? 1 : 0);
  std::vector<double> coef(k * outputs);
  std::vector<double> bias(k, 0.0);
  for (std::size_t y = 0; y < k; ++y) {
    for (std::size_t j = 0; j < outputs; ++j) coef[y * outputs + j] = first.weights[j * k + y];
    if (first.bias) bias[y] = first.weights[outputs * k + y];
  }
  return nb::make_tuple(to_numpy(std::move(coef), {k, outputs}), to_numpy(std::move(bias), {k}));
}

/// Coefficients K x columns and intercepts K in the units of the data.
nb::tuple linear(const Model& model) {
  LinearForm form = linear_form(model);
  const std::size_t k = form.intercept.size();
  return nb::make_tuple(to_numpy(std::move(form.coef), {k, form.columns}),
                        to_numpy(std::move(form.intercept), {k}));
}

/// The bytes of an ONNX file, also written to the path if there is one.
nb::bytes onnx(const Model& model, const std::optional<std::string>& path) {
  const std::string file = to_onnx(model);
  if (path) write_whole(*path, file);
  return nb::bytes(file.data(), file.size());
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "Model", "A fitted model: what a model file holds.")
      .def("predict", &actions, nb::arg("data"), nb::arg("threads"))
      .def("probabilities", &probabilities, nb::arg("data"), nb::arg("threads"))
      .def("potentials", &potentials, nb::arg("data"), nb::arg("threads"))
      .def("log_ratio", &log_ratio, nb::arg("data"), nb::arg("threads"))
      .def("prediction_sets", &prediction_sets, nb::arg("data"), nb::arg("threads"),
           nb::arg("alpha"))
      .def("doubt_about_sets", &sets_doubt, nb::arg("alpha"))
      .def("certificate", &certificate)
      .def("views", &view_list)
      .def("report", [](const Model& model) { return model.report_json().dump(); })
      .def("weights", &weights)
      .def("not_linear", &not_linear)
      .def("linear_form", &linear)
      .def("feature_names", &feature_names)
      .def("sources", &sources)
      .def_prop_ro("classes",
                   [](const Model& model) { return model.preparation().classes().names(); })
      .def_prop_ro("actions", &Model::action_names)
      .def_prop_ro("numeric",
                   [](const Model& model) { return model.preparation().encoder().numeric(); })
      .def_prop_ro("numbered",
                   [](const Model& model) {
                     const Encoder& own = model.preparation().encoder();
                     for (std::size_t s = 0; s < own.source_count(); ++s) {
                       if (own.source_name(s) != fmt::format("c{}", s + 1))
                         return own.from_svmlight();
                     }
                     return true;
                   })
      .def_prop_ro("missing",
                   [](const Model& model) {
                     return std::string(to_string(model.preparation().encoder().missing()));
                   })
      .def_prop_ro("dates",
                   [](const Model& model) {
                     const Encoder& own = model.preparation().encoder();
                     std::vector<std::string> names;
                     for (std::size_t s = 0; s < own.source_count(); ++s) {
                       if (own.dates(s)) names.push_back(own.source_name(s));
                     }
                     return names;
                   })
      .def_prop_ro("needs_columns",
                   [](const Model& model) { return model.preparation().needs_columns(); })
      .def_prop_ro("label", [](const Model& model) { return model.preparation().label(); })
      .def_prop_ro("method", [](const Model& model) { return model.classifier().method(); })
      .def_prop_ro("loss", &loss)
      .def_prop_ro("generalize", [](const Model& model) { return model.classifier().generalize(); })
      .def_prop_ro(
          "lam", [](const Model& model) { return model.classifier().components().front().lambda; })
      .def("save", &Model::save, nb::arg("path"))
      .def_static("load", &Model::load, nb::arg("path"))
      .def("to_onnx", &onnx, nb::arg("path").none())
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
