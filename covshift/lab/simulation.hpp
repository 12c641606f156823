// Problems whose training and target distribution and P(y|x) are known, so that what is promised
// can be compared with the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/views.hpp"

namespace covshift {

/// Inputs and classes drawn from a simulated problem.
struct SimulatedRows {
  std::size_t rows = 0, cols = 0;
  std::vector<double> x;  ///< rows x cols
  std::vector<int> y;
  std::vector<double> log_ratio;                    ///< the exact log P_target(x)/P_train(x)
  std::vector<std::vector<double>> view_log_ratio;  ///< the same of the columns of each view

  [[nodiscard]] MatrixView view() const { return MatrixView::dense(x.data(), rows, cols); }
};

/// Random in everything: distributions (Gaussians, mixtures of three Gaussians with other shares,
/// independent columns of three values), 1 to 20 columns, 2 to 5 classes, a shift from none to
/// strong (E_train w^2 up to about 8 for Gaussians), P(y|x) a softmax of a function that is not
/// linear.
class SimulatedProblem {
 public:
  enum class Kind { gaussian, mixture, discrete };

  explicit SimulatedProblem(std::uint64_t seed);

  [[nodiscard]] SimulatedRows draw(bool target, std::size_t rows, Random& random) const;
  /// Two views, the first and the second half of the columns; all columns if there is one.
  [[nodiscard]] Views views() const;
  /// P(y|x) of each class.
  void probabilities(std::span<const double> x, std::span<double> p) const;
  /// A classifier that is neither right nor calibrated.
  void flawed_probabilities(std::span<const double> x, std::span<double> p) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] int classes() const { return classes_; }
  [[nodiscard]] double strength() const { return strength_; }
  /// Suggested sizes, 50 to 5,000 each.
  [[nodiscard]] std::size_t train_rows() const { return train_rows_; }
  [[nodiscard]] std::size_t target_rows() const { return target_rows_; }

 private:
  void draw_row(bool target, Random& random, std::span<double> x) const;
  /// Of the columns first .. last-1 of x.
  [[nodiscard]] double log_ratio(std::span<const double> x, std::size_t first,
                                 std::size_t last) const;

  Kind kind_ = Kind::gaussian;
  std::size_t cols_ = 0;
  int classes_ = 0;
  double strength_ = 0;
  std::size_t train_rows_ = 0, target_rows_ = 0;
  std::vector<double> mean_, spread_;               // gaussian: of the target; training is N(0, 1)
  std::vector<double> centre_;                      // mixture: 3 x cols
  std::vector<double> train_share_, target_share_;  // mixture: 3; discrete: cols x 3
  std::vector<double> linear_, wave_, flawed_;      // classes x cols
  double temperature_ = 1;
};

template <>
inline constexpr auto names<SimulatedProblem::Kind> =
    std::to_array<Named<SimulatedProblem::Kind>>({{SimulatedProblem::Kind::gaussian, "gaussian"},
                                                  {SimulatedProblem::Kind::mixture, "mixture"},
                                                  {SimulatedProblem::Kind::discrete, "discrete"}});

}  // namespace covshift
