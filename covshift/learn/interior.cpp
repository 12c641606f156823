#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "covshift/game/barrier.hpp"
#include "covshift/learn/newton_system.hpp"
#include "covshift/learn/objective.hpp"
#include "covshift/learn/rules.hpp"
#include "covshift/learn/solver_parts.hpp"

namespace covshift {
namespace {

/// The training problem of a game with costs as one quadratic program,
///     min  sum_i c_i (v_i - psi_i[y_i]) + lambda ||T||^2
///     s.t. v_i >= (C'p_i)_y + psi_i[y] for every label y,   p_i a distribution,
/// by Mehrotra's predictor-corrector interior point method; multipliers of the inequalities,
/// divided by c_i, are the adversaries q_i. For log loss the entropy of q_i takes the place of p_i.
/// Everything but T is eliminated example by example (BarrierBlock), so a step costs as much as a
/// Newton step. The number of steps hardly depends on lambda, the weights or the game: q is a
/// variable, so potentials that saturate, which stall Newton's method, do no harm.
class Interior {
 public:
  Interior(const Examples& examples, const SolveOptions& options)
      : examples_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::interior, 200),
        certify_(examples),
        system_(examples),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())),
        psi_(examples.size() * k_),
        q_(examples.size() * k_) {
    // Before the other allocations, since this needs much memory temporarily.
    std::optional<RowMatrix> near;
    if (options.start.empty() && start_from_log_loss(examples)) {
      near = log_start(examples, options, q_);
    }
    for (std::size_t lane = 0; lane < examples_.lanes(); ++lane) {
      lanes_.emplace_back(examples_.game());
    }
    const BarrierBlock& block = lanes_[0].block;
    stride_ = block.state_size();
    state_.resize(examples_.size() * stride_);
    step_.resize(examples_.size() * stride_);
    keep_factors_ = block.factors_cost() && examples_.size() * block.factor_size() <= (1U << 22U);
    if (keep_factors_) factors_.resize(examples_.size() * block.factor_size());
    // Slacks start at how far an example's potentials may move; lambda ||T||^2 <= F(0) bounds T.
    double start = 0;
    for (std::size_t i = 0; i < examples_.size(); ++i) start += examples_.c()[i] * block.range();
    examples_.reducer().sum({&start, 1});
    const double bound = 0.03 * std::sqrt(start / examples_.lambda());
    unit_.resize(examples_.size());
    each_example([&](std::size_t i) {
      unit_[i] = block.range() + examples_.r(i) * std::sqrt(examples_.norm2(i)) * bound;
    });
    double share = std::inner_product(unit_.begin(), unit_.end(), examples_.c().begin(), 0.0);
    examples_.reducer().sum({&share, 1});
    // The target is the quadratic program's central path, on which all products c q s are equal.
    // (Equal products q s take up to ten times the steps for weights of e^-10 to e^10.) The limit
    // keeps numbers finite.
    const std::vector<double> reach = unit_;
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      unit_[i] = std::min(share / examples_.c()[i], 1e30 * unit_[i]);
      weight_ += examples_.c()[i] * unit_[i];
    }
    if (!options.start.empty()) {
      std::copy(options.start.begin(), options.start.end(), t_.data());
      start_from(false, reach);
    } else if (near) {
      t_ = *near;
      start_from(true, reach);
    } else {
      each_example([&](std::size_t i) {
        block.start(examples_.label()[i], slack_of(i, reach[i]), &state_[i * stride_]);
      });
    }
    const std::size_t products = (stride_ - 2) / 2;  // q s and p pi of an example
    weight_ *= static_cast<double>(products);
    examples_.reducer().sum({&weight_, 1});
  }

  Solution run() {
    RowMatrix a;
    RowMatrix right;
    RowMatrix change(t_.rows(), t_.cols());
    int iteration = 0;
    double best_tau = 1e300;
    int since_progress = 0;
    for (double tau = advance_all(0);; ++iteration) {
      const PassTotals totals = certify_pass(a);
      if (monitor_.stop(t_, certify_(totals, t_, a), iteration)) break;

      // Predictor: straight for complementarity 0.
      system_.factor([&](std::size_t i, std::size_t lane, double* b) {
        BarrierBlock& block = lanes_[lane].block;
        block.factor(block.map(&state_[i * stride_]), examples_.label()[i], 0, factors(i, lane));
        block.response({b, k_ * k_});
      });
      const Outlook predictor = newton_step(0, false, a, right, change);
      const double reach = std::min(1.0, predictor.longest);
      const double left = 1 + reach * (predictor.slope + reach * predictor.curvature) / tau;
      const double ratio = std::clamp(left, 0.0, 1.0);
      // Corrector: centred as much as the predictor fell short, with its second-order term. If tau
      // no longer falls (the method can cycle), a step that only centres.
      since_progress = tau < 0.9 * best_tau ? 0 : since_progress + 1;
      best_tau = std::min(best_tau, tau);
      const bool stalled = since_progress > 5;
      const Outlook corrector =
          newton_step(tau * (stalled ? 0.5 : ratio * ratio * ratio), !stalled, a, right, change);
      const double length = std::min(1.0, 0.995 * corrector.longest);
      if (!(length > 1e-13)) break;  // rounding: no step left
      t_ += length * change;
      tau = advance_all(length);
    }
    Solution solution = monitor_.finish(iteration);
    solution.adversary = std::move(q_);
    return solution;
  }

 private:
  /// How long a step along step_ can be, and how the mean product, in units, changes with its
  /// length.
  struct Outlook {
    double longest = 1e300;
    double slope = 0;
    double curvature = 0;
  };
  /// The workspace of a lane, aligned to avoid false sharing.
  struct alignas(128) Lane {
    explicit Lane(const Game& game)
        : block(game),
          memory(2 * BarrierBlock::apart + block.factor_size() + game.labels()),
          factors(memory.data() + BarrierBlock::apart),
          row(factors + block.factor_size(), static_cast<std::size_t>(game.labels())) {}
    BarrierBlock block;
    std::vector<double> memory;
    double* factors;
    std::span<double> row;
    Outlook outlook;
    double products = 0;
  };

  /// body(i) for every example, on all threads.
  template <typename Body>
  void each_example(const Body& body) const {
    examples_.each_lane([&](std::size_t begin, std::size_t end, std::size_t /*lane*/) {
      for (std::size_t i = begin; i < end; ++i) body(i);
    });
  }

  /// The slack that example i starts with: a tiny weight has products so far above others as target
  /// that no step from an ordinary slack would go there.
  [[nodiscard]] double slack_of(std::size_t i, double ordinary) const {
    return std::max(ordinary, 1e-6 * unit_[i]);
  }

  /// Starts from the players at the weights t_, moved away from the boundary, which interior point
  /// methods are slow to leave. The adversaries of the log loss optimum, in q_, are already
  /// interior and nearly feasible. `reach`: how far an example's potentials may move.
  void start_from(bool log_optimum, const std::vector<double>& reach) {
    const double back_q = log_optimum ? 1e-4 : 0.3;
    constexpr double back_p = 0.3;
    RowMatrix a;
    examples_.pass(t_, a, nullptr,
                   keep_rows(examples_.labels(), psi_.data(), log_optimum ? nullptr : q_.data()));
    const BarrierBlock& block = lanes_[0].block;
    each_example([&](std::size_t i) {
      const std::span<const double> psi(&psi_[i * k_], k_);
      BarrierState x = block.map(&state_[i * stride_]);
      for (std::size_t y = 0; y < k_; ++y) {
        x.q[y] = (1 - back_q) * q_[i * k_ + y] + back_q / static_cast<double>(k_);
      }
      if (!x.p.empty()) examples_.game().predict(psi, x.p);
      for (double& p : x.p) p = (1 - back_p) * p + back_p / static_cast<double>(x.p.size());
      const double slack = slack_of(i, 0.1 * (log_optimum ? block.range() : reach[i]));
      block.set_slacks(examples_.label()[i], psi, slack, &state_[i * stride_]);
    });
  }

  /// A pass with the current adversaries, normalised.
  PassTotals certify_pass(RowMatrix& a) {
    each_example([&](std::size_t i) {
      const double* q = &state_[i * stride_];
      const double sum = std::accumulate(q, q + k_, 0.0);
      for (std::size_t y = 0; y < k_; ++y) q_[i * k_ + y] = q[y] / sum;
    });
    return examples_.pass(t_, a, q_.data(), keep_rows(examples_.labels(), psi_.data(), nullptr));
  }

  /// Takes a step along step_. Returns the mean product q s or p pi, in units, after it.
  double advance_all(double length) {
    examples_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      const BarrierBlock& block = lanes_[lane].block;
      double products = 0;
      for (std::size_t i = begin; i < end; ++i) {
        BarrierState x = block.map(&state_[i * stride_]);
        advance(x, block.map(&step_[i * stride_]), length);
        block.unmap(x, &state_[i * stride_]);
        products += examples_.c()[i] * complementarity(x);
      }
      lanes_[lane].products = products;
    });
    double total = 0;
    for (const Lane& lane : lanes_) total += lane.products;
    examples_.reducer().sum({&total, 1});
    return total / weight_;
  }

  /// Memory for the factored equations of example i: its own if factoring is slow and the factors
  /// are small, else the lane's.
  double* factors(std::size_t i, std::size_t lane) {
    Lane& own = lanes_[lane];
    return keep_factors_ ? &factors_[i * own.block.factor_size()] : own.factors;
  }

  /// Sets up the equations of example i for a step towards complementarity `tau`.
  void prepare(std::size_t i, std::size_t lane, double tau, bool second_order) {
    BarrierBlock& block = lanes_[lane].block;
    const BarrierState x = block.map(&state_[i * stride_]);
    if (keep_factors_) {
      block.use(examples_.label()[i], 0, factors(i, lane));
    } else {
      block.factor(x, examples_.label()[i], 0, factors(i, lane));
    }
    BarrierState affine;
    if (second_order) affine = block.map(&step_[i * stride_]);
    block.aim(x, {&psi_[i * k_], k_}, tau * unit_[i], second_order ? &affine : nullptr);
  }

  /// Solves for the change of T and every example's step towards complementarity `tau`; the
  /// second-order term uses the previous step_.
  Outlook newton_step(double tau, bool second_order, const RowMatrix& a, RowMatrix& right,
                      RowMatrix& change) {
    examples_.collect(
        [&](const ExampleBlock& at) {
          Lane& lane = lanes_[at.lane];
          for (std::size_t b = 0; b < at.rows; ++b) {
            const std::size_t i = at.first + b;
            prepare(i, at.lane, tau, second_order);
            lane.block.answer({}, lane.row);
            for (std::size_t y = 0; y < k_; ++y) {
              at.back[y * block_rows + b] = examples_.a()[i] * lane.row[y];
            }
          }
        },
        right);
    right = a - examples_.ridge().asDiagonal() * t_ - right;
    system_.solve(right, change);
    for (Lane& lane : lanes_) lane.outlook = {};
    examples_.potentials(change, [&](const ExampleBlock& at) {
      Lane& lane = lanes_[at.lane];
      for (std::size_t b = 0; b < at.rows; ++b) {
        const std::size_t i = at.first + b;
        prepare(i, at.lane, tau, second_order);
        for (std::size_t y = 0; y < k_; ++y) lane.row[y] = at.psi[y * block_rows + b];
        const BarrierState x = lane.block.map(&state_[i * stride_]);
        BarrierState d = lane.block.map(&step_[i * stride_]);
        lane.block.step(x, lane.row, d);
        lane.block.unmap(d, &step_[i * stride_]);
        project(x, d, examples_.c()[i], lane.outlook);
      }
    });
    Outlook all;
    std::array<double, 2> sums{};
    for (const Lane& lane : lanes_) {
      all.longest = std::min(all.longest, lane.outlook.longest);
      sums[0] += lane.outlook.slope / weight_;
      sums[1] += lane.outlook.curvature / weight_;
    }
    all.longest = -all.longest;
    examples_.reducer().max({&all.longest, 1});
    examples_.reducer().sum(sums);
    return {-all.longest, sums[0], sums[1]};
  }

  static void project(const BarrierState& x, const BarrierState& d, double weight,
                      Outlook& outlook) {
    outlook.longest = std::min(outlook.longest, longest_step(x, d));
    double slope = 0;
    double curvature = 0;
    const auto add = [&](std::span<const double> u, std::span<const double> v,
                         std::span<const double> du, std::span<const double> dv) {
      for (std::size_t j = 0; j < u.size(); ++j) {
        slope += u[j] * dv[j] + du[j] * v[j];
        curvature += du[j] * dv[j];
      }
    };
    add(x.q, x.s, d.q, d.s);
    add(x.p, x.pi, d.p, d.pi);
    outlook.slope += weight * slope;
    outlook.curvature += weight * curvature;
  }

  const Examples& examples_;
  std::size_t k_;
  Monitor monitor_;
  Certifier certify_;
  NewtonSystem system_;
  std::vector<Lane> lanes_;
  RowMatrix t_;
  std::size_t stride_ = 0;
  std::vector<double> state_, step_;  // the players and their slacks, example by example
  std::vector<double> psi_, q_;
  bool keep_factors_ = true;
  std::vector<double> factors_;
  std::vector<double> unit_;  // target of an example's products q s and p pi, relative to tau
  double weight_ = 0;         // sum of c_i unit_i over all products
};

