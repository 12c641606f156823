// A density ratio with the names and scaling of its columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "covshift/data/preparation.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift {

class RatioModel {
 public:
  /// Without a target (null) the ratio is 1. Features are scaled as for a Model, so the same
  /// options give a Model the same joint ratio, to the last bit.
  static RatioModel fit(Preparation preparation, const PreparedRows& train,
                        const PreparedRows* target, const RatioOptions& options);

  /// log P_test(x)/P_train(x) of rows from preparation().encode().
  [[nodiscard]] std::vector<double> log_ratio(const PreparedRows& rows, int threads = 0) const;
  [[nodiscard]] std::vector<double> log_ratio(const Input& rows, int threads = 0) const {
    return log_ratio(preparation_.encode(rows, threads), threads);
  }

  [[nodiscard]] const Preparation& preparation() const { return preparation_; }
  [[nodiscard]] const DensityRatio& ratio() const { return *ratio_; }

  /// In the envelope of a model file, with version and checksum.
  [[nodiscard]] std::string to_text() const;
  static RatioModel from_text(const std::string& text, const std::string& source);

 private:
  RatioModel(Preparation preparation, std::shared_ptr<const DensityRatio> ratio)
      : preparation_(std::move(preparation)), ratio_(std::move(ratio)) {}

  Preparation preparation_;
  std::shared_ptr<const DensityRatio> ratio_;
};

}  // namespace covshift
