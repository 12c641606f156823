// Known or fitted Gaussians for the two samples.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "covshift/ratio/ratio.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

struct Gaussian {
  std::vector<double> mean;
  std::vector<double> covariance;  ///< row-major, mean.size() squared; symmetric
};

/// log N(x; target) - log N(x; train).
///
/// Fitted: means and full (maximum likelihood) covariances. Where one of the covariances is
/// singular, or nearly so (an eigenvalue below 1e-8 in units of the pooled standard deviations),
/// both get a ridge of 1e-6 of the pooled variance of each column (of 1 for a constant column): the
/// same in both, so that a direction in which neither sample varies cancels. A sample of fewer rows
/// than columns is then taken literally: outside its plane it has next to no density.
class GaussianRatio final : public DensityRatio {
 public:
  /// Known densities of the columns of a view (empty: all of `cols`). An Error if a covariance is
  /// not positive definite.
  GaussianRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report,
                Gaussian train, Gaussian target);
  static std::unique_ptr<GaussianRatio> fit(const RatioOptions& options, std::size_t cols,
                                            const Samples& samples);
  static std::unique_ptr<GaussianRatio> load(std::size_t cols, std::vector<std::int32_t> columns,
                                             nlohmann::json report, const nlohmann::json& json);

  [[nodiscard]] RatioMethod method() const override { return RatioMethod::gaussian; }
  [[nodiscard]] const Gaussian& train() const { return train_.density; }
  [[nodiscard]] const Gaussian& target() const { return target_.density; }

 protected:
  void evaluate(const Rows& x, std::size_t first, std::size_t last,
                std::span<double> out) const override;
  void store(nlohmann::json& json) const override;

 private:
  struct Factored {
    Gaussian density;
    Eigen::VectorXd mean;
    Eigen::MatrixXd lower;  ///< Cholesky factor of the covariance
    double log_scale = 0;   ///< sum of the logarithms of its diagonal
  };
  static Factored factor(Gaussian density, std::size_t dims, const char* which);

  Factored train_;
  Factored target_;
};

/// The ratio of two known Gaussians over all columns.
std::unique_ptr<DensityRatio> gaussian_ratio(const Gaussian& train, const Gaussian& target);

}  // namespace covshift
