#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "covshift/base/threads.hpp"
#include "covshift/learn/low_rank.hpp"
#include "covshift/learn/sample.hpp"
#include "covshift/learn/solvers.hpp"

namespace covshift {
namespace {

/// Factors the Hessian of examples whose adversaries are q (examples x K).
void factor_at(const std::vector<double>& q, std::size_t k, NewtonSystem& system) {
  system.factor([&](std::size_t i, std::size_t /*lane*/, double* b) {
    const double* own = q.data() + i * k;
    for (std::size_t x = 0; x < k; ++x) {
      for (std::size_t y = 0; y < k; ++y) b[x * k + y] = (x == y ? own[x] : 0) - own[x] * own[y];
    }
  });
}

/// About the optimum of a sample and the curvature that it has: what a large problem starts from
/// and is preconditioned with.
class Scout {
 public:
  Scout(const Examples& all, const SolveOptions& options)
      : sample_(all.problem(), rows(all), options.seed, all.threads()),
        examples_(sample_.problem(), all.threads(), nullptr),
        system_(examples_) {}

  /// Where the parameters are few enough to show in a small sample, and to be factored, and the
  /// examples so many that factoring with all of them would take long.
  static bool worth(const Examples& all, const SolveOptions& options) {
    const std::size_t parameters = NewtonSystem::size(all);
    return options.reducer == nullptr && parameters <= 600 && 4 * rows(all) <= all.size() &&
           static_cast<double>(all.size() * parameters * parameters) > 2e8;
  }
  /// Rows of weight 0 are drawn like others, and are no examples. A free bias needs every class.
  [[nodiscard]] bool usable() const {
    std::vector<bool> seen(examples_.labels());
    for (const int y : examples_.label()) seen[y] = true;
    const bool every_class = std::find(seen.begin(), seen.end(), false) == seen.end();
    return 2 * examples_.size() >= sample_.problem().features.rows &&
           (every_class || !examples_.free_bias());
  }

  [[nodiscard]] RowMatrix optimum(SolveOptions options) const {
    options.observer = nullptr;
    options.tolerance = std::max(1e-2, options.tolerance);
    options.time_limit /= 4;
    options.max_iterations = 20;
    const Solution found = solve_newton(examples_, options);
    return Eigen::Map<const RowMatrix>(found.weights.data(), examples_.dims(), examples_.labels());
  }

  /// Takes the sample's Hessian at weights T for that of all.
  void factor(const RowMatrix& t) {
    const auto k = static_cast<std::size_t>(examples_.labels());
    std::vector<double> q(examples_.size() * k);
    RowMatrix a;
    examples_.pass(t, a, nullptr, keep_rows(examples_.labels(), nullptr, q.data()));
    factor_at(q, k, system_);
  }
  void solve(const RowMatrix& right, RowMatrix& t) const { system_.solve(right, t); }

 private:
  /// So many show what the parameters do.
  static std::size_t rows(const Examples& all) {
    return std::max(all.size() / 32, 8 * NewtonSystem::size(all));
  }

  Sample sample_;
  Examples examples_;
  NewtonSystem system_;
};

/// min_T  sum_i c_i [logsumexp(psi_i) - psi_i[y_i]] + lambda ||T||^2  by Newton's method. Steps
/// come from conjugate gradients, or from the factored Hessian where they are many and that is
/// cheap; where the whole step is not right, an exact line search on cached potentials finds how
/// much of it is.
class Newton {
 public:
  Newton(const Examples& examples, const SolveOptions& options)
      : e_(examples),
        k_(static_cast<std::size_t>(examples.labels())),
        monitor_(examples, options, Solver::newton, 500),
        certify_(examples),
        t_(RowMatrix::Zero(examples.dims(), examples.labels())) {
    if (Scout::worth(examples, options)) {
      scout_ = std::make_unique<Scout>(examples, options);
      if (!scout_->usable()) scout_.reset();
    }
    q_.resize(examples.size() * (k_ - 1));
    if (!scout_ && cheap_steps(examples)) {
      alike_ = std::make_unique<NewtonSystem>(examples);
      alike_->factor_alike();
    }
    if (!alike_ && !scout_) {
      if (LowRank::worth(examples)) {
        low_rank_ = std::make_unique<LowRank>(examples, options.seed);
        if (!low_rank_->usable()) low_rank_.reset();
        may_round_ = true;
      }
      if (!low_rank_) {
        // The Hessian's diagonal where all classes are as likely.
        const double curvature = static_cast<double>(k_ - 1) / static_cast<double>(k_ * k_);
        scale_ = e_.squares();
        if (e_.free_bias() && e_.problem().log_scale.empty()) centre();
        for (std::size_t j = 0; j < scale_.size(); ++j) {
          scale_[j] = 1 / (e_.ridge()[static_cast<Eigen::Index>(j)] + curvature * scale_[j]);
        }
      }
    }
    if (!options.start.empty()) {
      std::copy(options.start.begin(), options.start.end(), t_.data());
    } else if (scout_) {
      t_ = scout_->optimum(options);
    } else if (e_.free_bias() && e_.problem().log_scale.empty()) {
      // The optimum of the bias alone: psi = log share, up to a constant.
      t_.bottomRows<1>() = certify_.class_sums().bottomRows<1>().array().log();
      t_.bottomRows<1>().array() -= t_.bottomRows<1>().mean();
    }
  }

