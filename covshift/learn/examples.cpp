#include "covshift/learn/examples.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

constexpr std::size_t block_rows = 64;
constexpr double log_scale_limit = 230;   // e^230 = 1e100
constexpr double log_weight_limit = 690;  // e^690 = 1e299

const Reducer here;  // all examples are local

std::size_t entries(const MatrixView& x) {
  return std::visit(
      [&](const auto& s) -> std::size_t {
        if constexpr (requires { s.offsets; }) {
          return static_cast<std::size_t>(s.offsets[x.rows]);
        } else {
          return x.rows * x.cols;
        }
      },
      x.storage);
}

}  // namespace

Examples::Examples(const Problem& problem, int threads, const Reducer* reducer)
    : problem_(problem),
      threads_(thread_count(threads)),
      reducer_(reducer != nullptr ? reducer : &here),
      cols_(problem.features.cols),
      labels_(problem.game->labels()) {
  const Problem& p = problem_;
  const std::size_t m = p.features.rows;
  double total = 0;
  for (std::size_t i = 0; i < m; ++i) total += p.sample_weight.empty() ? 1 : p.sample_weight[i];
  reducer_->sum({&total, 1});
  if (!std::isfinite(total)) {
    throw Error(Error::Kind::numeric, "the sample weights add up to more than numbers hold");
  }
  const bool several = p.scales > 1;
  for (std::size_t i = 0; i < m; ++i) {
    const double count = p.sample_weight.empty() ? 1 : p.sample_weight[i];
    double log_r = p.log_scale.empty() ? 0 : p.log_scale[i * p.scales];
    for (int v = 1; v < p.scales && !p.log_scale.empty(); ++v) {
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
    const double r = std::exp(std::clamp(log_r, -log_scale_limit, log_scale_limit));
    const double a = count / total * std::exp(log_a);
    const double c = constant ? count / total * std::exp(log_w) : a / r;
    if (a == 0 && c == 0) {
      all_rows_ = false;
      continue;
    }
    row_.push_back(i);
    label_.push_back(p.labels[i]);
    a_.push_back(a);
    r_.push_back(r);
    c_.push_back(c);
    for (int v = 0; several && v < p.scales; ++v) {
      rho_.push_back(p.log_scale.empty() ? 1.0 : std::exp(p.log_scale[i * p.scales + v] - log_r));
    }
  }
  // Lanes depend on the problem alone, so that sums come out the same for any number of threads:
  // enough of them for a large machine, few enough that their partial sums stay small beside the
  // data, and one where the whole problem is small.
  const std::size_t parameters = static_cast<std::size_t>(dims()) * labels_;
  const std::size_t work = entries(p.features) * labels_;
  if (work > 200'000) {
    lanes_ = std::clamp<std::size_t>(entries(p.features) / (4 * parameters + 1), 4, 64);
    lanes_ = std::min(lanes_, size() / block_rows + 1);
  }
}

void Examples::each_lane(
    const std::function<void(std::size_t, std::size_t, std::size_t)>& body) const {
  parallel_tasks(threads_, lanes_, [&](std::size_t lane) {
    body(size() * lane / lanes_, size() * (lane + 1) / lanes_, lane);
  });
}

void Examples::sum_lanes(std::vector<RowMatrix>& partial, RowMatrix& out) const {
  out = partial[0];
  for (std::size_t lane = 1; lane < lanes_; ++lane) out += partial[lane];
  reducer_->sum({out.data(), static_cast<std::size_t>(out.size())});
}

template <typename F>
void Examples::each_entry(std::size_t i, F&& f) const {
  const double* rho = rho_of(i);
  const auto scaled = [&](std::size_t j, double value) {
    if (rho == nullptr) return value;
    return value * rho[problem_.scale_of_column.empty() ? 0 : problem_.scale_of_column[j]];
  };
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          for (std::int64_t e = x.offsets[row_[i]]; e < x.offsets[row_[i] + 1]; ++e) {
            const auto j = static_cast<std::size_t>(x.columns[e]);
            f(j, scaled(j, static_cast<double>(x.values[e])));
          }
        } else {
          const auto* row = x.data + row_[i] * x.stride;
          for (std::size_t j = 0; j < cols_; ++j) f(j, scaled(j, static_cast<double>(row[j])));
        }
      },
      problem_.features.storage);
  if (problem_.bias) f(cols_, bias_of(i));
}

