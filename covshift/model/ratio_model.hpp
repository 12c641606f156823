// A density ratio as users keep it: with the names and the scaling of its columns.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "covshift/data/encoder.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

class RatioModel {
 public:
  /// From matrices of numbers, whose columns `encoder` names; without a target there is no shift
  /// and the ratio is 1. The options' columns are not used. Scaled as a Model's features are, so
  /// that the same options give a Model the same joint ratio, to the last bit.
  static RatioModel fit(const MatrixView& train, const MatrixView* target, Encoder encoder,
                        ScaleKind scale, const RatioOptions& options,
                        std::span<const double> sample_weight = {});

  /// log P_test(x)/P_train(x) of rows as they are before scaling.
  [[nodiscard]] std::vector<double> log_ratio(const MatrixView& x, int threads = 0) const;

  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  [[nodiscard]] const DensityRatio& ratio() const { return *ratio_; }

  /// In the frame of a model file: a version, a checksum.
  [[nodiscard]] std::string to_text() const;
  static RatioModel from_text(const std::string& text, const std::string& source);

 private:
  RatioModel(Encoder encoder, Scaler scaler, std::shared_ptr<const DensityRatio> ratio)
      : encoder_(std::move(encoder)), scaler_(std::move(scaler)), ratio_(std::move(ratio)) {}

  Encoder encoder_;
  Scaler scaler_;
  std::shared_ptr<const DensityRatio> ratio_;
};

}  // namespace covshift
