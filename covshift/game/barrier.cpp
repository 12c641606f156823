#include "covshift/game/barrier.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

/// In-place LU factors of a small n x n matrix, row-major, with partial pivoting; the pivots follow
/// the matrix in memory. Slacks and distributions span many orders of magnitude near the solution:
/// elimination in a fixed order (Cholesky of a reduced matrix) would lose the free directions.
void lu_factor(double* a, std::size_t n) {
  double* pivot = a + n * n;
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t best = j;
    for (std::size_t i = j + 1; i < n; ++i) {
      if (std::abs(a[i * n + j]) > std::abs(a[best * n + j])) best = i;
    }
    pivot[j] = static_cast<double>(best);
    if (best != j) std::swap_ranges(a + j * n, a + (j + 1) * n, a + best * n);
    if (a[j * n + j] == 0) a[j * n + j] = 1e-300;
    const double inverse = 1 / a[j * n + j];
    for (std::size_t i = j + 1; i < n; ++i) {
      const double factor = a[i * n + j] *= inverse;
      if (factor == 0) continue;
      for (std::size_t k = j + 1; k < n; ++k) a[i * n + k] -= factor * a[j * n + k];
    }
  }
}

void lu_solve(const double* a, std::size_t n, double* x) {
  const double* pivot = a + n * n;
  for (std::size_t j = 0; j < n; ++j) std::swap(x[j], x[static_cast<std::size_t>(pivot[j])]);
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
}

/// D dq + 1 dv = g, 1'dq = e with D diagonal. The label of the smallest D, the top, is left to the
/// sum: near the optimum, where D vanishes for labels that are played, it would otherwise be a
/// difference without digits, divided by D.
struct Alone {
  const double* inverse;  // of D; 0 for the top
  double d_top;
  double share;  // 1 / (1 + d_top sum inverse)
  std::size_t top;

  static constexpr std::size_t size(std::size_t labels) { return labels + 3; }
  Alone(const double* memory, std::size_t labels)
      : inverse(memory),
        d_top(memory[labels]),
        share(memory[labels + 1]),
        top(static_cast<std::size_t>(memory[labels + 2])) {}
  /// Where `memory` begins with D.
  static void factor(std::size_t labels, double* memory) {
    const auto top = static_cast<std::size_t>(std::min_element(memory, memory + labels) - memory);
    const double d_top = memory[top];
    double weight = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      memory[y] = y == top ? 0 : 1 / memory[y];
      weight += memory[y];
    }
    memory[labels] = d_top;
    memory[labels + 1] = 1 / (1 + d_top * weight);
    memory[labels + 2] = static_cast<double>(top);
  }
  /// x holds g and e, then dq and dv.
  void solve(std::size_t labels, double* x) const {
    double others = 0;
    for (std::size_t y = 0; y < labels; ++y) others += inverse[y] * (x[y] - x[top]);
    const double rest = (x[labels] - others) * share;
    const double v = x[top] - d_top * rest;
    for (std::size_t y = 0; y < labels; ++y) x[y] = inverse[y] * (x[y] - v);
    x[top] = rest;
    x[labels] = v;
  }
  /// dq for g = e_y, all else 0, is column (and row) y of b.
  void response(std::size_t labels, double* b) const {
    for (std::size_t y = 0; y < labels; ++y) {
      double* row = b + y * labels;
      const double v = y == top ? share : d_top * inverse[y] * share;
      for (std::size_t z = 0; z < labels; ++z) row[z] = inverse[z] * ((z == y ? 1 : 0) - v);
      row[top] = -inverse[y] * share;
    }
    double weight = 0;
    for (std::size_t y = 0; y < labels; ++y) weight += inverse[y];
    b[top * labels + top] = weight * share;
  }
};

/// The equations of the zero-one game, C = 1 1' - I: with v' = dv - 1'dp and n' = dnu - 1'dq
///     D dq + dp + 1 v' = g,    -dq + P dp - 1 n' = h,    1'dq = e,    1'dp = f,
/// D and P diagonal, fall apart into two for each label but for v' and n'. D P + 1, by which all
/// is divided, is never small. But where only one of D and P is, differences from v' or n' are
/// divided by it, so that a solution is to be refined once.
struct ZeroOne {
  const double* share;    // 1 / (D P + 1)
  const double* share_d;  // P / (D P + 1)
  const double* share_p;  // D / (D P + 1)
  const double* sums;     // a, b, c of share_d, share, share_p, over a c + b^2
  const double* d;
  const double* p;

