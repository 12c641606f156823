#include <algorithm>

#include "covshift/base/error.hpp"
#include "covshift/game/matrix_game.hpp"

namespace covshift {
namespace {

CostMatrix abstain_costs(int labels, double cost) {
  CostMatrix c{labels + 1, labels,
               std::vector<double>(static_cast<std::size_t>(labels + 1) * labels, 1.0)};
  for (int y = 0; y < labels; ++y) {
    c.cost[static_cast<std::size_t>(y) * (labels + 1)] = 0;
    c.cost[static_cast<std::size_t>(labels) * labels + y] = cost;
  }
  return c;
}

/// zero-one loss with the action "abstain" at cost a <= 1/2 (Fathony et al. 2018):
/// V = max over i, j of (1-a) psi_i + a psi_j + a [i != j]: only the two largest potentials matter.
/// The predictor names the leading label with probability min(1, lead) and abstains otherwise.
class AbstainGame final : public MatrixGame {
 public:
  AbstainGame(int labels, double cost) : MatrixGame(abstain_costs(labels, cost)), cost_(cost) {}
  [[nodiscard]] std::string name() const override { return fmt::format("abstain:{}", cost_); }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const auto k = static_cast<std::size_t>(labels());
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      const auto [first, second] = leaders({psi, k});
      const double lead = psi[first] - psi[second];
      std::fill(q, q + k, 0.0);
      q[first] = 1;
      value[i] = psi[first];
      if (lead < 1) {
        value[i] += cost_ * (1 - lead);
        q[first] = 1 - cost_;
        q[second] = cost_;
      }
    }
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    const auto [first, second] = leaders(psi);
    std::fill(p.begin(), p.end(), 0.0);
    p[first] = std::min(1.0, psi[first] - psi[second]);
    p[psi.size()] = 1 - p[first];
  }

 private:
  static std::pair<std::size_t, std::size_t> leaders(std::span<const double> psi) {
    std::size_t first = psi[1] > psi[0] ? 1 : 0;
    std::size_t second = 1 - first;
    for (std::size_t y = 2; y < psi.size(); ++y) {
      if (psi[y] > psi[first]) {
        second = first;
        first = y;
      } else if (psi[y] > psi[second]) {
        second = y;
      }
    }
    return {first, second};
  }

  double cost_;
};

/// Abstaining at a cost of 1 - 1/K or more never pays: zero-one loss with an unused action.
class NeverAbstainGame final : public MatrixGame {
 public:
  NeverAbstainGame(int labels, double cost)
      : MatrixGame(abstain_costs(labels, cost)), cost_(cost), zero_one_(zero_one_game(labels)) {}
  [[nodiscard]] std::string name() const override { return fmt::format("abstain:{}", cost_); }

  void play(std::size_t n, const double* psi, const int* label, double* value,
            double* q) const override {
    zero_one_->play(n, psi, label, value, q);
  }
  void predict(std::span<const double> psi, std::span<double> p) const override {
    zero_one_->predict(psi, p.first(psi.size()));
    p[psi.size()] = 0;
  }
  void proximal(std::span<const double> b, double beta, int label,
                std::span<double> q) const override {
    zero_one_->proximal(b, beta, label, q);
  }

 private:
  double cost_;
  std::unique_ptr<Game> zero_one_;
};

}  // namespace

std::unique_ptr<Game> abstain_game(int labels, double cost) {
  check_labels(labels);
  if (!(cost >= 0 && cost <= 1)) {
    fail_input("the cost of abstaining must lie in [0, 1], not {}", cost);
  }
  if (cost <= 0.5) return std::make_unique<AbstainGame>(labels, cost);
  if (cost >= 1 - 1.0 / labels) return std::make_unique<NeverAbstainGame>(labels, cost);
  return cost_game(abstain_costs(labels, cost), fmt::format("abstain:{}", cost));
}

}  // namespace covshift
