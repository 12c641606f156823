#include "covshift/game/barrier.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covshift/game/equations.hpp"

namespace covshift {
namespace {

double sum(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

}  // namespace

BarrierBlock::BarrierBlock(const Game& game)
    : labels_(static_cast<std::size_t>(game.labels())),
      actions_(game.costs() == nullptr || game.costs()->actions == 1
                   ? 0
                   : static_cast<std::size_t>(game.costs()->actions)),
      form_(game.barrier_form()),
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
  switch (form_) {
    case BarrierForm::entropy:
      return 0;
    case BarrierForm::hinge:
      return static_cast<int>(y) == label ? 0 : 1;
    case BarrierForm::zero_one:
      return y == action ? 0 : 1;
    case BarrierForm::costs:
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
  if (form_ == BarrierForm::entropy) {
    for (std::size_t y = 0; y < labels_; ++y) paid[y] = -std::log(q[y]);
  } else if (actions_ == 0) {
    for (std::size_t y = 0; y < labels_; ++y) paid[y] = cost(0, y, label);
  } else if (form_ == BarrierForm::zero_one) {
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
  if (form_ == BarrierForm::zero_one) {
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
    return x.s[y] / x.q[y] + beta + (form_ == BarrierForm::entropy ? 1 / x.q[y] : 0);
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
  if (form_ == BarrierForm::zero_one) return ZeroOne::size(labels_);
  return size_ * (size_ + 1);
}

void BarrierBlock::use(int label, double beta, const double* memory) {
  label_ = label;
  beta_ = beta;
  factors_ = memory;
}

void BarrierBlock::solve(double* x) const {
  if (actions_ == 0) return Alone(factors_, labels_).solve(labels_, x);
  if (form_ != BarrierForm::zero_one) return lu_solve(factors_, size_, x);
  const ZeroOne equations(factors_, labels_);
  std::copy_n(x, size_, left_);
  equations.solve(labels_, x);
  equations.subtract(labels_, x, left_);
  equations.solve(labels_, left_);
  for (std::size_t j = 0; j < size_; ++j) x[j] += left_[j];
}

void BarrierBlock::response(std::span<double> b) {
  if (actions_ == 0) return Alone(factors_, labels_).response(labels_, b.data());
  if (form_ == BarrierForm::zero_one) return ZeroOne(factors_, labels_).response(labels_, b.data());
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
    if (form_ == BarrierForm::entropy) d.s[y] += d.q[y] / x.q[y];
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

}  // namespace covshift
