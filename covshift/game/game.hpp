// game/: every loss as a zero-sum game between the predictor and an adversary who picks labels.
// Pure functions of potentials.
//
// The predictor mixes over actions (rows of the cost matrix C) with p, the adversary over labels
// (columns) with q, and the potentials psi pay the adversary for each label:
//
//     V(psi) = min_p max_q  p' (C + 1 psi') q  =  max_q  psi' q + H(q),     H(q) = min_p p' C q
//
// (the paper's inner game with C' = C + potentials, section "Classification Losses"; for log loss
// its Theorem 1). V is convex, V(psi + c 1) = V(psi) + c, and the adversary's q is a subgradient.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace covshift {

/// Costs of actions (rows) against labels (columns), row-major.
struct CostMatrix {
  int actions = 0;
  int labels = 0;
  std::vector<double> cost;
  std::string source = "the cost matrix";  ///< for messages: where it is from

  [[nodiscard]] double operator()(int action, int label) const {
    return cost[static_cast<std::size_t>(action) * labels + label];
  }
};

/// The form of the game's constraints in an interior point method (game/barrier.hpp).
enum class BarrierForm {
  costs,     ///< any cost matrix
  zero_one,  ///< the zero-one matrix: the equations are nearly diagonal
  hinge,     ///< one action, which costs 1 against every label but the true one
  entropy,   ///< log loss: the entropy of q replaces the costs
};

class Game {
 public:
  virtual ~Game() = default;

  /// The loss as users write it: "log", "zero-one", "abstain:0.3", ...
  [[nodiscard]] virtual std::string name() const = 0;
  /// K, the number of labels, and the number of actions (K, or K + 1 with abstention, or any).
  [[nodiscard]] int labels() const { return labels_; }
  [[nodiscard]] int actions() const { return actions_; }

  /// Plays n games: potentials psi and adversaries q are n rows of K, values n numbers. `label`
  /// holds the true label of each row, used by the hinge only.
  virtual void play(std::size_t n, const double* psi, const int* label, double* value,
                    double* q) const = 0;

  /// The same for up to block_rows games, label-major (kernel/kernels.hpp).
  virtual void play_block(std::size_t n, const double* psi, const int* label, double* value,
                          double* q) const;

  /// The predictor's equilibrium distribution over actions for one row of potentials.
  virtual void predict(std::span<const double> psi, std::span<double> p) const = 0;

  /// H(q), the Bayes risk; for the hinge 1 - q[label].
  [[nodiscard]] virtual double bayes_risk(std::span<const double> q, int label) const = 0;

  /// The loss of p = predict(psi) if the true label is `label`; finite where a probability
  /// underflows.
  [[nodiscard]] virtual double loss(std::span<const double> psi, std::span<const double> p,
                                    int label) const = 0;
  /// The same if p has not been computed.
  [[nodiscard]] virtual double loss_at(std::span<const double> psi, int label) const;
  /// -log of the probability that p = predict(psi) gives to `label`, whatever the game's own loss;
  /// infinite where that is 0, or where labels are not actions.
  [[nodiscard]] virtual double log_loss(std::span<const double> psi, std::span<const double> p,
                                        int label) const;

  /// max_q H(q) + b'q - beta/2 ||q||^2, exactly: a step of dual coordinate ascent. Not for log
  /// loss.
  virtual void proximal(std::span<const double> b, double beta, int label,
                        std::span<double> q) const;

  /// The cost matrix; null for log loss, and for the hinge, whose single row 1 - e_label depends on
  /// the example.
  [[nodiscard]] virtual const CostMatrix* costs() const { return nullptr; }
  [[nodiscard]] BarrierForm barrier_form() const { return barrier_form_; }
  /// True if the one action costs 1 against every label but the true one (the hinge).
  [[nodiscard]] bool label_costs() const { return barrier_form_ == BarrierForm::hinge; }
  /// The loss of the predictions, if training minimises another one that bounds it (the hinge).
  [[nodiscard]] virtual std::string predicted_loss() const { return name(); }
  /// Of values and losses: " nats", or nothing.
  [[nodiscard]] virtual std::string_view unit() const { return ""; }
  /// True if predictions are probabilities of the classes, which can be mixed, and must not reach 0
  /// where nothing shows it (log loss); otherwise they are strategies, in which 0 is legitimate.
  [[nodiscard]] bool probabilistic() const { return barrier_form_ == BarrierForm::entropy; }
  /// True if V is smooth (log loss); otherwise it is piecewise linear.
  [[nodiscard]] bool smooth() const { return barrier_form_ == BarrierForm::entropy; }

 protected:
  Game(int labels, int actions, BarrierForm form)
      : barrier_form_(form), labels_(labels), actions_(actions) {}

 private:
  BarrierForm barrier_form_;
  int labels_;
  int actions_;
};

/// log loss: V = logsumexp(psi), p = q = softmax(psi).
std::unique_ptr<Game> log_game(int labels);
/// zero-one loss: V = max_k (sum of the k largest + k - 1) / k.
std::unique_ptr<Game> zero_one_game(int labels);
/// absolute loss |action - label| on ordered classes.
std::unique_ptr<Game> absolute_game(int labels);
/// squared loss (action - label)^2 on ordered classes.
std::unique_ptr<Game> squared_game(int labels);
/// zero-one loss with one more action, "abstain", which always costs `cost`.
std::unique_ptr<Game> abstain_game(int labels, double cost);
/// Any cost matrix (rows: actions, columns: labels), solved as a linear program.
std::unique_ptr<Game> cost_game(CostMatrix costs, std::string name = "cost");
/// Crammer-Singer hinge loss, the baseline: V = max_k psi_k + [k != label], H(q) = 1 - q[label].
std::unique_ptr<Game> hinge_game(int labels);

/// The game for a loss as users write it, one of loss_names(); for a cost matrix use cost_game.
std::unique_ptr<Game> make_game(const std::string& loss, int labels);
/// log, zero-one, ..., abstain:A.
std::span<const std::string_view> loss_names();

}  // namespace covshift
