#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {
namespace {

/// log loss: V = logsumexp(psi), p = q = softmax(psi), H = Shannon entropy (paper, Theorem 1).
class LogGame final : public Game {
 public:
  explicit LogGame(int labels) : Game(labels, labels, BarrierForm::entropy) {}
  [[nodiscard]] std::string name() const override { return "log"; }
  [[nodiscard]] std::string_view unit() const override { return " nats"; }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const int k = labels();
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) value[i] = softmax(psi, q);
  }

  void play_block(std::size_t n, const double* psi, const int* /*label*/, double* value,
                  double* q) const override {
    kernels().log_game(n, static_cast<std::size_t>(labels()), psi, value, q);
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    softmax(psi.data(), p.data());
  }

  [[nodiscard]] double bayes_risk(std::span<const double> q, int /*label*/) const override {
    double entropy = 0;
    for (const double x : q) {
      if (x > 0) entropy -= x * std::log(x);
    }
    return entropy;
  }

  [[nodiscard]] double loss(std::span<const double> psi, std::span<const double> /*p*/,
                            int label) const override {
    return loss_at(psi, label);
  }

  [[nodiscard]] double log_loss(std::span<const double> psi, std::span<const double> /*p*/,
                                int label) const override {
    return loss_at(psi, label);
  }

  /// V(psi) - psi[label] = V(psi - psi[label]), without cancellation.
  [[nodiscard]] double loss_at(std::span<const double> psi, int label) const override {
    Scratch<double> shifted(psi.size());
    for (std::size_t y = 0; y < psi.size(); ++y) shifted[y] = psi[y] - psi[label];
    Scratch<double> q(psi.size());
    return softmax(shifted.data(), q.data());
  }

  void proximal(std::span<const double> /*b*/, double /*beta*/, int /*label*/,
                std::span<double> /*q*/) const override {
    throw Error(Error::Kind::input, "the log loss is smooth: it needs no proximal step");
  }

 private:
  double softmax(const double* psi, double* q) const {
    const int k = labels();
    const int top = arg_max({psi, static_cast<std::size_t>(k)});
    double rest = 0;  // without the top's 1, so that log1p is accurate
    for (int y = 0; y < k; ++y) {
      q[y] = std::exp(psi[y] - psi[top]);
      if (y != top) rest += q[y];
    }
    const double scale = 1 / (1 + rest);
    for (int y = 0; y < k; ++y) q[y] *= scale;
    return psi[top] + std::log1p(rest);
  }
};

}  // namespace

std::unique_ptr<Game> log_game(int labels) {
  check_labels(labels);
  return std::make_unique<LogGame>(labels);
}

}  // namespace covshift