  static constexpr std::size_t size(std::size_t labels) { return 5 * labels + 3; }
  ZeroOne(const double* memory, std::size_t labels)
      : share(memory),
        share_d(memory + labels),
        share_p(memory + 2 * labels),
        sums(memory + 3 * labels),
        d(sums + 3),
        p(d + labels) {}
  /// Where `memory` begins with D and P.
  static void factor(std::size_t labels, double* memory) {
    std::copy_n(memory, 2 * labels, memory + 3 * labels + 3);
    double a = 0;
    double b = 0;
    double c = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      const double d = memory[y];
      const double p = memory[labels + y];
      b += memory[y] = 1 / (1 + d * p);
      a += memory[labels + y] = 1 / (d + 1 / p);
      c += memory[2 * labels + y] = 1 / (p + 1 / d);
    }
    const double divisor = a * c + b * b;
    memory[3 * labels] = a / divisor;
    memory[3 * labels + 1] = b / divisor;
    memory[3 * labels + 2] = c / divisor;
  }
  /// x holds g, h, e, f, then dq, dp, dv, dnu.
  void solve(std::size_t labels, double* x) const {
    double* h = x + labels;
    const double e = x[2 * labels];
    const double f = x[2 * labels + 1];
    double first = -e;
    double second = -f;
    for (std::size_t y = 0; y < labels; ++y) {
      first += share_d[y] * x[y] - share[y] * h[y];
      second += share[y] * x[y] + share_p[y] * h[y];
    }
    const double v = sums[2] * first + sums[1] * second;
    const double nu = sums[1] * first - sums[0] * second;
    for (std::size_t y = 0; y < labels; ++y) {
      const double g = x[y] - v;
      const double g_nu = h[y] + nu;
      x[y] = share_d[y] * g - share[y] * g_nu;
      h[y] = share[y] * g + share_p[y] * g_nu;
    }
    x[2 * labels] = v + f;
    x[2 * labels + 1] = nu + e;
  }
  /// What x, of solve(), leaves of the right-hand side that `left` holds.
  void subtract(std::size_t labels, const double* x, double* left) const {
    const double* dp = x + labels;
    double sum_q = 0;
    double sum_p = 0;
    for (std::size_t y = 0; y < labels; ++y) {
      sum_q += x[y];
      sum_p += dp[y];
    }
    const double v = x[2 * labels] - sum_p;
    const double nu = x[2 * labels + 1] - sum_q;
    for (std::size_t y = 0; y < labels; ++y) {
      left[y] -= d[y] * x[y] + dp[y] + v;
      left[labels + y] -= p[y] * dp[y] - x[y] - nu;
    }
    left[2 * labels] -= sum_q;
    left[2 * labels + 1] -= sum_p;
  }
  void response(std::size_t labels, double* b) const {
    for (std::size_t y = 0; y < labels; ++y) {
      const double v = sums[2] * share_d[y] + sums[1] * share[y];
      const double nu = sums[1] * share_d[y] - sums[0] * share[y];
      for (std::size_t z = 0; z < labels; ++z) {
        b[y * labels + z] = share_d[z] * ((z == y ? 1 : 0) - v) - share[z] * nu;
      }
    }
  }
};

bool is_zero_one(const CostMatrix* costs) {
  if (costs == nullptr || costs->actions != costs->labels) return false;
  for (int a = 0; a < costs->actions; ++a) {
    for (int y = 0; y < costs->labels; ++y) {
      if ((*costs)(a, y) != (a == y ? 0 : 1)) return false;
    }
  }
  return true;
}

double sum(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

}  // namespace

