#include "covshift/shift/methods.hpp"

#include <array>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"

namespace covshift {
namespace {

using Kind = Assumption::Kind;

constexpr std::array<Method, 9> table = {{
    {"lr", "log", Kind::none, "logistic regression; ignores the shift"},
    {"iw", "log", Kind::test, "importance-weighted logistic regression"},
    {"robust", "log", Kind::train, "robust to the shift in all inputs, log loss"},
    {"robust-view", "log", Kind::views, "robust, trusting the views that hardly shift, log loss"},
    {"adv01", "zero-one", Kind::none, "adversarial zero-one classifier; ignores the shift"},
    {"robust01", "zero-one", Kind::train, "robust to the shift in all inputs, zero-one loss"},
    {"robust01-view", "zero-one", Kind::views, "robust, trusting stable views, zero-one loss"},
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
  const std::string temper = "temper:";
  if (text.starts_with(temper)) {
    const std::string number = text.substr(temper.size());
    const std::optional<double> g = parse_number(number);
    if (!g || !(*g >= 0 && *g <= 1)) {
      fail_input("generalize '{}': '{}' is not a number in [0, 1]; example: temper:0.5", text,
                 number);
    }
    return {Kind::temper, *g};
  }
  fail_name("the assumption", text, assumption_values);
}

std::string to_string(const Assumption& assumption) {
  return assumption.kind == Kind::temper ? fmt::format("temper:{}", assumption.g)
                                         : std::string(to_string(assumption.kind));
}

}  // namespace covshift
