#include "covshift/learn/examples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

constexpr double log_scale_limit = 230;   // e^230 = 1e100
constexpr double log_weight_limit = 690;  // e^690 = 1e299

const Reducer here;  // all examples are local

}  // namespace

Examples::Examples(const Problem& problem, int threads, const Reducer* reducer)
    : problem_(problem),
      threads_(thread_count(threads)),
      reducer_(reducer != nullptr ? reducer : &here),
      cols_(problem.features.cols),
      labels_(problem.game->labels()) {
  const Problem& p = problem_;
  const std::size_t m = p.features.rows;
  double total = static_cast<double>(m);
  if (!p.sample_weight.empty()) {
    total = std::accumulate(p.sample_weight.begin(), p.sample_weight.end(), 0.0);
  }
  reducer_->sum({&total, 1});
  if (!std::isfinite(total)) {
    throw Error(Error::Kind::numeric, "the sample weights add up to more than numbers hold");
  }
  ridge_.setConstant(dims(), 2 * p.lambda);
  if (free_bias()) ridge_[dims() - 1] = 0;
  const bool scaled = !p.log_scale.empty();
  const bool several = p.scales > 1;
  const bool alike = p.sample_weight.empty() && p.log_weight.empty() && !scaled && !several;
  if (alike) a_.assign(m, 1 / total);
  a_.reserve(m);
  if (scaled) r_.reserve(m);
  if (scaled) c_.reserve(m);
  for (std::size_t i = 0; i < m && !alike; ++i) {
    const double count = p.sample_weight.empty() ? 1 : p.sample_weight[i];
    double log_r = scaled ? p.log_scale[i * p.scales] : 0;
    for (int v = 1; v < p.scales && scaled; ++v) {
      log_r = std::max(log_r, p.log_scale[i * p.scales + v]);
    }
    const double log_w = p.log_weight.empty() ? 0 : p.log_weight[i];
    const double log_a = log_w + log_r;
    // Below the limit of scales the example adds w V(0), whatever the weights, but add it does.
    const bool constant = log_r < -log_scale_limit;
    if (log_a > log_weight_limit || (constant && log_w > log_weight_limit)) {
      throw Error(Error::Kind::numeric,
                  fmt::format("example {}: log weight{} = {} is beyond what numbers hold ({}); "
                              "regularise the density ratio more",
                              i + 1, log_a > log_weight_limit ? " + log scale" : "",
                              log_a > log_weight_limit ? log_a : log_w, log_weight_limit));
    }
    const double r = scaled ? std::exp(std::clamp(log_r, -log_scale_limit, log_scale_limit)) : 1;
    const double a = count / total * (log_a == 0 ? 1 : std::exp(log_a));
    const double c = constant ? count / total * std::exp(log_w) : a / r;
    if (a == 0 && c == 0) {
      if (a_.size() == i) {  // the first to be left out: from here on rows and examples differ
        row_.resize(i);
        std::iota(row_.begin(), row_.end(), 0);
        own_label_.assign(p.labels.begin(), p.labels.begin() + static_cast<std::ptrdiff_t>(i));
      }
      continue;
    }
    if (a_.size() < i) {
      row_.push_back(i);
      own_label_.push_back(p.labels[i]);
    }
    a_.push_back(a);
    if (scaled) r_.push_back(r);
    if (scaled) c_.push_back(c);
    for (int v = 0; several && v < p.scales; ++v) {
      rho_.push_back(scaled ? std::exp(p.log_scale[i * p.scales + v] - log_r) : 1.0);
    }
  }
  label_ = a_.size() < m ? own_label_ : p.labels;
  // Lanes depend on the problem alone, so that sums come out the same for any number of threads:
  // enough of them for a large machine, few enough that their partial sums stay small beside the
  // data, and one where the whole problem is small.
  const std::size_t parameters = static_cast<std::size_t>(dims()) * labels_;
  const std::size_t work = entries(p.features) * labels_;
  if (work > 200'000) {
    lanes_ = std::clamp<std::size_t>(entries(p.features) / (4 * parameters + 1), 4, 64);
    lanes_ = std::min(lanes_, size() / block_rows + 1);
  }
  // A block is read twice, the second time from the cache near the core.
  constexpr std::size_t cache = 1U << 15U;  // numbers
  block_ = std::clamp<std::size_t>(cache / (cols_ + 1) / 4 * 4, 4, block_rows);
}

void Examples::each_lane(
    const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  parallel_tasks(threads_, lanes_, [&](std::size_t lane) {
    body(size() * lane / lanes_, size() * (lane + 1) / lanes_, lane);
  });
}

void Examples::prefetch(std::size_t i) const {
  const auto lines = [](const void* from, std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += 64) {
      __builtin_prefetch(static_cast<const char*>(from) + b);
    }
  };
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          const std::int64_t begin = x.offsets[row(i)];
          const auto n = static_cast<std::size_t>(x.offsets[row(i) + 1] - begin);
          lines(x.columns + begin, n * sizeof *x.columns);
          lines(x.values + begin, n * sizeof *x.values);
        } else {
          lines(x.data + row(i) * x.stride, cols_ * sizeof *x.data);
        }
      },
      problem_.features.storage);
}

double Examples::norm2(std::size_t i) const {
  double sum = 0;
  each_entry(i, [&](std::size_t /*j*/, double z) { sum += z * z; });
  return sum;
}

}  // namespace covshift
