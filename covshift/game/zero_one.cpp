#include <algorithm>
#include <functional>
#include <limits>

#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {
namespace {

CostMatrix zero_one_costs(int labels) {
  CostMatrix c{labels, labels, std::vector<double>(static_cast<std::size_t>(labels) * labels, 1.0)};
  for (int y = 0; y < labels; ++y) c.cost[static_cast<std::size_t>(y) * (labels + 1)] = 0;
  return c;
}

/// zero-one loss: V = max_k (sum of the k largest + k - 1) / k (Fathony et al. 2016, cited by the
/// paper for the analytical form); the adversary is uniform on that top set.
class ZeroOneGame final : public MatrixGame {
 public:
  explicit ZeroOneGame(int labels) : MatrixGame(zero_one_costs(labels)) {}
  [[nodiscard]] std::string name() const override { return "zero-one"; }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const auto k = static_cast<std::size_t>(labels());
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      double floor = 0;
      std::size_t size = 0;
      const double gain = solve({psi, k}, floor, size);
      const double top = *std::max_element(psi, psi + k);
      value[i] = top + gain;
      // The top set; of labels tied at its smallest member the first ones belong to it.
      const double share = 1 / static_cast<double>(size);
      std::size_t left = size;
      for (std::size_t y = 0; y < k; ++y) left -= (psi[y] - top > floor) ? 1 : 0;
      for (std::size_t y = 0; y < k; ++y) {
        const double x = psi[y] - top;
        const bool tied = x == floor && left > 0;
        if (tied) --left;
        q[y] = (x > floor || tied) ? share : 0;
      }
    }
  }

  void play_block(std::size_t n, const double* psi, const int* /*label*/, double* value,
                  double* q) const override {
    kernels().zero_one_game(n, static_cast<std::size_t>(labels()), psi, value, q);
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    double floor = 0;
    std::size_t size = 0;
    const double gain = solve(psi, floor, size);
    const double top = *std::max_element(psi.begin(), psi.end());
    double sum = 0;
    for (std::size_t y = 0; y < psi.size(); ++y) {
      p[y] = std::max(0.0, 1 + (psi[y] - top) - gain);
      sum += p[y];
    }
    for (double& x : p) x /= sum;  // 1 except for rounding
  }

  [[nodiscard]] double bayes_risk(std::span<const double> q, int /*label*/) const override {
    double top = 0;
    double sum = 0;
    for (const double x : q) {
      top = std::max(top, x);
      sum += x;
    }
    return sum - top;
  }

  /// The predictor's best answer subtracts a total of 1 from the largest entries of b (C'p = 1 -
  /// p); the rest is projected onto the simplex.
  void proximal(std::span<const double> b, double beta, int /*label*/,
                std::span<double> q) const override {
    const double top = *std::max_element(b.begin(), b.end());
    Scratch<double> sorted(b.size());
    std::copy(b.begin(), b.end(), sorted.begin());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double level = -1;  // relative to the top: sum of max(0, b - level) = 1
    double sum = 0;
    for (std::size_t k = 1; k < b.size() && sorted[k] - top > level; ++k) {
      sum += sorted[k] - top;
      level = (sum - 1) / static_cast<double>(k + 1);
    }
    // beta 0 (an example without features) has many solutions; take the limit beta -> 0.
    const double divisor = std::max(beta, std::numeric_limits<double>::min());
    for (std::size_t y = 0; y < b.size(); ++y) q[y] = std::min(b[y] - top - level, 0.0) / divisor;
    project_to_simplex(q);
  }

 private:
  /// V - max psi. `floor` is the smallest member of the top set relative to the maximum, `size` its
  /// size. A label joins while psi + 1 exceeds the value so far.
  static double solve(std::span<const double> psi, double& floor, std::size_t& size) {
    const double top = *std::max_element(psi.begin(), psi.end());
    Scratch<double> near(psi.size());  // only labels less than 1 below the top can join
    std::size_t n = 0;
    near[0] = 0;  // in case potentials are not finite
    for (const double x : psi) {
      if (x - top > -1) near[n++] = x - top;
    }
    std::sort(near.begin(), near.begin() + n, std::greater<>());
    double gain = 0;
    size = 1;
    while (size < n && near[size] + 1 > gain) {
      gain += (near[size] + 1 - gain) / static_cast<double>(size + 1);
      ++size;
    }
    floor = near[size - 1];
    return gain;
  }
};

}  // namespace

std::unique_ptr<Game> zero_one_game(int labels) {
  check_labels(labels);
  return std::make_unique<ZeroOneGame>(labels);
}

}  // namespace covshift
