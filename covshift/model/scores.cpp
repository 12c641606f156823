#include "covshift/model/scores.hpp"

#include <cmath>

#include "covshift/base/error.hpp"

namespace covshift {

Scorer::Scorer(const Game& game) : game_(game) {
  sums_.confusion.assign(
      static_cast<std::size_t>(game.labels()) * static_cast<std::size_t>(game.actions()), 0);
}

void Scorer::add(const Predictions& predictions, std::span<const int> labels) {
  if (labels.size() != predictions.rows) {
    fail_input("{} labels for {} predictions", labels.size(), predictions.rows);
  }
  const auto k = static_cast<std::size_t>(game_.labels());
  const auto a = static_cast<std::size_t>(game_.actions());
  Scores& s = sums_;
  s.n += predictions.rows;
  for (std::size_t i = 0; i < predictions.rows; ++i) {
    const int label = labels[i];
    const int action = predictions.action[i];
    if (a == k + 1 && action == game_.labels()) s.abstained += 1;
    if (label < 0) {
      ++s.unknown;
      continue;
    }
    const std::span<const double> p(predictions.p.data() + i * a, a);
    if (action == label) s.accuracy += 1;
    ++s.confusion[static_cast<std::size_t>(label) * a + static_cast<std::size_t>(action)];
    const std::span<const double> psi(predictions.psi.data() + i * k, k);
    s.log_loss += game_.log_loss(psi, p, label);
    s.expected_loss += game_.loss(psi, p, label);
    for (std::size_t y = 0; y < std::min(a, k); ++y) {
      const double error = p[y] - (static_cast<int>(y) == label ? 1 : 0);
      s.brier += error * error;
    }
  }
}

void Scorer::add_up(const Reducer& reducer) {
  Scores& s = sums_;
  std::vector<double> sums = {static_cast<double>(s.n),
                              static_cast<double>(s.unknown),
                              s.accuracy,
                              s.abstained,
                              s.expected_loss,
                              s.log_loss,
                              s.brier};
  const std::size_t fixed = sums.size();
  sums.insert(sums.end(), s.confusion.begin(), s.confusion.end());
  reducer.sum(sums);
  s.n = static_cast<std::size_t>(sums[0]);
  s.unknown = static_cast<std::size_t>(sums[1]);
  s.accuracy = sums[2];
  s.abstained = sums[3];
  s.expected_loss = sums[4];
  s.log_loss = sums[5];
  s.brier = sums[6];
  for (std::size_t j = 0; j < s.confusion.size(); ++j) {
    s.confusion[j] = static_cast<std::size_t>(sums[fixed + j]);
  }
}

Scores Scorer::scores() const {
  Scores s = sums_;
  if (s.n == s.unknown) {
    fail_input("none of the {} labels is a class of the training data: nothing to compare with",
               s.n);
  }
  const int k = game_.labels();
  const int a = game_.actions();
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

Scores score(const Predictions& predictions, std::span<const int> labels, const Game& game) {
  Scorer scorer(game);
  scorer.add(predictions, labels);
  return scorer.scores();
}

}  // namespace covshift
