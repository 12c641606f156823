#include "covshift/model/linear_form.hpp"

#include "covshift/base/error.hpp"

namespace covshift {

std::string not_linear(const Model& model) {
  const std::vector<Component>& components = model.classifier().components();
  if (components.size() > 1) return fmt::format("it mixes {} models", components.size());
  const Component& only = components.front();
  for (const std::string& maps : only.features.maps()) {
    if (maps != "linear") return fmt::format("its features are {}, not the columns", maps);
  }
  const Assumption& assumption = only.shift.assumption();
  if (assumption.kind != Assumption::Kind::none && assumption.kind != Assumption::Kind::test) {
    return fmt::format("its evidence fades with the density ratio (generalize='{}')",
                       to_string(assumption));
  }
  return "";
}

LinearForm linear_form(const Model& model) {
  if (const std::string obstacle = not_linear(model); !obstacle.empty()) {
    fail_input("the model's potentials are not linear: {}", obstacle);
  }
  const Component& only = model.classifier().components().front();
  const Scaler& scaler = model.preparation().scaler();
  const auto k = static_cast<std::size_t>(model.classifier().game().labels());
  LinearForm form;
  form.columns = only.cols();
  form.coef.assign(k * form.columns, 0.0);
  form.intercept.assign(k, 0.0);
  // Outputs are the columns in their order, or ordered by view, then by column.
  const Views order =
      only.features.identity() ? Views::all(form.columns) : model.preparation().views();
  const double* t = only.weights.data();
  for (const std::vector<std::int32_t>& view : order.columns) {
    for (const std::int32_t column : view) {
      const auto c = static_cast<std::size_t>(column);
      // T (x - offset)/scale = (T/scale) x - (T/scale) offset
      for (std::size_t y = 0; y < k; ++y) {
        const double slope = t[y] / scaler.scales()[c];
        form.coef[y * form.columns + c] += slope;
        form.intercept[y] -= slope * scaler.offsets()[c];
      }
      t += k;
    }
  }
  if (only.bias) {
    for (std::size_t y = 0; y < k; ++y) form.intercept[y] += t[y];
  }
  return form;
}

}  // namespace covshift
