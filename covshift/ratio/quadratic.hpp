// The logistic ratio with squares and products of columns, for what a linear discriminator cannot
// detect: spread and interactions.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "covshift/ratio/ratio.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

/// Squares and products of columns standardised over both samples together: z_j^2 / sqrt 2 and
/// z_j z_k, so that their inner product is (z.z')^2 / 2, in any axes. z is cut off at +-4, or a
/// few outliers would decide.
struct QuadraticTerms {
  std::vector<double> mean, scale;  ///< z_j = scale_j (x_j - mean_j)
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;

  /// Squares of columns with more than two values; products too where there are at most 100 terms
  /// in all. None where squares alone would be more.
  static QuadraticTerms fit(const Samples& samples);
  /// The terms of a row of all columns; `z` is scratch space of the same size.
  void at(const double* row, std::vector<double>& z, double* out) const;
};

/// log_ratio(x) = u.x + v.q(x) + b: two logistic regressions, one on the columns, one on columns
/// and terms, averaged by the likelihood of held-out rows under each. An average of linear
/// functions is one, and the shares are smooth functions of the data.
class QuadraticRatio final : public DensityRatio {
 public:
  struct Form {
    std::vector<double> weights;  ///< u
    QuadraticTerms terms;
    std::vector<double> term_weights;  ///< v
    double intercept = 0;
  };
  QuadraticRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report,
                 Form form);
  static std::unique_ptr<QuadraticRatio> fit(const RatioOptions& options, std::size_t cols,
                                             const Samples& samples);
  static std::unique_ptr<QuadraticRatio> load(std::size_t cols, std::vector<std::int32_t> columns,
                                              nlohmann::json report, const nlohmann::json& json);

  [[nodiscard]] RatioMethod method() const override { return RatioMethod::quadratic; }
  [[nodiscard]] const Form& form() const { return form_; }

 protected:
  void evaluate(const Rows& x, std::size_t first, std::size_t last,
                std::span<double> out) const override;
  void store(nlohmann::json& json) const override;

 private:
  Form form_;
};

}  // namespace covshift
