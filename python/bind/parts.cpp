// Fits to parts of the data that are advanced step by step: what a Dask worker runs.
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/engine/fit_model.hpp"
#include "covshift/engine/lockstep.hpp"
#include "covshift/engine/partial.hpp"
#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"
#include "python/bind/options.hpp"

namespace covshift::python {
namespace {

using Bytes = nb::bytes;

Bytes to_python(const std::string& bytes) { return Bytes(bytes.data(), bytes.size()); }
std::string_view view_of(const Bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// The fit of one part of the rows, which runs during advance() only.
class PartFit {
 public:
  PartFit(std::size_t part, std::size_t parts, const Data* data, const Data* target, bool shifted,
          std::vector<std::string> names, const std::optional<Vector<std::int32_t>>& labels,
          const std::optional<Vector<double>>& weight, const nb::dict& options)
      : part_(part),
        parts_(parts),
        shifted_(shifted),
        names_(std::move(names)),
        labels_(span_of(labels).begin(), span_of(labels).end()),
        weight_(span_of(weight).begin(), span_of(weight).end()),
        options_(model_options(options)) {
    if (data != nullptr) data_ = *data;
    if (target != nullptr) target_ = *target;
    options_.fit.progress = [this](std::string_view stage, double share) {
      const std::lock_guard lock(mutex_);
      stage_ = stage;
      share_ = share;
    };
    lockstep_.emplace([this](const Reducer& reducer) { return run(reducer); }, part);
  }
  ~PartFit() {
    const nb::gil_scoped_release release;
    lockstep_.reset();
  }
  PartFit(const PartFit&) = delete;
  PartFit& operator=(const PartFit&) = delete;

  /// Goes on through the steps whose results are given to the next one; its contribution to that.
  Bytes advance(const std::vector<Bytes>& results) {
    std::string answer;
    {
      std::vector<std::string_view> views;
      for (const Bytes& bytes : results) views.push_back(view_of(bytes));
      const nb::gil_scoped_release release;
      std::vector<Partial> known;
      for (const std::string_view bytes : views) {
        known.push_back(Partials::from_bytes(bytes).combined());
      }
      Partials own(parts_);
      own.add(part_, lockstep_->start(std::move(known)));
      answer = own.to_bytes();
    }
    if (prepared_) {  // the caller's arrays are not needed any more
      data_.reset();
      target_.reset();
    }
    return to_python(answer);
  }
  void cancel() { lockstep_->cancel(); }
  nb::tuple progress() {
    const std::lock_guard lock(mutex_);
    return nb::make_tuple(stage_, share_);
  }

 private:
  std::string run(const Reducer& reducer) {
    ModelPart given;
    std::optional<Input> train;
    std::optional<Input> target;
    if (data_) {
      train = data_->input(names_);
      train->labels = labels_;
      train->weight = weight_;
    }
    if (target_) target = target_->input(names_);
    given.train = train ? &*train : nullptr;
    given.target = target ? &*target : nullptr;
    given.shifted = shifted_;
    given.prepared = [this](bool in_callers_memory) { prepared_ = !in_callers_memory; };
    const FittedParts found = fit_model(given, options_, reducer, {"dask"});
    nlohmann::json answer = {{"warnings", found.warnings}};
    if (part_ == 0) {
      answer["model"] = found.model.to_text();
      answer["report"] = found.model.report_json().dump();
    }
    return answer.dump();
  }

  std::size_t part_, parts_;
  bool shifted_;
  std::optional<Data> data_, target_;
  std::vector<std::string> names_;
  std::vector<std::int32_t> labels_;
  std::vector<double> weight_;
  ModelOptions options_;
  std::atomic<bool> prepared_ = false;
  std::mutex mutex_;
  std::string stage_;
  double share_ = 0;
  std::optional<Lockstep> lockstep_;
};

/// Contributions of several parts in one.
Bytes combine(const std::vector<Bytes>& contributions) {
  std::optional<Partials> all;
  for (const Bytes& bytes : contributions) {
    Partials some = Partials::from_bytes(view_of(bytes));
    if (all) {
      all->add(std::move(some));
    } else {
      all = std::move(some);
    }
  }
  if (!all) fail_input("there are no parts");
  return to_python(all->to_bytes());
}

/// The results of all parts if they have finished, else None.
nb::object finished(const Bytes& contributions) {
  const Partials all = Partials::from_bytes(view_of(contributions));
  if (all.combined().kind != Partial::Kind::done) return nb::none();
  return nb::cast(all.combined().pieces);
}

/// `count` of `total` places, one from each of equally long ranges, ascending.
auto sample_places(std::uint64_t total, std::uint64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> places;
  Random random(seed);
  for (std::uint64_t b = 0; b < count; ++b) {
    const std::uint64_t begin = total * b / count;
    places.push_back(
        static_cast<std::int64_t>(begin + random.below(total * (b + 1) / count - begin)));
  }
  const std::size_t n = places.size();
  return to_numpy(std::move(places), {n});
}

}  // namespace

void bind_parts(nb::module_& m) {
  nb::class_<PartFit>(m, "PartFit", "The fit of a part of the rows, advanced step by step.")
      .def(nb::init<std::size_t, std::size_t, const Data*, const Data*, bool,
                    std::vector<std::string>, const std::optional<Vector<std::int32_t>>&,
                    const std::optional<Vector<double>>&, const nb::dict&>(),
           nb::arg("part"), nb::arg("parts"), nb::arg("data").none(), nb::arg("target").none(),
           nb::arg("shifted"), nb::arg("names"), nb::arg("labels").none(), nb::arg("weight").none(),
           nb::arg("options"))
      .def("advance", &PartFit::advance, nb::arg("results"))
      .def("cancel", &PartFit::cancel)
      .def("progress", &PartFit::progress);
  m.def("combine", &combine, nb::arg("contributions"));
  m.def("sample_places", &sample_places, nb::arg("total"), nb::arg("count"), nb::arg("seed"));
  m.def("finished", &finished, nb::arg("contributions"));
}

}  // namespace covshift::python