const double* Examples::dense_rows(std::size_t first, std::size_t n, std::vector<double>& buffer,
                                   std::size_t& stride) const {
  if (const auto* x = std::get_if<DenseRows<double>>(&problem_.features.storage);
      x != nullptr && all_rows_ && rho_.empty()) {
    stride = x->stride;
    return x->data + first * x->stride;
  }
  // Densified, without the bias (which each_entry gives last, in column cols_).
  stride = cols_ + 1;
  buffer.assign(block_rows * stride, 0.0);
  for (std::size_t b = 0; b < n; ++b) {
    double* out = buffer.data() + b * stride;
    each_entry(first + b, [&](std::size_t j, double z) { out[j] += z; });
  }
  return buffer.data();
}

void Examples::potential(std::size_t i, const RowMatrix& t, double* psi) const {
  const int k = labels_;
  std::fill(psi, psi + k, 0.0);
  each_entry(i, [&](std::size_t j, double z) {
    const double* row = t.data() + j * k;
    for (int y = 0; y < k; ++y) psi[y] += z * row[y];
  });
  for (int y = 0; y < k; ++y) psi[y] *= r_[i];
}

void Examples::add(std::size_t i, const double* delta, RowMatrix& t) const {
  const int k = labels_;
  each_entry(i, [&](std::size_t j, double z) {
    double* row = t.data() + j * k;
    for (int y = 0; y < k; ++y) row[y] += z * delta[y];
  });
}

double Examples::norm2(std::size_t i) const {
  double sum = 0;
  each_entry(i, [&](std::size_t /*j*/, double z) { sum += z * z; });
  return sum;
}

void Examples::times(std::size_t first, std::size_t n, const RowMatrix& t, double* psi,
                     std::vector<double>& buffer) const {
  const int k = labels_;
  if (problem_.features.storage.index() >= 2) {  // sparse
    for (std::size_t b = 0; b < n; ++b) potential(first + b, t, psi + b * k);
    return;
  }
  std::size_t stride = 0;
  const double* rows = dense_rows(first, n, buffer, stride);
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> z(
      rows, static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(cols_),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(stride)));
  Eigen::Map<RowMatrix> out(psi, static_cast<Eigen::Index>(n), k);
  out.noalias() = z * t.topRows(static_cast<Eigen::Index>(cols_));
  for (std::size_t b = 0; b < n; ++b) {
    auto row = out.row(static_cast<Eigen::Index>(b));
    if (problem_.bias) row += bias_of(first + b) * t.row(static_cast<Eigen::Index>(cols_));
    row *= r_[first + b];
  }
}

void Examples::times_transposed(std::size_t first, std::size_t n, const double* rows,
                                RowMatrix& out, std::vector<double>& buffer) const {
  const int k = labels_;
  if (problem_.features.storage.index() >= 2) {  // sparse
    for (std::size_t b = 0; b < n; ++b) add(first + b, rows + b * k, out);
    return;
  }
  std::size_t stride = 0;
  const double* z_rows = dense_rows(first, n, buffer, stride);
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> z(
      z_rows, static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(cols_),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(stride)));
  const Eigen::Map<const RowMatrix> weights(rows, static_cast<Eigen::Index>(n), k);
  out.topRows(static_cast<Eigen::Index>(cols_)).noalias() += z.transpose() * weights;
  if (!problem_.bias) return;
  for (std::size_t b = 0; b < n; ++b) {
    out.row(static_cast<Eigen::Index>(cols_)) +=
        bias_of(first + b) * weights.row(static_cast<Eigen::Index>(b));
  }
}

