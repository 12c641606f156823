#include "covshift/model/ratio_model.hpp"

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/model/envelope.hpp"

namespace covshift {
namespace {

using detail::json_field;
using nlohmann::json;

constexpr FileFormat ratio_file{"covshift density ratio", "density ratio", 1};

}  // namespace

RatioModel RatioModel::fit(Preparation preparation, const PreparedRows& train,
                           const PreparedRows* target, const RatioOptions& options) {
  RatioOptions own = options;
  if (own.columns.empty()) {
    own = options_of_columns(own, {}, preparation.id_columns(), train.features.cols);
  }
  if (target == nullptr) own.method = RatioMethod::none;
  const MatrixView& other = target != nullptr ? target->features : train.features;
  return {std::move(preparation), fit_ratio(own, train.features, other, train.weight)};
}

std::vector<double> RatioModel::log_ratio(const PreparedRows& rows, int threads) const {
  std::vector<double> all(rows.features.rows);
  preparation_.each_block(rows.features, threads, [&](std::size_t first, const MatrixView& block) {
    ratio_->log_ratio(block, std::span(all).subspan(first, block.rows), 1);
  });
  return all;
}

std::string RatioModel::to_text() const {
  return seal(ratio_file, {{"encoder", preparation_.encoder().to_json()},
                           {"scaler", preparation_.scaler().to_json()},
                           {"ratio", ratio_->to_json()}});
}

RatioModel RatioModel::from_text(const std::string& text, const std::string& source) {
  const json body = unseal(ratio_file, text, source);
  try {
    Scaler scaler = Scaler::from_json(json_field<json>(body, "scaler", "density ratio"));
    Encoder encoder =
        Encoder::from_json(json_field<json>(body, "encoder", "density ratio"), scaler.cols());
    std::shared_ptr<const DensityRatio> ratio =
        ratio_from_json(json_field<json>(body, "ratio", "density ratio"));
    if (scaler.cols() != encoder.cols() || ratio->cols() != encoder.cols()) {
      fail_input("the parts of the density ratio have different sizes");
    }
    return {Preparation(std::move(encoder), std::move(scaler)), std::move(ratio)};
  } catch (const Error& e) {
    fail_input("{}: {}", source, e.what());
  }
}

}  // namespace covshift
