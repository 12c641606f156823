#include <algorithm>
#include <cmath>

#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

CostMatrix ordinal_costs(int labels, bool squared) {
  CostMatrix c{labels, labels, std::vector<double>(static_cast<std::size_t>(labels) * labels)};
  for (int a = 0; a < labels; ++a) {
    for (int y = 0; y < labels; ++y) {
      const double distance = std::abs(a - y);
      c.cost[static_cast<std::size_t>(a) * labels + y] = squared ? distance * distance : distance;
    }
  }
  return c;
}

/// The predictor of both games: two neighbouring actions mixed to have this mean.
void mix_neighbours(double mean, std::span<double> p) {
  std::fill(p.begin(), p.end(), 0.0);
  const double last = static_cast<double>(p.size()) - 1;
  const double x = std::clamp(mean, 0.0, last);
  const auto left = static_cast<std::size_t>(std::min(std::floor(x), last - 1));
  p[left + 1] = x - static_cast<double>(left);
  p[left] = 1 - p[left + 1];
}

/// absolute loss |a - y|: V = (max_i (psi_i - i) + max_j (psi_j + j)) / 2 (Fathony et al. 2017).
/// The adversary mixes i and j evenly. With alpha, beta the two maxima, psi_y <= min(alpha + y,
/// beta - y), so acting at c = (beta - alpha) / 2 costs |c - y| <= V - psi_y against every label.
class AbsoluteGame final : public MatrixGame {
 public:
  explicit AbsoluteGame(int labels) : MatrixGame(ordinal_costs(labels, false)) {}
  [[nodiscard]] std::string name() const override { return "absolute"; }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const auto k = static_cast<std::size_t>(labels());
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      const Ends e = ends({psi, k});
      value[i] = (psi[e.low] + psi[e.high] + static_cast<double>(e.high - e.low)) / 2;
      std::fill(q, q + k, 0.0);
      q[e.low] += 0.5;
      q[e.high] += 0.5;
    }
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    const Ends e = ends(psi);
    mix_neighbours((psi[e.high] - psi[e.low] + static_cast<double>(e.high + e.low)) / 2, p);
  }

 private:
  struct Ends {
    std::size_t low = 0;   // argmax psi_i - i
    std::size_t high = 0;  // argmax psi_j + j, never below `low`
  };

  static Ends ends(std::span<const double> psi) {
    Ends e;
    for (std::size_t y = 1; y < psi.size(); ++y) {
      // Differences of potentials are more accurate than sums with an index.
      if (psi[y] - psi[e.low] > static_cast<double>(y - e.low)) e.low = y;
      if (psi[y] - psi[e.high] >= -static_cast<double>(y - e.high)) e.high = y;
    }
    e.high = std::max(e.high, e.low);
    return e;
  }
};

/// squared loss (a - y)^2. Acting with mean m costs at least y^2 - 2 y m + s(m), where s joins the
/// squares of the integers by chords (two neighbouring actions), so
///     V = min_m  s(m) + max_y (psi_y + y^2 - 2 y m):
/// the upper envelope of K lines, O(K).
class SquaredGame final : public MatrixGame {
 public:
  explicit SquaredGame(int labels) : MatrixGame(ordinal_costs(labels, true)) {}
  [[nodiscard]] std::string name() const override { return "squared"; }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const auto k = static_cast<std::size_t>(labels());
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      const Equilibrium at = equilibrium({psi, k});
      const double low = static_cast<double>(at.low);
      const double high = static_cast<double>(at.high);
      std::fill(q, q + k, 0.0);
      if (at.low == at.high) {
        q[at.low] = 1;
        value[i] = psi[at.low];
        continue;
      }
      // Both neighbouring actions are equally good against labels of this mean.
      const double mean = std::clamp(std::floor(at.mean) + 0.5, low, high);
      q[at.high] = (mean - low) / (high - low);
      q[at.low] = 1 - q[at.high];
      const double action = std::floor(mean);
      const double risk = q[at.low] * (low - action) * (low - action) +
                          q[at.high] * (high - action) * (high - action);
      value[i] = psi[at.low] + q[at.high] * (psi[at.high] - psi[at.low]) + risk;
    }
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    mix_neighbours(equilibrium(psi).mean, p);
  }

 private:
  struct Equilibrium {
    std::size_t low, high;  // the adversary's labels
    double mean;            // the predictor's mean action, between them
  };

  static Equilibrium equilibrium(std::span<const double> psi) {
    // Where the lines of labels j > i cross: j is above to the left, i to the right.
    const auto crossing = [&](std::size_t j, std::size_t i) {
      const auto dj = static_cast<double>(j);
      const auto di = static_cast<double>(i);
      return ((psi[j] - psi[i]) / (dj - di) + (dj + di)) / 2;
    };
    // The envelope from left to right: labels from large to small.
    Scratch<std::size_t> line(psi.size());
    std::size_t lines = 0;
    for (std::size_t y = psi.size(); y-- > 0;) {
      while (lines >= 2 &&
             crossing(line[lines - 1], y) <= crossing(line[lines - 2], line[lines - 1])) {
        --lines;
      }
      line[lines++] = y;
    }
    // On the interval where the line of label y is on top, the minimum is at m = y.
    for (std::size_t t = 0; t + 1 < lines; ++t) {
      const double until = crossing(line[t], line[t + 1]);
      if (static_cast<double>(line[t]) <= until) return {line[t], line[t], double(line[t])};
      if (static_cast<double>(line[t + 1]) < until) return {line[t + 1], line[t], until};
    }
    const std::size_t last = line[lines - 1];
    return {last, last, static_cast<double>(last)};
  }
};

}  // namespace

std::unique_ptr<Game> absolute_game(int labels) {
  check_labels(labels);
  return std::make_unique<AbsoluteGame>(labels);
}

std::unique_ptr<Game> squared_game(int labels) {
  check_labels(labels);
  return std::make_unique<SquaredGame>(labels);
}

}  // namespace covshift