  Solution run() {
    RowMatrix a;
    RowMatrix step(t_.rows(), t_.cols());
    PassTotals totals = look(a);
    int iteration = 0;
    double last_gap = HUGE_VAL;
    for (;; ++iteration) {
      const Bounds bounds = certify_(totals, t_, a);
      if (monitor_.stop(t_, bounds, iteration)) break;
      // A step halves the residual at least, and the gap falls with its square. Where it does not,
      // rounding may have lost what matters, such as small differences between large numbers.
      if (bounds.gap > 0.5 * last_gap) exact();
      last_gap = bounds.gap;
      const auto gradient = e_.ridge().asDiagonal() * t_ - a;  // not kept: as large as the weights
      if (direct_) {
        factor_at(q_rows_, k_, *direct_);
        direct_->solve(-gradient, step);
      } else if (!conjugate_step(gradient, monitor_.target(bounds.objective) / bounds.gap, step)) {
        direct_ = std::move(alike_);
        q_ = {};
        q_rows_.resize(e_.size() * k_);
      }
      const double slope = gradient.cwiseProduct(step).sum();
      if (!(slope < 0)) break;  // rounding: no direction descends any more
      // The whole step first: the pass that judges it is the one that the next step needs.
      t_ += step;
      totals = look(a);
      const double slope_there = (e_.ridge().asDiagonal() * t_ - a).cwiseProduct(step).sum();
      if (std::abs(slope_there) <= 0.5 * -slope) continue;
      t_ -= step;
      const double length = line_search(slope, step);
      if (length == 0) break;
      t_ += length * step;
      totals = look(a);
    }
    return monitor_.finish(iteration);
  }

 private:
  /// A pass at T that keeps q, the curvatures' part: for conjugate gradients without label 0, a
  /// block's labels one after the other.
  PassTotals look(RowMatrix& a) {
    if (direct_) return e_.pass(t_, a, nullptr, keep_rows(e_.labels(), nullptr, q_rows_.data()));
    return e_.pass(t_, a, nullptr, [&](const BlockOf& block) {
      float* out = q_.data() + block.first * (k_ - 1);
      for (std::size_t y = 1; y < k_; ++y) {
        for (std::size_t b = 0; b < block.rows; ++b) {
          *out++ = static_cast<float>(block.back[y * block_rows + b]);
        }
      }
    });
  }

  /// A free bias makes the problem indifferent to a shift of the features: the diagonal of centred
  /// ones, z_j - mean_j, is the better preconditioner, and they need not be formed. With S the map
  /// from their weights to those of the features, bias -= mean'T, it is S D^-1 S'.
  void centre() {
    const Eigen::VectorXd sums = certify_.class_sums().rowwise().sum();
    const Eigen::Index features = sums.size() - 1;
    mean_ = sums.head(features) / sums[features];
    for (Eigen::Index j = 0; j < features; ++j) {
      double& square = scale_[static_cast<std::size_t>(j)];
      square = std::max(square - mean_[j] * sums[j], 1e-12 * square);
    }
  }
  void precondition_centred(const RowMatrix& right, RowMatrix& t) const {
    const Eigen::Index features = mean_.size();
    const Eigen::Map<const Eigen::VectorXd> inverse(scale_.data(), features + 1);
    const Eigen::RowVectorXd of_bias = right.row(features);
    t.topRows(features) =
        inverse.head(features).asDiagonal() * (right.topRows(features) - mean_ * of_bias);
    t.row(features) = inverse[features] * of_bias - mean_.transpose() * t.topRows(features);
  }

  /// No more rounding.
  void exact() {
    rounded_.reset();
    may_round_ = false;
  }

