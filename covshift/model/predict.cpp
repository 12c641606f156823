// What a classifier says of rows it has not seen.
#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/learn/scaled_rows.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {
namespace {

constexpr std::size_t chunk_rows = 2048;
constexpr double far_out = 1e-200;

bool finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

/// One row, densified and multiplied by far_out.
std::vector<double> shrunk_row(const MatrixView& x, std::size_t row) {
  std::vector<double> out(x.cols, 0.0);
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.offsets; }) {
          for (std::int64_t e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e) {
            out[rows.columns[e]] += far_out * static_cast<double>(rows.values[e]);
          }
        } else {
          for (std::size_t j = 0; j < x.cols; ++j) {
            out[j] = far_out * static_cast<double>(rows.data[row * rows.stride + j]);
          }
        }
      },
      x.storage);
  return out;
}

}  // namespace

void Classifier::evaluate(const MatrixView& x, const GivenDensities& given, double* psi,
                          double* log_ratio) const {
  const Shift::Rows rows = shift_.at(x, given);
  std::copy(rows.log_ratio.begin(), rows.log_ratio.end(), log_ratio);
  ScaledFeatures features;
  features.features = x;
  features.bias = bias_;
  features.log_scale = rows.log_scale;
  features.scales = shift_.scales();
  features.scale_of_column = shift_.scale_of_column();
  features.scale_of_bias = shift_.scale_of_bias();
  check_features(x, 1);
  check_scales(features);
  const int labels = game_->labels();
  const RowMatrix t = Eigen::Map<const RowMatrix>(
      weights_.data(), static_cast<Eigen::Index>(cols_) + (bias_ ? 1 : 0), labels);
  ScaledRows(features, labels, 1).potentials(t, psi);  // rows do not depend on each other

  // Features so large that their products overflow: the same direction from nearer by.
  const auto k = static_cast<std::size_t>(labels);
  const auto scales = static_cast<std::size_t>(features.scales);
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (finite({psi + i * k, k})) continue;
    const std::vector<double> row = shrunk_row(x, i);
    ScaledFeatures one = features;
    one.features = MatrixView::dense(row.data(), 1, x.cols);
    if (!one.log_scale.empty()) one.log_scale = features.log_scale.subspan(i * scales, scales);
    ScaledRows(one, labels, 1).potentials(t, psi + i * k);
  }
}

std::vector<double> Classifier::potentials(const MatrixView& x, const GivenDensities& given,
                                           int threads) const {
  std::vector<double> psi;
  std::vector<double> log_ratio;
  evaluate_all(x, given, threads, psi, log_ratio);
  return psi;
}

void Classifier::evaluate_all(const MatrixView& x, const GivenDensities& given, int threads,
                              std::vector<double>& psi, std::vector<double>& log_ratio) const {
  if (x.cols != cols_) {
    fail_input("the data have {} columns, the model was trained on {}", x.cols, cols_);
  }
  const auto k = static_cast<std::size_t>(game_->labels());
  psi.resize(x.rows * k);
  log_ratio.resize(x.rows);
  const auto part = [](std::span<const double> all, std::size_t first, std::size_t n) {
    return all.empty() ? all : all.subspan(first, n);
  };
  parallel_tasks(threads, (x.rows + chunk_rows - 1) / chunk_rows, [&](std::size_t block) {
    const std::size_t first = block * chunk_rows;
    const std::size_t n = std::min(chunk_rows, x.rows - first);
    evaluate(slice(x, first, n),
             {part(given.log_ratio, first, n), part(given.log_generalization, first, n)},
             psi.data() + first * k, log_ratio.data() + first);
  });
}

Predictions Classifier::predict(const MatrixView& x, const GivenDensities& given,
                                int threads) const {
  Predictions out;
  evaluate_all(x, given, threads, out.psi, out.log_ratio);
  out.rows = x.rows;
  out.actions = game_->actions();
  const auto k = static_cast<std::size_t>(game_->labels());
  const auto a = static_cast<std::size_t>(out.actions);
  out.p.resize(x.rows * a);
  out.action.resize(x.rows);
  parallel_tasks(threads, (x.rows + chunk_rows - 1) / chunk_rows, [&](std::size_t chunk) {
    for (std::size_t i = chunk * chunk_rows; i < std::min((chunk + 1) * chunk_rows, x.rows); ++i) {
      const std::span<double> p(out.p.data() + i * a, a);
      game_->predict({out.psi.data() + i * k, k}, p);
      out.action[i] = arg_max(p);
    }
  });
  return out;
}

}  // namespace covshift
