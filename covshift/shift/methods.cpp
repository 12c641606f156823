#include "covshift/shift/methods.hpp"

#include <array>
#include <cstdlib>

#include "covshift/base/error.hpp"

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
  std::string known;
  for (const Method& m : table) {
    if (m.name == name) return m;
    known += known.empty() ? "" : ", ";
    known += m.name;
  }
  fail_input("unknown method '{}'; known: {}", name, known);
}

const Method& method_of(std::string_view loss, Assumption::Kind generalize) {
  const Method* found = &find_method("robust");  // tempering and densities of one's own
  for (const Method& m : table) {
    if (m.generalize != generalize) continue;
    if (m.loss == loss) return m;
    if (m.loss == "log") found = &m;
  }
  return *found;
}

Assumption parse_assumption(const std::string& text) {
  if (text == "none") return {Kind::none};
  if (text == "train") return {Kind::train};
  if (text == "test") return {Kind::test};
  if (text == "views") return {Kind::views};
  if (text == "given") return {Kind::given};
  const std::string temper = "temper:";
  if (text.starts_with(temper)) {
    const std::string number = text.substr(temper.size());
    char* end = nullptr;
    const double g = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(g >= 0 && g <= 1)) {
      fail_input("generalize '{}': '{}' is not a number in [0, 1]; write temper:0.5, say", text,
                 number);
    }
    return {Kind::temper, g};
  }
  fail_input("unknown assumption '{}'; known: train, test, views, temper:G, none", text);
}

std::string to_string(const Assumption& assumption) {
  switch (assumption.kind) {
    case Kind::none:
      return "none";
    case Kind::train:
      return "train";
    case Kind::test:
      return "test";
    case Kind::views:
      return "views";
    case Kind::temper:
      return fmt::format("temper:{}", assumption.g);
    case Kind::given:
      return "given";
  }
  return "none";
}

}  // namespace covshift