/// The scale that minimises F(scale T), to about a tenth: where the derivative changes sign.
double best_scale(const Examples& examples, const RowMatrix& t) {
  RowMatrix a;
  const auto slope = [&](double scale) {
    examples.pass(scale * t, a);
    return (scale * (examples.ridge().asDiagonal() * t) - a).cwiseProduct(t).sum();
  };
  double scale = 0.5;
  const double factor = slope(scale) < 0 ? 2 : 0.5;
  for (int trial = 0; trial < 20; ++trial) {
    scale *= factor;
    if ((slope(scale) < 0) != (factor > 1)) break;
  }
  // Between the last two: bisection on a logarithmic scale.
  double low = factor > 1 ? scale / 2 : scale;
  double high = 2 * low;
  while (high > 1.2 * low) {
    scale = std::sqrt(low * high);
    (slope(scale) < 0 ? low : high) = scale;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::optional<RowMatrix> log_start(const Examples& examples, const SolveOptions& options,
                                   std::span<double> q) {
  const auto game = log_game(examples.labels());
  Problem problem = examples.problem();
  problem.game = game.get();
  const Examples log(problem, examples.threads(), options.reducer);
  SolveOptions rough = options;
  rough.tolerance = std::max(1e-2, options.tolerance);
  rough.max_iterations = 12;
  rough.time_limit /= 4;
  rough.observer = nullptr;
  const Solution found = solve_newton(log, rough);
  if (found.status != Status::converged) return {};
  RowMatrix t =
      Eigen::Map<const RowMatrix>(found.weights.data(), examples.dims(), examples.labels());
  if (t.isZero(0)) return {};
  RowMatrix a;
  log.pass(t, a, nullptr, keep_rows(examples.labels(), nullptr, q.data()));
  t *= best_scale(examples, t);
  return t;
}

Solution solve_interior(const Examples& examples, const SolveOptions& options) {
  return Interior(examples, options).run();
}

}  // namespace covshift
