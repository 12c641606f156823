#include "covshift/learn/examples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

constexpr double log_weight_limit = 690;  // e^690 = 1e299

const Reducer one_holder;

/// Rows of `labels` numbers to a label-major block.
void to_block(const double* rows, std::size_t n, std::size_t labels, double* block) {
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t y = 0; y < labels; ++y) block[y * block_rows + b] = rows[b * labels + y];
  }
}

}  // namespace

Examples::Weights::Weights(const Problem& p, const Reducer& reducer) {
  const std::size_t m = p.features.rows;
  double total = static_cast<double>(m);
  if (!p.sample_weight.empty()) {
    total = std::accumulate(p.sample_weight.begin(), p.sample_weight.end(), 0.0);
  }
  reducer.sum({&total, 1});
  if (!std::isfinite(total)) {
    throw Error(Error::Kind::numeric, "the sum of the sample weights overflows a double");
  }
  const bool scaled = !p.log_scale.empty();
  if (p.sample_weight.empty() && p.log_weight.empty() && !scaled) {
    a.assign(m, 1 / total);
    return;
  }
  a.reserve(m);
  if (scaled) c.reserve(m);
  const auto leave_out = [&](std::size_t i) {
    if (rows) return;
    rows.emplace(i);  // the first row left out: from here on indices differ
    std::iota(rows->begin(), rows->end(), 0);
  };
  for (std::size_t i = 0; i < m; ++i) {
    const double count = p.sample_weight.empty() ? 1 : p.sample_weight[i];
    if (count == 0) {
      leave_out(i);
      continue;
    }
    const double log_r = log_largest_scale(p, i);
    const double log_w = p.log_weight.empty() ? 0 : p.log_weight[i];
    const double log_a = log_w + log_r;
    // Below the limit of scales the example adds the constant w V(0).
    const bool constant = log_r < -log_scale_limit;
    if (log_a > log_weight_limit || (constant && log_w > log_weight_limit)) {
      throw Error(Error::Kind::numeric,
                  fmt::format("example {}: log weight{} = {} overflows a double (the limit is {}); "
                              "cap the density ratios, or regularise their estimate more",
                              i + 1, log_a > log_weight_limit ? " + log scale" : "",
                              log_a > log_weight_limit ? log_a : log_w, log_weight_limit));
    }
    const double own_a = count / total * (log_a == 0 ? 1 : std::exp(log_a));
    const double own_c = constant ? count / total * std::exp(log_w)
                         : scaled ? own_a / limited_scale(log_r)
                                  : own_a;
    if (own_a == 0 && own_c == 0) {
      leave_out(i);
      continue;
    }
    if (rows) rows->push_back(i);
    a.push_back(own_a);
    if (scaled) c.push_back(own_c);
  }
}

Examples::Examples(const Problem& problem, int threads, const Reducer* reducer)
    : Examples(problem, threads, reducer != nullptr ? *reducer : one_holder,
               Weights(problem, reducer != nullptr ? *reducer : one_holder)) {}

Examples::Examples(const Problem& problem, int threads, const Reducer& reducer, Weights weights)
    : ScaledRows(problem, problem.game->labels(), threads, std::move(weights.rows)),
      problem_(problem),
      reducer_(&reducer),
      label_(problem.labels),
      a_(std::move(weights.a)),
      c_(std::move(weights.c)) {
  set_lambda(problem.lambda);
  if (size() == problem.features.rows) return;
  for (std::size_t i = 0; i < size(); ++i) own_label_.push_back(problem.labels[row(i)]);
  label_ = own_label_;
}

void Examples::set_lambda(double lambda) {
  problem_.lambda = lambda;
  ridge_.setConstant(dims(), 2 * lambda);
  if (free_bias()) ridge_[dims() - 1] = 0;
}

void Examples::sum_lanes(RowMatrix& out) const {
  Packed& sum = sums_[0];
  parallel_tasks(threads(), lanes(), [&](std::size_t part) {
    const std::size_t begin = sum.features.size() * part / lanes();
    const std::size_t end = sum.features.size() * (part + 1) / lanes();
    for (std::size_t lane = 1; lane < lanes(); ++lane) {
      for (std::size_t j = begin; j < end; ++j) sum.features[j] += sums_[lane].features[j];
    }
  });
  for (std::size_t lane = 1; lane < lanes(); ++lane) {
    for (std::size_t y = 0; y < sum.labels; ++y) sum.bias[y] += sums_[lane].bias[y];
  }
  out = unpack(sum);
  reducer_->sum({out.data(), static_cast<std::size_t>(out.size())});
}