BarrierBlock::BarrierBlock(const Game& game)
    : labels_(static_cast<std::size_t>(game.labels())),
      actions_(game.costs() == nullptr || game.costs()->actions == 1
                   ? 0
                   : static_cast<std::size_t>(game.costs()->actions)),
      kind_(game.smooth()               ? Kind::entropy
            : game.label_costs()        ? Kind::hinge
            : is_zero_one(game.costs()) ? Kind::zero_one
                                        : Kind::matrix),
      costs_(game.costs()),
      size_(labels_ + actions_ + (actions_ > 0 ? 2 : 1)),
      memory_(4 * size_ + 2 * apart),
      right_(memory_.data() + apart),
      work_(right_ + size_),
      residual_(work_ + size_),
      left_(residual_ + size_) {
  if (costs_ != nullptr) {
    const auto [least, most] = std::minmax_element(costs_->cost.begin(), costs_->cost.end());
    if (*most > *least) range_ = *most - *least;
  }
}

double BarrierBlock::cost(std::size_t action, std::size_t y, int label) const {
  switch (kind_) {
    case Kind::entropy:
      return 0;
    case Kind::hinge:
      return static_cast<int>(y) == label ? 0 : 1;
    case Kind::zero_one:
      return y == action ? 0 : 1;
    case Kind::matrix:
      break;
  }
  return costs_->cost[action * labels_ + y];
}

BarrierState BarrierBlock::map(double* memory) const {
  double* actions = memory + 2 * labels_;
  double* scalars = actions + 2 * actions_;
  return {{memory, labels_},   {memory + labels_, labels_},
          {actions, actions_}, {actions + actions_, actions_},
          scalars[0],          scalars[1]};
}

void BarrierBlock::unmap(const BarrierState& state, double* memory) const {
  memory[state_size() - 2] = state.v;
  memory[state_size() - 1] = state.nu;
}

void BarrierBlock::pay(std::span<const double> p, std::span<const double> q, int label,
                       double* paid) const {
  if (kind_ == Kind::entropy) {
    for (std::size_t y = 0; y < labels_; ++y) paid[y] = -std::log(q[y]);
  } else if (actions_ == 0) {
    for (std::size_t y = 0; y < labels_; ++y) paid[y] = cost(0, y, label);
  } else if (kind_ == Kind::zero_one) {
    const double all = sum(p);
    for (std::size_t y = 0; y < labels_; ++y) paid[y] = all - p[y];
  } else {
    std::fill_n(paid, labels_, 0.0);
    for (std::size_t a = 0; a < actions_; ++a) {
      for (std::size_t y = 0; y < labels_; ++y) paid[y] += p[a] * cost(a, y, label);
    }
  }
}

void BarrierBlock::risk(std::span<const double> q, int label, double* risk) const {
  if (kind_ == Kind::zero_one) {
    const double all = sum(q);
    for (std::size_t a = 0; a < actions_; ++a) risk[a] = all - q[a];
    return;
  }
  for (std::size_t a = 0; a < actions_; ++a) {
    risk[a] = 0;
    for (std::size_t y = 0; y < labels_; ++y) risk[a] += q[y] * cost(a, y, label);
  }
}

void BarrierBlock::start(int label, double slack, double* memory) const {
  BarrierState x = map(memory);
  std::fill(x.q.begin(), x.q.end(), 1.0 / static_cast<double>(labels_));
  std::fill(x.p.begin(), x.p.end(), 1.0 / static_cast<double>(actions_));
  set_slacks(label, {}, slack, memory);
}

void BarrierBlock::set_slacks(int label, std::span<const double> psi, double slack,
                              double* memory) const {
  BarrierState x = map(memory);
  pay(x.p, x.q, label, x.s.data());
  for (std::size_t y = 0; y < labels_; ++y) x.s[y] = -x.s[y] - (psi.empty() ? 0 : psi[y]);
  x.v = slack - *std::min_element(x.s.begin(), x.s.end());
  for (double& s : x.s) s += x.v;
  risk(x.q, label, x.pi.data());
  x.nu = actions_ > 0 ? *std::min_element(x.pi.begin(), x.pi.end()) - slack : 0;
  for (double& pi : x.pi) pi -= x.nu;
  unmap(x, memory);
}

