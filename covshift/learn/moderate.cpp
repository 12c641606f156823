#include "covshift/learn/moderate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "covshift/learn/rules.hpp"

namespace covshift {
namespace {

/// Scales from e^-5 to 1e10 stay as they are.
constexpr double log_low = -5;
constexpr double log_high = 23;

/// V(0) for each true label.
std::vector<double> values_at_zero(const Game& game) {
  const auto k = static_cast<std::size_t>(game.labels());
  const std::vector<double> psi(k, 0.0);
  std::vector<double> q(k);
  std::vector<double> values(k);
  for (int y = 0; y < game.labels(); ++y) {
    game.play(1, psi.data(), &y, &values[static_cast<std::size_t>(y)], q.data());
  }
  return values;
}

}  // namespace

std::optional<ModerateProblem> moderate(const Examples& examples) {
  const Examples& e = examples;
  const Problem& old = e.problem();
  if (old.log_scale.empty() || e.free_bias()) return {};
  std::array<double, 1> extreme{0};
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double log_r = log_largest_scale(old, e.row(i));
    if (log_r < log_low || log_r > log_high) extreme[0] = 1;
  }
  e.reducer().max(extreme);
  if (extreme[0] == 0) return {};

  ModerateProblem out;
  RowMatrix a;
  e.pass(RowMatrix::Zero(e.dims(), e.labels()), a);
  const double norm = a.norm();
  out.gain = norm * norm / (4 * e.lambda());
  std::array<double, 1> total{std::accumulate(e.a().begin(), e.a().end(), 0.0)};
  e.reducer().sum(total);
  const double high = log_high + std::max(0.0, std::log(total[0]));
  const std::vector<double> at_zero = values_at_zero(e.game());
  const double range = *std::max_element(at_zero.begin(), at_zero.end());
  const double small = linear_share(e.game()) * range;

  const std::size_t rows = old.features.rows;
  out.log_scale.assign(old.log_scale.begin(), old.log_scale.end());
  out.log_weight.assign(rows, 0.0);
  std::copy(old.log_weight.begin(), old.log_weight.end(), out.log_weight.begin());
  for (std::size_t i = 0; i < e.size(); ++i) {
    const std::size_t row = e.row(i);
    const double log_r = log_largest_scale(old, row);
    double wanted = std::min(log_r, high);
    if (log_r < log_low && e.a()[i] > 0) {
      const double reach = std::sqrt(e.norm2(i)) * norm / (2 * e.lambda());
      wanted = std::max(log_r, std::min(log_low, std::log(small / std::max(reach, 1e-300))));
      const double c = e.a()[i] / limited_scale(wanted);
      out.constant += (e.c()[i] - c) * at_zero[static_cast<std::size_t>(e.label()[i])];
    }
    const double more = wanted - log_r;
    out.log_weight[row] -= more;
    for (int v = 0; v < old.scales; ++v) {
      out.log_scale[row * static_cast<std::size_t>(old.scales) + static_cast<std::size_t>(v)] +=
          more;
    }
  }
  e.reducer().sum({&out.constant, 1});
  out.problem = old;
  out.problem.log_scale = out.log_scale;
  out.problem.log_weight = out.log_weight;
  return out;
}

}  // namespace covshift
