#include "covshift/model/scores.hpp"

#include <cmath>

#include "covshift/base/error.hpp"

namespace covshift {

Scores score(const Predictions& predictions, std::span<const int> labels, const Game& game) {
  if (labels.size() != predictions.rows) {
    fail_input("{} labels for {} predictions", labels.size(), predictions.rows);
  }
  const auto k = static_cast<std::size_t>(game.labels());
  const auto a = static_cast<std::size_t>(game.actions());
  Scores s;
  s.n = predictions.rows;
  s.confusion.assign(k * a, 0);
  std::vector<double> shifted(k);
  std::vector<double> q(k);
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    const int label = labels[i];
    const int action = predictions.action[i];
    if (a == k + 1 && action == game.labels()) s.abstained += 1;
    if (label < 0) {
      ++s.unknown;
      continue;
    }
    const std::span<const double> p(predictions.p.data() + i * a, a);
    if (action == label) s.accuracy += 1;
    ++s.confusion[static_cast<std::size_t>(label) * a + static_cast<std::size_t>(action)];
    double log_loss = a >= k ? -std::log(p[label]) : INFINITY;
    if (game.smooth()) {
      // From the potentials: exact where the probability itself underflows.
      const double* psi = predictions.psi.data() + i * k;
      for (std::size_t y = 0; y < k; ++y) shifted[y] = psi[y] - psi[label];
      game.play(1, shifted.data(), &label, &log_loss, q.data());
    }
    s.log_loss += log_loss;
    s.expected_loss += game.smooth() ? log_loss : game.loss(p, label);
    for (std::size_t y = 0; y < std::min(a, k); ++y) {
      const double error = p[y] - (static_cast<int>(y) == label ? 1 : 0);
      s.brier += error * error;
    }
  }
  if (s.n == s.unknown) {
    fail_input("none of the {} labels is a class that training saw: nothing to compare with", s.n);
  }
  if (a != k && a != k + 1) s.accuracy = s.log_loss = s.brier = std::nan("");
  const auto n = static_cast<double>(s.n);
  const auto known = static_cast<double>(s.n - s.unknown);
  s.accuracy /= n;
  s.abstained /= n;
  s.expected_loss /= known;
  s.log_loss /= known;
  s.brier /= known;
  return s;
}

}  // namespace covshift