void BarrierBlock::factor(const BarrierState& x, int label, double beta, double* memory) {
  use(label, beta, memory);
  // Unknowns dq, dp, dv, dnu:
  //     (s/q + beta) dq - C' dp + 1 dv      = g + dpsi        1' dq = error of the sum of q
  //     C dq  + (pi/p) dp       - 1 dnu     = h               1' dp = error of the sum of p
  const auto diagonal = [&](std::size_t y) {
    return x.s[y] / x.q[y] + beta + (kind_ == Kind::entropy ? 1 / x.q[y] : 0);
  };
  if (diagonal_form()) {
    for (std::size_t y = 0; y < labels_; ++y) memory[y] = diagonal(y);
    for (std::size_t a = 0; a < actions_; ++a) memory[labels_ + a] = x.pi[a] / x.p[a];
    if (actions_ == 0) return Alone::factor(labels_, memory);
    return ZeroOne::factor(labels_, memory);
  }
  const std::size_t n = size_;
  std::fill(memory, memory + n * n, 0.0);
  const std::size_t at_v = labels_ + actions_;
  for (std::size_t y = 0; y < labels_; ++y) {
    double* row = memory + y * n;
    row[y] = diagonal(y);
    for (std::size_t a = 0; a < actions_; ++a) row[labels_ + a] = -cost(a, y, label);
    row[at_v] = 1;
    memory[at_v * n + y] = 1;
  }
  for (std::size_t a = 0; a < actions_; ++a) {
    double* row = memory + (labels_ + a) * n;
    for (std::size_t y = 0; y < labels_; ++y) row[y] = cost(a, y, label);
    row[labels_ + a] = x.pi[a] / x.p[a];
    row[at_v + 1] = -1;
    memory[(at_v + 1) * n + labels_ + a] = 1;
  }
  lu_factor(memory, n);
}

std::size_t BarrierBlock::factor_size() const {
  if (actions_ == 0) return Alone::size(labels_);
  if (kind_ == Kind::zero_one) return ZeroOne::size(labels_);
  return size_ * (size_ + 1);
}

void BarrierBlock::use(int label, double beta, const double* memory) {
  label_ = label;
  beta_ = beta;
  factors_ = memory;
}

void BarrierBlock::solve(double* x) const {
  if (actions_ == 0) return Alone(factors_, labels_).solve(labels_, x);
  if (kind_ != Kind::zero_one) return lu_solve(factors_, size_, x);
  const ZeroOne equations(factors_, labels_);
  std::copy_n(x, size_, left_);
  equations.solve(labels_, x);
  equations.subtract(labels_, x, left_);
  equations.solve(labels_, left_);
  for (std::size_t j = 0; j < size_; ++j) x[j] += left_[j];
}

void BarrierBlock::response(std::span<double> b) {
  if (actions_ == 0) return Alone(factors_, labels_).response(labels_, b.data());
  if (kind_ == Kind::zero_one) return ZeroOne(factors_, labels_).response(labels_, b.data());
  for (std::size_t y = 0; y < labels_; ++y) {
    std::fill_n(work_, size_, 0.0);
    work_[y] = 1;
    solve(work_);
    for (std::size_t z = 0; z < labels_; ++z) b[z * labels_ + y] = work_[z];
  }
}

void BarrierBlock::aim(const BarrierState& x, std::span<const double> psi, double tau,
                       const BarrierState* affine) {
  const std::size_t at_v = labels_ + actions_;
  pay(x.p, x.q, label_, residual_);
  for (std::size_t y = 0; y < labels_; ++y) {
    residual_[y] = x.v - residual_[y] - psi[y] - x.s[y];
    const double second = affine != nullptr ? affine->q[y] * affine->s[y] : 0;
    right_[y] = (tau - second) / x.q[y] - x.s[y] - residual_[y];
  }
  right_[at_v] = 1 - sum(x.q);
  if (actions_ == 0) return;
  double* residual = residual_ + labels_;
  risk(x.q, label_, residual);
  for (std::size_t a = 0; a < actions_; ++a) {
    residual[a] -= x.nu + x.pi[a];
    const double second = affine != nullptr ? affine->p[a] * affine->pi[a] : 0;
    right_[labels_ + a] = (tau - second) / x.p[a] - x.pi[a] - residual[a];
  }
  right_[at_v + 1] = 1 - sum(x.p);
}

