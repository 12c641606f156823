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
    const std::span<const double> psi(predictions.psi.data() + i * k, k);
    s.log_loss += game.log_loss(psi, p, label);
    s.expected_loss += game.loss(psi, p, label);
    for (std::size_t y = 0; y < std::min(a, k); ++y) {
      const double error = p[y] - (static_cast<int>(y) == label ? 1 : 0);
      s.brier += error * error;
    }
  }
  if (s.n == s.unknown) {
    fail_input("none of the {} labels is a class of the training data: nothing to compare with",
               s.n);
  }
  if (a != k) s.log_loss = s.brier = std::nan("");
  if (a != k && a != k + 1) s.accuracy = std::nan("");
  const auto n = static_cast<double>(s.n);
  s.accuracy_of_decided = s.accuracy / (n - s.abstained);  // 0/0 is NaN
  const auto known = static_cast<double>(s.n - s.unknown);
  s.accuracy /= n;
  s.abstained /= n;
  s.expected_loss /= known;
  s.log_loss /= known;
  s.brier /= known;
  return s;
}

}  // namespace covshift
