// Density ratios and biased sampling.
#include <algorithm>

#include "covshift/model/ratio_model.hpp"
#include "covshift/shift/sampling.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

RatioModel fit_ratio_model(Data& data, Data* target, const std::vector<std::string>& names,
                           const std::optional<Vector<double>>& weight, const nb::dict& options) {
  RatioOptions ratio;
  PreparationOptions inputs;
  inputs.columns.missing = Missing::error;
  set_ratio(options, ratio);
  set_options({scale_option(inputs.scale), seed_option(ratio.seed), threads_option(ratio.threads)},
              options);
  return interruptible(nb::none(), [&](const Control& control) {
    ratio.cancelled = control.cancelled;
    Input train = data.input(names);
    train.weight = span_of(weight);
    PreparedPair pair(data, train, target, inputs, ratio.threads);
    return RatioModel::fit(std::move(pair.preparation), pair.train,
                           target != nullptr ? &pair.target : nullptr, ratio);
  });
}

auto log_of_ratio(const RatioModel& model, Data& data, int threads) {
  std::vector<double> out;
  {
    const nb::gil_scoped_release release;
    out = model.log_ratio(data.encode(model.preparation(), threads), threads);
  }
  return to_numpy(std::move(out), {data.rows()});
}

/// The encoded column of a numeric column of the data.
int encoded_column(const Encoder& encoder, int source) {
  const std::vector<std::int32_t>& sources = encoder.source_of();
  const auto first = std::find(sources.begin(), sources.end(), source);
  if (first == sources.end()) {
    fail_input("there is no feature {}; they are 0 to {}", source, encoder.source_count() - 1);
  }
  if (encoder.category(static_cast<std::size_t>(first - sources.begin()))) {
    fail_input("the column '{}' has categories; split by a numeric column",
               encoder.source_name(static_cast<std::size_t>(source)));
  }
  return static_cast<int>(first - sources.begin());
}

nb::tuple sample(const Data& data, const nb::dict& options) {
  BiasedSampling sampling;
  const auto feature = nb::cast<std::optional<int>>(options["feature"]);
  set_options(sampling_options(sampling), options);
  BiasedSample drawn;
  {
    const nb::gil_scoped_release release;
    const Preparation preparation(data.input(), {});
    const Encoder& encoder = preparation.encoder();
    if (feature) sampling.feature = encoded_column(encoder, *feature);
    drawn = biased_sample(preparation.encode(data.input()).features, sampling);
    drawn.feature = encoder.source_of()[static_cast<std::size_t>(drawn.feature)];
  }
  const auto rows = [](const std::vector<std::size_t>& list) {
    return to_numpy(std::vector<std::int64_t>(list.begin(), list.end()), {list.size()});
  };
  return nb::make_tuple(rows(drawn.train), rows(drawn.target), drawn.feature, drawn.threshold);
}

}  // namespace

void bind_ratio(nb::module_& m) {
  nb::class_<RatioModel>(m, "Ratio", "A fitted density ratio.")
      .def("log_ratio", &log_of_ratio, nb::arg("data"), nb::arg("threads"))
      .def_prop_ro("report", [](const RatioModel& r) { return r.ratio().report().dump(); })
      .def_prop_ro("method", [](const RatioModel& r) { return r.ratio().name(); })
      .def("to_text", &RatioModel::to_text)
      .def("__getstate__", &RatioModel::to_text)
      .def("__setstate__", [](RatioModel& r, const std::string& text) {
        new (&r) RatioModel(RatioModel::from_text(text, "a pickled density ratio"));
      });
  m.def("fit_ratio", &fit_ratio_model, nb::arg("data"), nb::arg("target").none(), nb::arg("names"),
        nb::arg("weight").none(), nb::arg("options"));
  m.def("biased_sample", &sample, nb::arg("data"), nb::arg("options"));
}

}  // namespace covshift::python