void BarrierBlock::answer(std::span<const double> dpsi, std::span<double> dq) {
  std::copy_n(right_, size_, work_);
  for (std::size_t y = 0; y < dpsi.size(); ++y) work_[y] += dpsi[y];
  solve(work_);
  std::copy_n(work_, labels_, dq.begin());
}

void BarrierBlock::step(const BarrierState& x, std::span<const double> dpsi, BarrierState& d) {
  answer(dpsi, d.q);
  const std::size_t at_v = labels_ + actions_;
  std::copy_n(work_ + labels_, actions_, d.p.begin());
  d.v = work_[at_v];
  d.nu = actions_ > 0 ? work_[at_v + 1] : 0;
  if (actions_ > 0) {
    pay(d.p, d.q, label_, d.s.data());
  } else {
    std::fill(d.s.begin(), d.s.end(), 0.0);
  }
  for (std::size_t y = 0; y < labels_; ++y) {
    d.s[y] = d.v + beta_ * d.q[y] + residual_[y] - (dpsi.empty() ? 0 : dpsi[y]) - d.s[y];
    if (kind_ == Kind::entropy) d.s[y] += d.q[y] / x.q[y];
  }
  risk(d.q, label_, d.pi.data());
  for (std::size_t a = 0; a < actions_; ++a) d.pi[a] += residual_[labels_ + a] - d.nu;
}

double longest_step(const BarrierState& x, const BarrierState& d) {
  double longest = 1e300;
  const auto shorten = [&](std::span<const double> at, std::span<const double> by) {
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (by[k] < 0) longest = std::min(longest, -at[k] / by[k]);
    }
  };
  shorten(x.q, d.q);
  shorten(x.s, d.s);
  shorten(x.p, d.p);
  shorten(x.pi, d.pi);
  return longest;
}

void advance(BarrierState& x, const BarrierState& d, double length) {
  const auto add = [&](std::span<double> at, std::span<const double> by) {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] += length * by[k];
  };
  add(x.q, d.q);
  add(x.s, d.s);
  add(x.p, d.p);
  add(x.pi, d.pi);
  x.v += length * d.v;
  x.nu += length * d.nu;
}

double complementarity(const BarrierState& x) {
  return std::inner_product(x.q.begin(), x.q.end(), x.s.begin(), 0.0) +
         std::inner_product(x.p.begin(), x.p.end(), x.pi.begin(), 0.0);
}

