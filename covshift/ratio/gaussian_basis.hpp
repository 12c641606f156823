// What the kernel estimators (uLSIF, RuLSIF, KLIEP, KMM) share: centres, widths, the fitted form.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "covshift/ratio/ratio.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

/// The rows that kernels are centred at, stored by column: distances from a row to all of them are
/// sums over its entries. Densely where many entries are not zero, whatever the rows came from;
/// otherwise the non-zero entries of each column, and ||x - c||^2 = ||x||^2 + ||c||^2 - 2 x.c.
class Centres {
 public:
  using Row = std::pair<const Rows*, std::size_t>;
  Centres(std::span<const Row> rows, std::size_t dims);
  static Centres from_json(const nlohmann::json& json, std::size_t dims);
  [[nodiscard]] nlohmann::json to_json() const;

  [[nodiscard]] std::size_t size() const { return count_; }

  /// One for each thread.
  struct Buffer {
    std::vector<double> dense;
    RowBuffer sparse;
  };
  /// ||x_i - c||^2 for every centre; infinite where it overflows.
  void squared_distances(const Rows& x, std::size_t i, Buffer& buffer, double* out) const;
  /// The same for the rows of `order`: a column of size() for each.
  [[nodiscard]] Eigen::MatrixXd squared_distances(const Rows& x, std::span<const std::size_t> order,
                                                  int threads) const;

 private:
  Centres(std::size_t count, std::size_t dims) : count_(count), dims_(dims) {}
  void measure();

  std::size_t count_;
  std::size_t dims_;
  std::vector<double> dense_;          ///< dims x count; empty: sparse
  std::vector<std::size_t> offsets_;   ///< sparse: where the entries of each column start
  std::vector<std::uint32_t> centre_;  ///< sparse: the centre of each entry
  std::vector<double> values_;         ///< sparse: and its value
  std::vector<double> squared_norms_;  ///< sparse only
};

/// exp(-squared/(2 width^2)), entry by entry; in place, or as a matrix.
void to_kernels(std::span<double> squared, double width);
Eigen::MatrixXd gaussian_kernels(Eigen::MatrixXd squared, double width);

/// sum_i weight_i phi_i phi_i' over the columns first, first + step, ... of phi.
Eigen::MatrixXd weighted_gram(const Eigen::MatrixXd& phi, const Eigen::VectorXd& weight,
                              Eigen::Index first, Eigen::Index step);

/// Below this a kernel estimate means only "hardly any target here": all kernels are far away, or a
/// least-squares fit is negative. It keeps the logarithm finite.
inline constexpr double ratio_floor = 1e-6;
inline constexpr double ratio_ceiling = 1e300;

/// ratio(x) = offset + sum_l coefficient_l exp(-||x - c_l||^2 / (2 width^2)), kept between the
/// floor and a ceiling.
class KernelRatio final : public DensityRatio {
 public:
  struct Form {
    RatioMethod method = RatioMethod::ulsif;
    double width = 1;
    double offset = 0;
    double floor = ratio_floor;
    double ceiling = ratio_ceiling;
    std::vector<double> coefficients;
  };
  KernelRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report, Form form,
              Centres centres);
  static std::unique_ptr<KernelRatio> load(RatioMethod method, std::size_t cols,
                                           std::vector<std::int32_t> columns, nlohmann::json report,
                                           const nlohmann::json& json);

  [[nodiscard]] RatioMethod method() const override { return form_.method; }
  [[nodiscard]] const Form& form() const { return form_; }

 protected:
  void evaluate(const Rows& x, std::size_t first, std::size_t last,
                std::span<double> out) const override;
  void store(nlohmann::json& json) const override;

 private:
  Form form_;
  Centres centres_;
};

/// The samples in row order (so that nothing downstream depends on how the rows are arranged) and
/// their distances to centres taken from the target.
struct KernelData {
  KernelData(const RatioOptions& options, const Samples& samples);

  std::vector<std::size_t> train_order;
  std::vector<std::size_t> target_order;
  double train_total;           ///< sum of the weights
  Eigen::VectorXd train_share;  ///< the weights, adding up to 1
  Centres centres;
  Eigen::MatrixXd train_distance;   ///< squared, centres x rows
  Eigen::MatrixXd target_distance;  ///< likewise
  std::vector<double> widths;       ///< to choose from: one if it was given
};

/// Widths to choose from: `given`, or multiples of the median distance within the two samples
/// together (of up to 250 rows of each; 1 if all rows are the same).
std::vector<double> candidate_widths(std::optional<double> given, std::span<const double> multiples,
                                     const Samples& samples,
                                     std::span<const std::size_t> train_order,
                                     std::span<const std::size_t> target_order, int threads);
/// The losses of candidates in their natural order, walking from the middle both ways until two in
/// a row are worse than the least: held-out losses of widths and regularisations have one valley.
/// The others stay infinite. loss(k, from): of candidate k, reached from `from` (the middle: from
/// itself); two run at a time. Ends at the options' time limit.
std::vector<double> walk_losses(const RatioOptions& options, std::size_t count, std::size_t middle,
                                const std::function<double(std::size_t k, std::size_t from)>& loss);
std::size_t least(const std::vector<double>& losses);

/// `given`, or these.
std::vector<double> candidate_lambdas(std::optional<double> given, std::vector<double> otherwise);

std::unique_ptr<KernelRatio> fit_least_squares(const RatioOptions& options, std::size_t cols,
                                               const Samples& samples);
std::unique_ptr<KernelRatio> fit_kliep(const RatioOptions& options, std::size_t cols,
                                       const Samples& samples);
std::unique_ptr<KernelRatio> fit_kmm(const RatioOptions& options, std::size_t cols,
                                     const Samples& samples);

/// min over theta >= 0 of 1/2 theta'H theta - h'theta + lambda/2 ||theta||^2, by block principal
/// pivoting (Kim and Park 2011): guesses which coefficients are positive, `start`'s at first (none:
/// as if they did not interact), and corrects the guess until every sign is right.
Eigen::VectorXd nonnegative_ridge(const Eigen::MatrixXd& second, const Eigen::VectorXd& first,
                                  double lambda, const Eigen::VectorXd& start = {});

/// KLIEP's mixture: max over beta >= 0, sum beta = 1, of the mean over columns of log(column.beta),
/// to a gap of `tolerance` (proved: no direction's gain exceeds it). The largest entry of a column
/// is 1. Few densities have a share in the answer: those with one in `start` and, at first, the
/// most promising are tried before the others.
Eigen::VectorXd fit_mixture(const Eigen::MatrixXd& likelihood, double tolerance,
                            const Eigen::VectorXd& start = {});

/// KMM's quadratic program over weights beta of the training rows, s their shares, K their kernels,
/// kappa_i the mean kernel between row i and the target:
///   min 1/2 (s.beta)'K(s.beta) - (s.beta)'kappa + rho/2 sum_i s_i (beta_i - 1)^2
///   with 0 <= beta <= bound, |s'beta - 1| <= slack.
struct KmmSolution {
  Eigen::VectorXd beta;
  double shift = 0;  ///< nu: beta_i = clip(1 - (f_i)/rho - nu), f = K(s.beta) - kappa
  double residual = 0;
  int iterations = 0;
};
KmmSolution solve_kmm(const Eigen::MatrixXd& kernel, const Eigen::VectorXd& kappa,
                      const Eigen::VectorXd& share, double rho, double bound, double slack,
                      double tolerance);

}  // namespace covshift