PassTotals Examples::pass(const RowMatrix& t, RowMatrix& a, const double* q_given, double* psi_out,
                          double* q_out) const {
  const auto k = static_cast<std::size_t>(labels_);
  std::vector<RowMatrix> partial(lanes_);
  std::vector<PassTotals> totals(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    RowMatrix& sum = partial[lane];
    sum = RowMatrix::Zero(dims(), labels_);
    std::vector<double> buffer;
    std::vector<double> psi(block_rows * k);
    std::vector<double> q(block_rows * k);
    std::vector<double> value(block_rows);
    for (std::size_t first = begin; first < end; first += block_rows) {
      const std::size_t n = std::min(block_rows, end - first);
      times(first, n, t, psi.data(), buffer);
      for (std::size_t b = 0; b < n; ++b) {
        // Relative to the true label: V(psi) - psi[y] = V(psi - psi[y]) without cancellation.
        double* row = psi.data() + b * k;
        const double own = row[label_[first + b]];
        for (std::size_t y = 0; y < k; ++y) row[y] -= own;
      }
      if (psi_out != nullptr) std::copy_n(psi.data(), n * k, psi_out + first * k);
      game().play(n, psi.data(), label_.data() + first, value.data(), q.data());
      for (std::size_t b = 0; b < n; ++b) {
        const std::size_t i = first + b;
        double* answer = q.data() + b * k;
        totals[lane].loss += c_[i] * value[b];
        if (q_given != nullptr) {
          std::copy_n(q_given + i * k, k, answer);
          const double risk = game().bayes_risk({answer, k}, label_[i]);
          double slack = value[b] - risk;
          for (std::size_t y = 0; y < k; ++y) slack -= psi[b * k + y] * answer[y];
          totals[lane].slack += c_[i] * std::max(0.0, slack);
          totals[lane].risk += c_[i] * risk;
        } else {
          double risk = value[b];
          for (std::size_t y = 0; y < k; ++y) risk -= psi[b * k + y] * answer[y];
          totals[lane].risk += c_[i] * risk;
        }
        if (q_out != nullptr) std::copy_n(answer, k, q_out + i * k);
        // From here on the row of a_i (e_y - q).
        for (std::size_t y = 0; y < k; ++y) answer[y] *= -a_[i];
        answer[label_[i]] += a_[i];
      }
      times_transposed(first, n, q.data(), sum, buffer);
    }
  });
  sum_lanes(partial, a);
  PassTotals all;
  for (const PassTotals& lane : totals) {
    all.loss += lane.loss;
    all.slack += lane.slack;
    all.risk += lane.risk;
  }
  std::array<double, 3> sums = {all.loss, all.slack, all.risk};
  reducer_->sum(sums);
  return {sums[0], sums[1], sums[2]};
}

void Examples::potentials(const RowMatrix& t, double* psi) const {
  each_lane([&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<double> buffer;
    for (std::size_t first = begin; first < end; first += block_rows) {
      times(first, std::min(block_rows, end - first), t, psi + first * labels_, buffer);
    }
  });
}

void Examples::collect(const double* rows, RowMatrix& out) const {
  std::vector<RowMatrix> partial(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    partial[lane] = RowMatrix::Zero(dims(), labels_);
    std::vector<double> buffer;
    for (std::size_t first = begin; first < end; first += block_rows) {
      times_transposed(first, std::min(block_rows, end - first), rows + first * labels_,
                       partial[lane], buffer);
    }
  });
  sum_lanes(partial, out);
}

void Examples::grams(const double* omega, int count, std::vector<Eigen::MatrixXd>& out) const {
  const Eigen::Index d = dims();
  // Partial sums are large here: fewer lanes where they would outgrow 256 MB.
  const auto room = (std::size_t{1} << 25U) / (static_cast<std::size_t>(d * d) * count) + 1;
  const std::size_t lanes = std::min(lanes_, room);
  std::vector<std::vector<Eigen::MatrixXd>> partial(lanes);
  parallel_tasks(threads_, lanes, [&](std::size_t lane) {
    const std::size_t begin = size() * lane / lanes;
    const std::size_t end = size() * (lane + 1) / lanes;
    partial[lane].assign(count, Eigen::MatrixXd::Zero(d, d));
    std::vector<double> buffer;
    RowMatrix block(static_cast<Eigen::Index>(block_rows), d);
    RowMatrix scaled(static_cast<Eigen::Index>(block_rows), d);
    for (std::size_t first = begin; first < end; first += block_rows) {
      const auto n = static_cast<Eigen::Index>(std::min(block_rows, end - first));
      std::size_t stride = 0;
      const double* rows = dense_rows(first, static_cast<std::size_t>(n), buffer, stride);
      for (Eigen::Index b = 0; b < n; ++b) {
        std::copy_n(rows + static_cast<std::size_t>(b) * stride, cols_, block.row(b).data());
        if (problem_.bias) block(b, d - 1) = bias_of(first + static_cast<std::size_t>(b));
      }
      for (int j = 0; j < count; ++j) {
        for (Eigen::Index b = 0; b < n; ++b) {
          scaled.row(b) = omega[(first + static_cast<std::size_t>(b)) * count + j] * block.row(b);
        }
        partial[lane][j].triangularView<Eigen::Lower>() +=
            scaled.topRows(n).transpose() * block.topRows(n);
      }
    }
  });
  out = std::move(partial[0]);
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    for (int j = 0; j < count; ++j) out[j] += partial[lane][j];
  }
  for (Eigen::MatrixXd& g : out) reducer_->sum({g.data(), static_cast<std::size_t>(g.size())});
}

}  // namespace covshift