namespace {

/// Every function below sees the proximal problem in units of its own: costs c = (C - least) /
/// range, potentials b / range (largest 0), beta / range.
struct Scaled {
  std::vector<double> c;  // actions x labels
  std::vector<double> b;
  double beta;
};

/// Turns a point near the optimum into the optimum itself: guesses which labels and actions are
/// played, solves the optimality conditions as equations,
///     beta q_y = b_y + c_y'p - v  (labels played),   c_a q = nu  (actions played),   1'q = 1'p =
///     1,
/// and corrects the guess where an inequality fails. Interior points alone stop at the square root
/// of rounding where a label or an action is both unplayed and as good as a played one; ties are
/// normal. The equations are solved for the smallest correction: p need not be unique, q is.
bool polish(const Scaled& problem, const BarrierState& x, double range, std::span<double> q) {
  const auto labels = static_cast<Eigen::Index>(x.q.size());
  const auto actions = static_cast<Eigen::Index>(x.p.size());
  const double beta = problem.beta;
  const double scale = std::max(1.0, beta);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> c(
      problem.c.data(), actions, labels);
  const Eigen::Map<const Eigen::VectorXd> b(problem.b.data(), labels);
  std::vector<char> label_in(x.q.size());
  std::vector<char> action_in(x.p.size());
  for (std::size_t y = 0; y < x.q.size(); ++y) label_in[y] = x.q[y] * scale > x.s[y] / range;
  for (std::size_t a = 0; a < x.p.size(); ++a) action_in[a] = x.p[a] > x.pi[a] / range;
  constexpr double tolerance = 2e-14;
  for (int round = 0; round < 6; ++round) {
    std::vector<Eigen::Index> ys;
    std::vector<Eigen::Index> as;
    for (Eigen::Index y = 0; y < labels; ++y) {
      if (label_in[y]) ys.push_back(y);
    }
    for (Eigen::Index a = 0; a < actions; ++a) {
      if (action_in[a]) as.push_back(a);
    }
    if (ys.empty() || as.empty()) return false;
    const auto n = static_cast<Eigen::Index>(ys.size());
    const auto m = static_cast<Eigen::Index>(as.size());
    // Unknowns: q, p / beta, v / beta, nu; with these units the matrix does not depend on beta.
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + m + 2, n + m + 2);
    matrix.topLeftCorner(n, n).setIdentity();
    const Eigen::MatrixXd played = c(as, ys);
    matrix.block(0, n, n, m) = -played.transpose();
    matrix.block(n, 0, m, n) = -played;
    matrix.block(0, n + m, n, 1).setOnes();
    matrix.block(n + m, 0, 1, n).setOnes();
    matrix.block(n, n + m + 1, m, 1).setOnes();
    matrix.block(n + m + 1, n, 1, m).setOnes();
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(matrix);
    Eigen::VectorXd qs = Eigen::Map<const Eigen::VectorXd>(x.q.data(), labels)(ys);
    Eigen::VectorXd ps = Eigen::Map<const Eigen::VectorXd>(x.p.data(), actions)(as);
    double v = 0;
    double nu = 0;
    for (int pass = 0; pass < 3; ++pass) {  // the first solves, the others refine
      Eigen::VectorXd right(n + m + 2);
      right.head(n) =
          (b(ys) + played.transpose() * ps - Eigen::VectorXd::Constant(n, v) - beta * qs) / beta;
      right.segment(n, m) = played * qs - Eigen::VectorXd::Constant(m, nu);
      right[n + m] = 1 - qs.sum();
      right[n + m + 1] = (1 - ps.sum()) / beta;
      const Eigen::VectorXd by = solver.solve(right);
      qs += by.head(n);
      ps += beta * by.segment(n, m);
      v += beta * by[n + m];
      nu += by[n + m + 1];
    }
    // All conditions, also those of the labels and actions left out.
    const Eigen::VectorXd slack =
        Eigen::VectorXd::Constant(labels, v) - b - c(as, Eigen::all).transpose() * ps;
    const Eigen::VectorXd excess = c(Eigen::all, ys) * qs - Eigen::VectorXd::Constant(actions, nu);
    bool solved = std::abs(qs.sum() - 1) < 1e-12 && std::abs(ps.sum() - 1) < 1e-12;
    bool optimal = true;
    const auto change = [&](char& in, bool to) {
      in = to ? 1 : 0;
      optimal = false;
    };
    for (Eigen::Index i = 0; i < n; ++i) {
      solved = solved && std::abs(slack[ys[i]] + beta * qs[i]) < tolerance * scale;
      if (qs[i] < -tolerance) change(label_in[ys[i]], false);
    }
    for (Eigen::Index i = 0; i < m; ++i) {
      solved = solved && std::abs(excess[as[i]]) < tolerance;
      if (ps[i] < -tolerance) change(action_in[as[i]], false);
    }
    for (Eigen::Index y = 0; y < labels; ++y) {
      if (!label_in[y] && slack[y] < -tolerance * scale) change(label_in[y], true);
    }
    for (Eigen::Index a = 0; a < actions; ++a) {
      if (!action_in[a] && excess[a] < -tolerance) change(action_in[a], true);
    }
    if (optimal) {
      if (!solved) return false;
      std::fill(q.begin(), q.end(), 0.0);
      double total = 0;
      for (Eigen::Index i = 0; i < n; ++i) total += q[ys[i]] = std::max(0.0, qs[i]);
      for (double& share : q) share /= total;
      return true;
    }
  }
  return false;
}

/// The smallest of the products whose mean is tau: far below it, the next step will be short.
double least_product(const BarrierState& x) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t y = 0; y < x.q.size(); ++y) least = std::min(least, x.q[y] * x.s[y]);
  for (std::size_t a = 0; a < x.p.size(); ++a) least = std::min(least, x.p[a] * x.pi[a]);
  return least;
}

}  // namespace

