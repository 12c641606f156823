#include <algorithm>

#include "covshift/game/matrix_game.hpp"

namespace covshift {
namespace {

/// Crammer-Singer hinge: V = max_k psi_k + [k != label]; H(q) = 1 - q[label]. Not a loss of the
/// predictor's distribution, so the predictor is the largest potential and its loss is zero-one.
class HingeGame final : public Game {
 public:
  explicit HingeGame(int labels) : Game(labels, labels, BarrierForm::hinge) {}
  [[nodiscard]] std::string name() const override { return "hinge"; }
  [[nodiscard]] std::string predicted_loss() const override { return "zero-one"; }

  void play(std::size_t n, const double* psi, const int* label, double* value,
            double* q) const override {
    const int k = labels();
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      int worst = label[i];  // wins ties: no subgradient where the margin is met
      double best = psi[worst];
      for (int y = 0; y < k; ++y) {
        if (y != label[i] && psi[y] + 1 > best) {
          best = psi[y] + 1;
          worst = y;
        }
      }
      value[i] = best;
      std::fill(q, q + k, 0.0);
      q[worst] = 1;
    }
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    std::fill(p.begin(), p.end(), 0.0);
    p[arg_max(psi)] = 1;
  }

  [[nodiscard]] double bayes_risk(std::span<const double> q, int label) const override {
    double others = 0;
    for (int y = 0; y < labels(); ++y) others += y == label ? 0 : q[y];
    return others;
  }

  [[nodiscard]] double loss(std::span<const double> /*psi*/, std::span<const double> p,
                            int label) const override {
    return 1 - p[label];
  }
};

}  // namespace

std::unique_ptr<Game> hinge_game(int labels) {
  check_labels(labels);
  return std::make_unique<HingeGame>(labels);
}

}  // namespace covshift
