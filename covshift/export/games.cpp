// The predictors of the games, as the files of game/ have them.

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/export/parts.hpp"

namespace covshift {
namespace {

using Numbers = std::vector<double>;

/// 0, 1, ..., n - 1 as a row.
Numbers count_up(std::size_t n) {
  Numbers row(n);
  for (std::size_t y = 0; y < n; ++y) row[y] = static_cast<double>(y);
  return row;
}

/// Potentials below the largest of their row.
Tensor below_top(const Tensor& psi) { return psi - over_row("ReduceMax", psi); }

/// 1 for the first largest of each row, 0 for the others.
Tensor one_hot_top(const Tensor& psi, std::size_t labels) {
  Graph& g = *psi.graph;
  const Tensor top = g.node("ArgMax", {psi}, {{"axis", 1}, {"keepdims", 1}});
  std::vector<std::int64_t> all(labels);
  for (std::size_t y = 0; y < labels; ++y) all[y] = static_cast<std::int64_t>(y);
  return same(top, g.integers(all));
}

/// The `count` largest of each row, descending.
Tensor largest(const Tensor& psi, std::size_t count) {
  Graph& g = *psi.graph;
  return g.node("TopK", {psi, g.integers({static_cast<std::int64_t>(count)})}, {{"axis", 1}}, 2);
}

/// p = max(0, 1 + psi - V), V = max_k (sum of the k largest + k - 1) / k.
Tensor zero_one(const Tensor& psi, std::size_t labels) {
  Graph& g = *psi.graph;
  const Tensor near = at_least(below_top(psi), -1);  // what is lower never joins
  Numbers means(labels * labels, 0.0);  // the means of the k first of a row, a column for each k
  Numbers costs(labels);
  for (std::size_t k = 1; k <= labels; ++k) {
    const auto size = static_cast<double>(k);
    for (std::size_t i = 0; i < k; ++i) means[i * labels + k - 1] = 1 / size;
    costs[k - 1] = (size - 1) / size;
  }
  const Tensor gain = over_row(
      "ReduceMax", times(largest(near, labels), g.numbers(means, labels)) + g.numbers(costs));
  const Tensor p = at_least(near + 1.0 - gain, 0);
  return p / over_row("ReduceSum", p);
}

/// Two neighbouring actions mixed to have this mean.
Tensor mix_neighbours(const Tensor& mean, std::size_t labels) {
  Graph& g = *mean.graph;
  const Tensor x = clip(mean, 0, static_cast<double>(labels) - 1);
  return at_least(1.0 - apply("Abs", x - g.numbers(count_up(labels))), 0);
}

/// The mean is (max_j (psi_j + j) - max_i (psi_i - i)) / 2.
Tensor absolute(const Tensor& psi, std::size_t labels) {
  const Tensor near = below_top(psi);
  const Tensor label = psi.graph->numbers(count_up(labels));
  const Tensor mean =
      (over_row("ReduceMax", near + label) - over_row("ReduceMax", near - label)) * 0.5;
  return mix_neighbours(mean, labels);
}

/// The mean m minimises F(m) = s(m) + max_y (psi_y + y^2 - 2 y m), where s has the slope 2n + 1
/// between n and n + 1. There F falls while a line of some y > n is above those of all z <= n, that
/// is up to max_y min_z of where the two cross; F is convex, so m is the sum of these stretches.
Tensor squared(const Tensor& psi, std::size_t labels) {
  Graph& g = *psi.graph;
  const auto k = static_cast<std::int64_t>(labels);
  Numbers distance(labels * labels, 1.0);
  Numbers middle(labels * labels);
  for (std::size_t y = 0; y < labels; ++y) {
    for (std::size_t z = 0; z < labels; ++z) {
      if (y != z) distance[y * labels + z] = 2 * (static_cast<double>(y) - static_cast<double>(z));
      middle[y * labels + z] = static_cast<double>(y + z) / 2;
    }
  }
  const Tensor upper = g.node("Unsqueeze", {psi, g.integers({2})});
  const Tensor lower = g.node("Unsqueeze", {psi, g.integers({1})});
  const Tensor crossing =  // rows x labels x labels
      (upper - lower) / g.numbers(distance, labels) + g.numbers(middle, labels);
  std::vector<Tensor> until;
  for (std::int64_t n = 0; n + 1 < k; ++n) {
    const Tensor own = g.node(
        "Slice", {crossing, g.integers({n + 1, 0}), g.integers({k, n + 1}), g.integers({1, 2})});
    const Tensor lowest = g.node("ReduceMin", {own, g.integers({2})}, {{"keepdims", 0}});
    until.push_back(over_row("ReduceMax", lowest));
  }
  const Tensor stretches = clip(beside(until) - g.numbers(count_up(labels - 1)), 0, 1);
  return mix_neighbours(over_row("ReduceSum", stretches), labels);
}

/// The leader with probability min(1, lead), else the last action. Where abstaining never pays, as
/// zero-one.
Tensor abstain(const Game& game, const Tensor& psi, std::size_t labels) {
  const std::string name = game.name();
  const double cost = parse_number(name.substr(name.find(':') + 1)).value_or(1);
  if (cost >= 1 - 1.0 / static_cast<double>(labels) && cost > 0.5) {
    return beside({zero_one(psi, labels), over_row("ReduceMax", psi) * 0.0});
  }
  if (cost > 0.5) {
    fail_input(
        "the loss {} with {} classes has no closed form: each prediction is a linear program, "
        "which ONNX has no operator for; predict with covshift, or fit with a cost of at most 0.5",
        name, labels);
  }
  const Tensor two = largest(psi, 2);
  const Tensor lead = at_most(columns_of(two, {0}) - columns_of(two, {1}), 1);
  return beside({one_hot_top(psi, labels) * lead, 1.0 - lead});
}

}  // namespace

Tensor predictor(const Game& game, const Tensor& psi) {
  const std::string name = game.name();
  const auto labels = static_cast<std::size_t>(game.labels());
  if (name == "log") return psi.graph->node("Softmax", {psi}, {{"axis", 1}});
  if (name == "zero-one") return zero_one(psi, labels);
  if (name == "absolute") return absolute(psi, labels);
  if (name == "squared") return squared(psi, labels);
  if (name == "hinge") return one_hot_top(psi, labels);
  if (name.starts_with("abstain:")) return abstain(game, psi, labels);
  fail_input(
      "the loss '{}' has no closed form: each prediction is a linear program, which ONNX has no "
      "operator for; predict with covshift, or fit with another loss",
      name);
}

}  // namespace covshift