void barrier_proximal(const Game& game, std::span<const double> b, double beta, int label,
                      std::span<double> q) {
  const double top = *std::max_element(b.begin(), b.end());
  if (game.label_costs() || game.actions() == 1) {  // nothing to choose: H is linear
    for (std::size_t y = 0; y < q.size(); ++y) {
      const double cost = game.label_costs() ? (static_cast<int>(y) == label ? 0 : 1)
                                             : (*game.costs())(0, static_cast<int>(y));
      q[y] = b[y] - top + cost;
    }
    const double best = *std::max_element(q.begin(), q.end());
    for (double& x : q) x = (x - best) / std::max(beta, std::numeric_limits<double>::min());
    project_to_simplex(q);
    return;
  }
  const CostMatrix& costs = *game.costs();
  const auto [least, most] = std::minmax_element(costs.cost.begin(), costs.cost.end());
  const double range = *most > *least ? *most - *least : 1;
  Scaled problem{costs.cost, {b.begin(), b.end()}, std::max(beta / range, 1e-13)};
  for (double& x : problem.c) x = (x - *least) / range;
  // Further below the top a label is never played: how far is immaterial.
  for (double& x : problem.b) x = std::max((x - top) / range, -2 - 2 * problem.beta);
  beta = problem.beta * range;
  const double scale = std::max(range, beta);

  BarrierBlock block(game);
  Scratch<double> factors(block.factor_size());
  Scratch<double> memory(block.state_size());
  Scratch<double> memory_d(block.state_size());
  Scratch<double> memory_a(block.state_size());
  Scratch<double> psi(b.size());
  block.start(label, block.range(), memory.data());
  std::fill(memory_d.begin(), memory_d.end(), 0.0);
  std::fill(memory_a.begin(), memory_a.end(), 0.0);
  BarrierState x = block.map(memory.data());
  BarrierState d = block.map(memory_d.data());
  BarrierState affine = block.map(memory_a.data());
  // start() is for psi = 0; with slacks that fit these potentials nothing is left to repair.
  x.v += beta;
  for (std::size_t y = 0; y < b.size(); ++y) {
    x.s[y] += beta - (problem.b[y] * range - beta * x.q[y]);
  }
  const auto pairs = static_cast<double>(x.q.size() + x.p.size());
  double best = std::numeric_limits<double>::infinity();
  int since_best = 0;
  bool cautious = false;
  for (int iteration = 0; iteration < 100 && since_best < 10; ++iteration) {
    const double tau = complementarity(x) / pairs;
    ++since_best;
    if (tau < best) {  // kept in case that no guess of the played labels and actions is confirmed
      if (tau < 0.9 * best) since_best = 0;
      best = tau;
      const double total = sum(x.q);
      for (std::size_t y = 0; y < q.size(); ++y) q[y] = x.q[y] / total;
    }
    if (tau < 1e-16 * scale) break;
    if (tau < 1e-4 * scale && polish(problem, x, range, q)) return;
    for (std::size_t y = 0; y < b.size(); ++y) psi[y] = problem.b[y] * range - beta * x.q[y];
    block.factor(x, label, beta, factors.data());
    block.aim(x, {psi.data(), b.size()}, 0, nullptr);
    block.step(x, {}, affine);
    // Mehrotra's predictor-corrector: how far the plain Newton step gets decides the centring.
    const double reach = std::min(1.0, longest_step(x, affine));
    double after = 0;
    for (std::size_t y = 0; y < x.q.size(); ++y) {
      after += (x.q[y] + reach * affine.q[y]) * (x.s[y] + reach * affine.s[y]);
    }
    for (std::size_t a = 0; a < x.p.size(); ++a) {
      after += (x.p[a] + reach * affine.p[a]) * (x.pi[a] + reach * affine.pi[a]);
    }
    const double ratio = std::min(1.0, after / pairs / tau);  // above 1: rounding
    cautious = cautious || since_best > 0;
    if (cautious) {  // the second-order term can lead in circles; plain centring does not
      const double centring = least_product(x) < 0.01 * tau ? 0.9 : 0.1;
      block.aim(x, {psi.data(), b.size()}, tau * centring, nullptr);
    } else {
      block.aim(x, {psi.data(), b.size()}, tau * ratio * ratio * ratio, &affine);
    }
    block.step(x, {}, d);
    advance(x, d, std::min(1.0, (cautious ? 0.9 : 0.995) * longest_step(x, d)));
  }
}

}  // namespace covshift
