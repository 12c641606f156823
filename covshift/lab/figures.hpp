// The paper's figures 1 to 3, with the spread over many draws that the paper leaves out.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "covshift/lab/gaussians.hpp"
#include "covshift/lab/result.hpp"

namespace covshift {

/// The 0-1 loss under two kinds of overlap, P_gen = P_train, beside the log loss.
LabResult figure1(const FigureOptions& options);
/// The log loss with P_gen growing from P_train to P_test.
LabResult figure2(const FigureOptions& options);
/// Logistic regression, importance weighting, robust, and robust with a view that generalizes.
LabResult figure3(const FigureOptions& options);

/// Of a sample of numbers.
struct Spread {
  double mean = 0, deviation = 0, standard_error = 0;
  static constexpr std::array<double, 5> at = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::array<double, 5> quantiles{};  ///< `at` these shares, interpolated linearly
};
Spread spread_of(std::vector<double> values);

/// The draw to show: the one whose panels lie nearest to their medians, taken together.
std::size_t typical_draw(const FigureSetting& figure, const FigureRun& run);

/// The picture of a run: each panel's predictions and training points of one draw, and every draw's
/// loss below.
std::string figure_svg(const FigureSetting& figure, const FigureRun& run, std::size_t shown,
                       int threads);

}  // namespace covshift
