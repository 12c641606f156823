// Options of a model as users write them.
#include "covshift/base/error.hpp"
#include "covshift/model/model.hpp"

namespace covshift {
namespace {

constexpr std::string_view column_prefix = "column:";

bool column_name(const std::string& text, std::string& name) {
  if (!text.starts_with(column_prefix)) return false;
  name = text.substr(column_prefix.size());
  return true;
}

}  // namespace

void ModelOptions::set_generalize(const std::string& text) {
  if (text == "temper:auto") {
    fit.choose_temper = true;
  } else if (column_name(text, generalization_column)) {
    fit.generalize = Assumption{Assumption::Kind::given};
  } else if (!text.empty()) {
    fit.generalize = parse_assumption(text);
  }
}

void ModelOptions::set_ratio(const std::string& text) {
  if (!column_name(text, ratio_column)) fit.shift.ratio.method = parse_ratio_method(text);
}

void ModelOptions::set_bias(const std::string& text) {
  if (text != "joint" && text != "test" && text != "none") {
    fail_input("the bias is '{}'; it can be joint, test or none", text);
  }
  fit.bias = text != "none";
  fit.shift.bias = text == "test" ? BiasAssumption::test : BiasAssumption::joint;
}

}  // namespace covshift