  /// Runs body(begin, end) on pieces of the weights, on all threads, and adds up what it returns;
  /// pieces do not depend on the threads. With many classes the vectors of conjugate gradients are
  /// a tenth of the data.
  template <typename Body>
  double each_piece(const Body& body) {
    const auto size = static_cast<std::size_t>(t_.size());
    const std::size_t pieces = std::clamp<std::size_t>(size >> 15U, 1, 64);
    std::array<double, 64> part{};
    parallel_tasks(e_.threads(), pieces, [&](std::size_t p) {
      part[p] = body(static_cast<Eigen::Index>(size * p / pieces),
                     static_cast<Eigen::Index>(size * (p + 1) / pieces));
    });
    return std::accumulate(part.begin(), part.end(), 0.0);
  }

  /// H x = 2 lambda x + sum_i a_i zhat_i [(diag q - q q') r_i zhat_i' x]'. Conjugate gradients do
  /// not need more digits of q than a float has. Returns x'H x.
  double multiply(const RowMatrix& x, RowMatrix& out) {
    const auto body = [&](const BlockOf& block) {
      const float* q = q_.data() + block.first * (k_ - 1);
      std::array<double, block_rows> mean{};
      for (std::size_t y = 1; y < k_; ++y) {
        const double* move = block.psi + y * block_rows;
        for (std::size_t b = 0; b < block.rows; ++b)
          mean[b] += q[(y - 1) * block.rows + b] * move[b];
      }
      for (std::size_t y = 1; y < k_; ++y) {
        const double* move = block.psi + y * block_rows;
        double* back = block.back + y * block_rows;
        for (std::size_t b = 0; b < block.rows; ++b) {
          back[b] = e_.a()[block.first + b] * q[(y - 1) * block.rows + b] * (move[b] - mean[b]);
        }
      }
    };
    if (rounded_) {
      e_.fused(*rounded_, x, out, body);
    } else {
      e_.fused(x, out, body);
    }
    return each_piece([&](Eigen::Index begin, Eigen::Index end) {
      double sum = 0;
      for (Eigen::Index j = begin; j < end; ++j) {
        out.data()[j] += e_.ridge()[j / static_cast<Eigen::Index>(k_)] * x.data()[j];
        sum += x.data()[j] * out.data()[j];
      }
      return sum;
    });
  }

  /// Truncated: as exact as the distance from the optimum deserves (superlinear convergence), but
  /// no more than it takes to bring the gap, which falls with the residual's square, to `share`.
  /// False if it has taken as long as a step by the factored Hessian would.
  template <typename Gradient>
  bool conjugate_step(const Gradient& gradient, double share, RowMatrix& step) {
    step.setZero();
    if (scout_) scout_->factor(t_);
    if (may_round_ && products_ > 1) {  // it is not over at once: rounding will be worth its time
      rounded_ = e_.rounded();
      may_round_ = false;
    }
    RowMatrix residual = -gradient;
    // The residual, preconditioned, or a product with the Hessian: never both.
    RowMatrix work = RowMatrix::Zero(t_.rows(), t_.cols());
    // residual -= length work, and work becomes the preconditioned residual; their inner product.
    const auto precondition = [&](double length) {
      if (scout_ || low_rank_ || alike_ || mean_.size() > 0) {
        residual -= length * work;
        if (scout_) {
          scout_->solve(residual, work);
        } else if (low_rank_) {
          low_rank_->solve(residual, work);
        } else if (mean_.size() > 0) {
          precondition_centred(residual, work);
        } else {
          alike_->solve(residual, work);
        }
        return residual.cwiseProduct(work).sum();
      }
      return each_piece([&](Eigen::Index begin, Eigen::Index end) {
        double sum = 0;
        for (Eigen::Index j = begin; j < end; ++j) {
          double& left = residual.data()[j];
          left -= length * work.data()[j];
          work.data()[j] = left * scale_[static_cast<std::size_t>(j) / k_];
          sum += left * work.data()[j];
        }
        return sum;
      });
    };
    double squared = precondition(0);
    RowMatrix direction = work;
    const double first = std::sqrt(squared);
    if (largest_ == 0) largest_ = first;
    const double digits = rounded_ ? 0.01 : 0;  // that its products have
    const double enough =
        std::min(0.5, std::max({digits, std::sqrt(first / largest_), 0.2 * std::sqrt(share)})) *
        first;
    const std::size_t limit = alike_ ? std::max<std::size_t>(10, NewtonSystem::size(e_) / 8) : 500;
    for (std::size_t round = 0; std::sqrt(squared) > enough; ++round) {
      if (round == limit) return !alike_;
      if (monitor_.out_of_time()) return true;
      const auto curvature_of = [&] {
        ++products_;
        return multiply(direction, work);
      };
      double curvature = curvature_of();
      if (rounded_ && !(curvature > 0 && std::isfinite(curvature))) {  // beyond what floats hold
        exact();
        curvature = curvature_of();
      }
      if (!(curvature > 0)) return true;
      const double length = squared / curvature;
      const double next = precondition(length);
      each_piece([&](Eigen::Index begin, Eigen::Index end) {
        for (Eigen::Index j = begin; j < end; ++j) {
          double& along = direction.data()[j];
          step.data()[j] += length * along;
          along = work.data()[j] + next / squared * along;
        }
        return 0.0;
      });
      squared = next;
    }
    return true;
  }

