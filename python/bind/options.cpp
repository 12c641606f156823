#include "python/bind/options.hpp"

#include <cmath>

#include "python/bind/bind.hpp"
#include "python/bind/data.hpp"

namespace covshift::python {
namespace {

std::string shown(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

[[noreturn]] void wrong_type(const Option& o, const char* wanted, nb::handle value) {
  throw nb::type_error(
      fmt::format("{} must be {}, not {}", o.python, wanted, shown(value)).c_str());
}

bool real(nb::handle value) {
  return PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()) ||
         PyObject_IsInstance(value.ptr(), nb::module_::import_("numbers").attr("Real").ptr()) == 1;
}

/// The value as on a command line.
std::vector<std::string> texts(const Option& o, nb::handle value) {
  const bool string = nb::isinstance<nb::str>(value);
  switch (o.type) {
    case OptionType::text:
      if (!string) wrong_type(o, "a string", value);
      return {nb::cast<std::string>(value)};
    case OptionType::text_or_number:
      if (string) return {nb::cast<std::string>(value)};
      if (!real(value)) wrong_type(o, "a number or a string", value);
      return {shown(nb::float_(value))};
    case OptionType::number:
      if (!real(value)) wrong_type(o, "a number", value);
      return {shown(nb::float_(value))};
    case OptionType::whole:
      if (!real(value)) wrong_type(o, "a number", value);
      if (const double x = nb::cast<double>(nb::float_(value)); std::floor(x) != x) {
        fail_input("{} must be a whole number, not {}", o.python, shown(value));
      }
      return {shown(nb::int_(value))};
    case OptionType::flag:
      return {PyObject_IsTrue(value.ptr()) == 1 ? "True" : "False"};
    case OptionType::list:
    case OptionType::interval:
      break;
  }
  if (string) return {nb::cast<std::string>(value)};
  if (!nb::hasattr(value, "__iter__")) wrong_type(o, "a list", value);
  std::vector<std::string> list;
  for (const nb::handle item : value) list.push_back(nb::cast<std::string>(nb::str(item)));
  return list;
}

bool given_as_text(const nb::dict& given, const char* name) {
  return !given.contains(name) || given[name].is_none() || nb::isinstance<nb::str>(given[name]);
}

void leave_out(Options& table, std::string_view python) {
  std::erase_if(table, [&](const Option& o) { return o.python == python; });
}

}  // namespace

void set_options(const Options& table, const nb::dict& given) {
  for (const Option& o : table) {
    if (o.python.empty() || !given.contains(o.python.c_str())) continue;
    const nb::object value = given[o.python.c_str()];
    // None means the default if there is no other name for it.
    const bool unset = (o.fallback.empty() && !o.python_fallback) || o.values == "NUMBER|cv";
    if (!value.is_none() || !unset) set_option(o, o.python, texts(o, value));
  }
}

void set_ratio(const nb::dict& given, RatioOptions& ratio) {
  ratio.method = parse_ratio_method(nb::cast<std::string>(given["method"]));
  set_options(ratio_options(ratio.method, ratio), given);
}

Options without_objects(Options table, const nb::dict& given, Views::Groups& groups,
                        RatioOptions& ratio) {
  if (!given_as_text(given, "views")) {
    using Group = std::tuple<std::string, std::vector<std::string>, std::string>;
    for (auto& [name, columns, maps] : nb::cast<std::vector<Group>>(given["views"])) {
      groups.push_back({std::move(name), std::move(columns), std::move(maps)});
    }
    leave_out(table, "views");
  }
  if (given.contains("ratio") && nb::isinstance<nb::dict>(given["ratio"])) {
    set_ratio(nb::cast<nb::dict>(given["ratio"]), ratio);
    leave_out(table, "ratio");
    leave_out(table, "ratio_lam");
  }
  return table;
}

ModelOptions model_options(const nb::dict& given) {
  ModelOptions model;
  FitOptions& fit = model.fit;
  model.label = nb::cast<std::string>(given["label"]);
  fit.class_costs = given.contains("class_costs") && nb::cast<bool>(given["class_costs"]);
  Options table =
      without_objects(covshift::model_options(model), given, model.view_groups, fit.shift.ratio);
  table.push_back(threads_option(fit.solve.threads));
  if (!given_as_text(given, "loss")) {
    const auto costs = nb::cast<Dense<double>>(given["loss"]);
    fit.costs = CostMatrix{static_cast<int>(costs.shape(0)), static_cast<int>(costs.shape(1)),
                           std::vector<double>(costs.data(), costs.data() + costs.size())};
    leave_out(table, "loss");
  }
  const bool automatic = nb::isinstance<nb::str>(given["generalize"]) &&
                         nb::cast<std::string>(given["generalize"]) == "auto";
  if (automatic) leave_out(table, "generalize");
  set_options(table, given);
  return model;
}

void bind_options(nb::module_& m) {
  m.def("options", [] {
    nb::dict tables;
    for (const auto& [name, options] : python_options()) {
      nb::dict table;
      for (const Option& o : options) {
        table[o.python.c_str()] =
            nb::make_tuple(o.python_fallback.value_or(o.fallback), o.values, o.help);
      }
      tables[name.c_str()] = table;
    }
    return tables;
  });
}

}  // namespace covshift::python
