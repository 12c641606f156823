#include "covshift/shift/methods.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"

namespace covshift {
namespace {

using Kind = Assumption::Kind;

constexpr std::array<Method, 11> table = {{
    {"lr", "log", Kind::none, "logistic regression; ignores the shift"},
    {"iw", "log", Kind::test, "importance-weighted logistic regression"},
    {"robust", "log", Kind::train, "robust to the shift in all inputs, log loss"},
    {"robust-view", "log", Kind::views, "robust, trusting the views that hardly shift, log loss"},
    {"overlap", "log", Kind::overlap, "fades evidence where training data are scarce, log loss"},
    {"adv01", "zero-one", Kind::none, "adversarial zero-one classifier; ignores the shift"},
    {"robust01", "zero-one", Kind::train, "robust to the shift in all inputs, zero-one loss"},
    {"robust01-view", "zero-one", Kind::views, "robust, trusting stable views, zero-one loss"},
    {"overlap01", "zero-one", Kind::overlap, "like overlap, zero-one loss"},
    {"svm", "hinge", Kind::none, "multiclass SVM (Crammer-Singer); ignores the shift"},
    {"iw-svm", "hinge", Kind::test, "importance-weighted multiclass SVM"},
}};

}  // namespace

std::span<const Method> methods() { return table; }

const Method& find_method(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Method& m : table) {
    if (m.name == name) return m;
    known.push_back(m.name);
  }
  fail_name("the method", name, known);
}

std::string methods_without_target() {
  std::vector<std::string_view> known = {"auto"};
  for (const Method& m : table) {
    if (m.generalize == Kind::none) known.push_back(m.name);
  }
  return listed(known);
}

const Method& method_of(std::string_view loss, Assumption::Kind generalize) {
  const Method* found = &find_method("robust");  // for tempering and given densities
  for (const Method& m : table) {
    if (m.generalize != generalize) continue;
    if (m.loss == loss) return m;
    if (m.loss == "log") found = &m;
  }
  return *found;
}

Assumption parse_assumption(const std::string& text) {
  for (const auto& [kind, name] : names<Kind>) {
    if (name == text && kind != Kind::temper) return {kind};
  }
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "temper") {
    const std::optional<double> g = parse_number(number);
    if (!g || !(*g >= 0 && *g <= 1)) {
      fail_input("the assumption '{}' needs a number in [0, 1], as in temper:0.5", text);
    }
    return {Kind::temper, *g};
  }
  if (kind == "overlap" || kind == "views") {
    const std::optional<double> d = parse_number(number);
    if (!d || !(*d > 0)) {
      fail_input("the assumption '{}' needs a positive number or inf, as in {}:2", text, kind);
    }
    return {kind == "overlap" ? Kind::overlap : Kind::views, 0, *d};
  }
  fail_name("the assumption", text, assumption_values);
}

double Assumption::log_limit() const {
  constexpr double none = std::numeric_limits<double>::infinity();
  return std::log(limit.value_or(kind == Kind::overlap ? default_overlap : none));
}

std::string to_string(const Assumption& assumption) {
  std::string name(to_string(assumption.kind));
  switch (assumption.kind) {
    case Kind::views:
      return assumption.limit ? fmt::format("{}:{}", name, *assumption.limit) : name;
    case Kind::overlap:
      return fmt::format("{}:{}", name, assumption.limit.value_or(default_overlap));
    case Kind::temper:
      return fmt::format("{}:{}", name, assumption.g);
    default:
      return name;
  }
}

}  // namespace covshift
