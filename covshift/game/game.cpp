#include "covshift/game/game.hpp"

#include <cmath>

#include "covshift/game/scratch.hpp"
#include "covshift/kernel/kernels.hpp"

namespace covshift {

double Game::loss_at(std::span<const double> psi, int label) const {
  Scratch<double> p(static_cast<std::size_t>(actions()));
  predict(psi, {p.data(), p.size()});
  return loss(psi, {p.data(), p.size()}, label);
}

double Game::log_loss(std::span<const double> /*psi*/, std::span<const double> p, int label) const {
  return actions() >= labels() ? -std::log(p[label]) : INFINITY;
}

void Game::play_block(std::size_t n, const double* psi, const int* label, double* value,
                      double* q) const {
  const auto k = static_cast<std::size_t>(labels());
  Scratch<double> rows(n * k);
  Scratch<double> answers(n * k);
  for (std::size_t y = 0; y < k; ++y) {
    for (std::size_t b = 0; b < n; ++b) rows[b * k + y] = psi[y * block_rows + b];
  }
  play(n, rows.data(), label, value, answers.data());
  for (std::size_t y = 0; y < k; ++y) {
    for (std::size_t b = 0; b < n; ++b) q[y * block_rows + b] = answers[b * k + y];
  }
}

}  // namespace covshift