  /// The length at which the derivative along `step` is (nearly) 0: a safeguarded secant search on
  /// the derivative, which keeps its digits where differences of F have none left.
  double line_search(double slope_0, const RowMatrix& step) {
    psi_.resize(e_.size() * k_);
    move_.resize(e_.size() * k_);
    e_.potentials(t_, psi_.data());
    e_.potentials(step, move_.data());
    const double ridge = (e_.ridge().asDiagonal() * t_).cwiseProduct(step).sum();
    const double ridge_2 = (e_.ridge().asDiagonal() * step).cwiseProduct(step).sum();
    const auto slope = [&](double length) { return ridge + length * ridge_2 + loss_slope(length); };
    double low = 0;
    double low_slope = slope_0;
    double high = 0;
    double high_slope = 0;
    double length = 1;
    for (int trial = 0; trial < 60; ++trial) {
      const double here = slope(length);
      if (std::abs(here) <= 0.1 * -slope_0) return length;
      if (here < 0) {
        low = length;
        low_slope = here;
      } else {
        high = length;
        high_slope = here;
      }
      if (high == 0) {
        length *= 4;
      } else {
        // Regula falsi, kept off the ends.
        const double guess = low + (high - low) * (-low_slope) / (high_slope - low_slope);
        length = std::clamp(guess, low + 0.1 * (high - low), high - 0.1 * (high - low));
      }
    }
    return low;
  }

  double loss_slope(double length) {
    std::vector<double> partial(e_.lanes());
    e_.each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
      std::vector<double> psi(k_ * block_rows);
      std::vector<double> q(k_ * block_rows);
      std::array<double, block_rows> value{};
      double sum = 0;
      for (std::size_t first = begin; first < end; first += block_rows) {
        const std::size_t n = std::min(block_rows, end - first);
        const double* from = psi_.data() + first * k_;
        const double* move = move_.data() + first * k_;
        for (std::size_t b = 0; b < n; ++b) {
          for (std::size_t y = 0; y < k_; ++y) {
            psi[y * block_rows + b] = from[b * k_ + y] + length * move[b * k_ + y];
          }
        }
        e_.game().play_block(n, psi.data(), e_.label().data() + first, value.data(), q.data());
        for (std::size_t b = 0; b < n; ++b) {
          double change = -move[b * k_ + e_.label()[first + b]];
          for (std::size_t y = 0; y < k_; ++y) change += q[y * block_rows + b] * move[b * k_ + y];
          sum += e_.c()[first + b] * change;
        }
      }
      partial[lane] = sum;
    });
    double total = 0;
    for (const double part : partial) total += part;
    e_.reducer().sum({&total, 1});
    return total;
  }

  const Examples& e_;
  std::size_t k_;
  Monitor monitor_;
  Certifier certify_;
  RowMatrix t_;
  std::unique_ptr<NewtonSystem> direct_;
  std::vector<double> q_rows_;           // with direct_
  std::unique_ptr<NewtonSystem> alike_;  // where all classes are as likely: a preconditioner
  std::vector<float> q_;
  std::vector<double> psi_, move_;
  std::unique_ptr<Scout> scout_;
  std::unique_ptr<LowRank> low_rank_;
  std::optional<RoundedRows> rounded_;  // for products with the Hessian, where rows are long
  bool may_round_ = false;
  int products_ = 0;
  std::vector<double> scale_;  // without either: the inverse of a diagonal preconditioner
  Eigen::VectorXd mean_;       // of features whose diagonal is that of centred ones
  double largest_ = 0;
};

}  // namespace

Solution solve_newton(const Examples& examples, const SolveOptions& options) {
  return Newton(examples, options).run();
}

}  // namespace covshift