void Examples::fused(const RowMatrix& t, RowMatrix& out, const BlockBody& body) const {
  const auto k = static_cast<std::size_t>(labels());
  const Packed weights = pack(t, true);
  reducer_->pass();
  sums_.resize(lanes());
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    zero(sums_[lane], true);
    Workspace work;
    std::vector<double> psi(k * block_rows);
    std::vector<double> back(k * block_rows);
    for (std::size_t first = begin; first < end; first += block()) {
      const std::size_t n = std::min(block(), end - first);
      std::fill_n(psi.data(), block_rows, 0.0);
      times(first, n, weights, psi.data() + block_rows, work);
      body({first, n, lane, psi.data(), back.data()});
      times_transposed(first, n, back.data() + block_rows, sums_[lane], work);
    }
  });
  sum_lanes(out);
}

PassTotals Examples::pass(const RowMatrix& t, RowMatrix& a, const double* q_given,
                          const BlockBody& observe) const {
  const auto k = static_cast<std::size_t>(labels());
  struct alignas(128) LaneTotals : PassTotals {};  // no false sharing between threads
  std::vector<LaneTotals> totals(lanes());
  fused(t, a, [&](const ExampleBlock& block) {
    const std::size_t n = block.rows;
    const std::size_t first = block.first;
    double* psi = block.psi;
    double* q = block.back;
    const int* label = label_.data() + first;
    const double* weight = c().data() + first;
    std::array<double, block_rows> value{};
    const auto add = [&](const std::array<double, block_rows>& of, double& sum) {
      kernels().columns_sums(n, 1, block_rows, of.data(), weight, &sum);
    };
    // Relative to the true label: V(psi) - psi[y] = V(psi - psi[y]) without cancellation.
    kernels().from_truth(n, k, label, psi);
    game().play_block(n, psi, label, value.data(), q);
    PassTotals& total = totals[block.lane];
    add(value, total.loss);
    if (q_given != nullptr) {
      to_block(q_given + first * k, n, k, q);
      std::array<double, block_rows> risk{};
      for (std::size_t b = 0; b < n; ++b) {
        risk[b] = game().bayes_risk({q_given + (first + b) * k, k}, label[b]);
        value[b] -= risk[b];
      }
      add(risk, total.risk);
    }
    if (observe) observe(block);
    // V - psi'q: H(q) for the best answers, the slack for given ones.
    kernels().settle(n, k, label, a_.data() + first, psi, value.data(), q);
    if (q_given != nullptr) {
      for (std::size_t b = 0; b < n; ++b) value[b] = std::max(0.0, value[b]);
    }
    add(value, q_given != nullptr ? total.slack : total.risk);
  });
  std::array<double, 3> sums{};
  for (const PassTotals& lane : totals) {
    sums[0] += lane.loss;
    sums[1] += lane.slack;
    sums[2] += lane.risk;
  }
  reducer_->sum(sums);
  return {sums[0], sums[1], sums[2]};
}

void Examples::collect(const BlockBody& fill, RowMatrix& out) const {
  reducer_->pass();
  sums_.resize(lanes());
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    zero(sums_[lane], false);
    Workspace work;
    std::vector<double> back(sums_[lane].labels * block_rows);
    for (std::size_t first = begin; first < end; first += block()) {
      const std::size_t n = std::min(block(), end - first);
      fill({first, n, lane, nullptr, back.data()});
      times_transposed(first, n, back.data(), sums_[lane], work);
    }
  });
  sum_lanes(out);
}

void Examples::collect(const double* rows, RowMatrix& out) const {
  const auto k = static_cast<std::size_t>(labels());
  collect(
      [&](const ExampleBlock& block) {
        to_block(rows + block.first * k, block.rows, k, block.back);
      },
      out);
}

}  // namespace covshift
