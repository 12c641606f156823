#include "covshift/model/ratio_model.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/model/blocks.hpp"
#include "covshift/model/envelope.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

constexpr FileFormat format{"covshift density ratio", "density ratio", 1};

}  // namespace

RatioModel RatioModel::fit(const MatrixView& train, const MatrixView* target, Encoder encoder,
                           ScaleKind scale, const RatioOptions& options,
                           std::span<const double> sample_weight) {
  Scaler scaler = Scaler::fit(scale, train, sample_weight);
  RatioOptions own = options;
  own.columns.clear();
  if (target == nullptr) {
    own.method = RatioMethod::none;
    target = &train;
  }
  std::shared_ptr<const DensityRatio> ratio;
  if (scale == ScaleKind::none) {
    ratio = fit_ratio(own, train, *target, sample_weight);
  } else {
    const Matrix scaled_train = scaler.scaled(train);
    const Matrix scaled_target = scaler.scaled(*target);
    ratio = fit_ratio(own, scaled_train.view(), scaled_target.view(), sample_weight);
  }
  return {std::move(encoder), std::move(scaler), std::move(ratio)};
}

std::vector<double> RatioModel::log_ratio(const MatrixView& x, int threads) const {
  std::vector<double> all(x.rows);
  each_scaled_block(scaler_, x, threads, [&](std::size_t first, const MatrixView& rows) {
    ratio_->log_ratio(rows, std::span(all).subspan(first, rows.rows), 1);
  });
  return all;
}

std::string RatioModel::to_text() const {
  return seal(format, {{"encoder", encoder_.to_json()},
                       {"scaler", scaler_.to_json()},
                       {"ratio", ratio_->to_json()}});
}

RatioModel RatioModel::from_text(const std::string& text, const std::string& source) {
  const json body = unseal(format, text, source);
  Encoder encoder = Encoder::from_json(json_field<json>(body, "encoder", source));
  Scaler scaler = Scaler::from_json(json_field<json>(body, "scaler", source));
  std::shared_ptr<const DensityRatio> ratio =
      ratio_from_json(json_field<json>(body, "ratio", source));
  if (scaler.cols() != encoder.cols() || ratio->cols() != encoder.cols()) {
    fail_input("{}: the parts of the density ratio are of different sizes", source);
  }
  return {std::move(encoder), std::move(scaler), std::move(ratio)};
}

}  // namespace covshift
