#include "covshift/ratio/gaussian_basis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/stopwatch.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/smooth_order.hpp"
#include "covshift/kernel/gram.hpp"

namespace covshift {

namespace {

constexpr std::array<double, 9> width_multiples = {0.2, 0.3, 0.45, 0.65, 1.0, 1.5, 2.2, 3.3, 5.0};
constexpr std::size_t median_rows = 250;

}  // namespace

Centres::Centres(std::span<const Row> rows, std::size_t dims) : Centres(rows.size(), dims) {
  struct Entry {
    std::size_t column;
    std::uint32_t centre;
    double value;
  };
  std::vector<Entry> entries;
  RowBuffer buffer;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    rows[c].first->each_once(rows[c].second, buffer, [&](std::size_t j, double value) {
      if (value != 0) entries.push_back({j, static_cast<std::uint32_t>(c), value});
    });
  }
  if (4 * entries.size() > count_ * dims_) {
    dense_.assign(dims_ * count_, 0.0);
    for (const Entry& e : entries) dense_[e.column * count_ + e.centre] = e.value;
    return;
  }
  offsets_.assign(dims_ + 1, 0);
  for (const Entry& e : entries) ++offsets_[e.column + 1];
  for (std::size_t j = 0; j < dims_; ++j) offsets_[j + 1] += offsets_[j];
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  centre_.resize(entries.size());
  values_.resize(entries.size());
  for (const Entry& e : entries) {
    const std::size_t k = next[e.column]++;
    centre_[k] = e.centre;
    values_[k] = e.value;
  }
  measure();
}

void Centres::measure() {
  squared_norms_.assign(count_, 0.0);
  for (std::size_t k = 0; k < values_.size(); ++k)
    squared_norms_[centre_[k]] += values_[k] * values_[k];
}

void Centres::squared_distances(const Rows& x, std::size_t i, Buffer& buffer, double* out) const {
  std::fill(out, out + count_, 0.0);
  if (!dense_.empty()) {
    buffer.dense.resize(dims_);
    x.gather(i, buffer.dense.data());
    for (std::size_t j = 0; j < dims_; ++j) {
      const double* column = dense_.data() + j * count_;
      const double v = buffer.dense[j];
      for (std::size_t c = 0; c < count_; ++c) out[c] += (v - column[c]) * (v - column[c]);
    }
    return;
  }
  double norm = 0;
  x.each_once(i, buffer.sparse, [&](std::size_t j, double v) {
    norm += v * v;
    for (std::size_t k = offsets_[j]; k < offsets_[j + 1]; ++k) out[centre_[k]] += v * values_[k];
  });
  for (std::size_t c = 0; c < count_; ++c) {
    const double squared = norm + squared_norms_[c] - 2 * out[c];
    if (std::isfinite(squared)) {
      out[c] = std::max(squared, 0.0);
    } else {
      out[c] = std::numeric_limits<double>::infinity();
    }
  }
}

Eigen::MatrixXd Centres::squared_distances(const Rows& x, std::span<const std::size_t> order,
                                           int threads) const {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(count_),
                         static_cast<Eigen::Index>(order.size()));
  Lanes(order.size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    Buffer buffer;
    for (std::size_t k = first; k < last; ++k) {
      squared_distances(x, order[k], buffer, result.data() + k * count_);
    }
  });
  return result;
}

void to_kernels(std::span<double> squared, double width) {
  constexpr std::size_t vector = padded(1);
  const double rate = -0.5 / (width * width);
  for (double& v : squared) v *= rate;
  const std::size_t whole = squared.size() / vector * vector;
  kernels().exponentials(whole, squared.data());
  std::array<double, vector> rest{};
  const auto tail = squared.subspan(whole);
  std::copy(tail.begin(), tail.end(), rest.begin());
  kernels().exponentials(vector, rest.data());
  std::copy_n(rest.begin(), tail.size(), tail.begin());
}

Eigen::MatrixXd gaussian_kernels(Eigen::MatrixXd squared, double width) {
  to_kernels({squared.data(), static_cast<std::size_t>(squared.size())}, width);
  return squared;
}

Eigen::MatrixXd weighted_gram(const Eigen::MatrixXd& phi, const Eigen::VectorXd& weight,
                              Eigen::Index first, Eigen::Index step) {
  const auto d = static_cast<std::size_t>(phi.rows());
  const std::size_t pitch = padded(d);
  std::vector<double> rows(block_rows * pitch);
  std::vector<double> columns_of(d * block_rows);
  std::array<double, block_rows> share{};
  std::vector<double> sum(d * pitch);
  std::size_t n = 0;
  for (Eigen::Index i = first; i < phi.cols(); i += step) {
    std::copy_n(phi.col(i).data(), d, rows.data() + n * pitch);
    for (std::size_t j = 0; j < d; ++j) columns_of[j * block_rows + n] = rows[n * pitch + j];
    share[n++] = weight[i];
    if (n == block_rows || i + step >= phi.cols()) {
      add_gram({rows.data(), pitch, n, d}, columns_of.data(), share.data(), sum.data());
      n = 0;
    }
  }
  Eigen::MatrixXd gram(phi.rows(), phi.rows());
  for (Eigen::Index j = 0; j < phi.rows(); ++j) {
    for (Eigen::Index l = 0; l <= j; ++l) {
      gram(j, l) = gram(l, j) = gram_entry(sum.data(), d, j, l);
    }
  }
  return gram;
}

nlohmann::json Centres::to_json() const {
  nlohmann::json json = {{"count", count_}};
  if (!dense_.empty()) {
    json["dense"] = dense_;
  } else {
    json["offsets"] = offsets_;
    json["centre"] = centre_;
    json["values"] = values_;
  }
  return json;
}

Centres Centres::from_json(const nlohmann::json& json, std::size_t dims) {
  constexpr auto what = "centres of a density ratio";
  Centres centres(detail::json_field<std::size_t>(json, "count", what), dims);
  bool sound = centres.count_ > 0;
  if (json.contains("dense")) {
    centres.dense_ = detail::json_field<std::vector<double>>(json, "dense", what);
    sound = sound && centres.dense_.size() / dims == centres.count_ &&
            centres.dense_.size() % dims == 0 && all_finite(centres.dense_);
  } else {
    centres.offsets_ = detail::json_field<std::vector<std::size_t>>(json, "offsets", what);
    centres.centre_ = detail::json_field<std::vector<std::uint32_t>>(json, "centre", what);
    centres.values_ = detail::json_field<std::vector<double>>(json, "values", what);
    sound = sound && centres.offsets_.size() == dims + 1 && centres.offsets_.front() == 0 &&
            centres.offsets_.back() == centres.values_.size() &&
            std::is_sorted(centres.offsets_.begin(), centres.offsets_.end()) &&
            centres.centre_.size() == centres.values_.size() && all_finite(centres.values_) &&
            std::all_of(centres.centre_.begin(), centres.centre_.end(),
                        [&](std::uint32_t c) { return c < centres.count_; });
  }
  if (!sound) fail_input("{}: unusable; the file is damaged or was edited", what);
  if (centres.dense_.empty()) centres.measure();
  return centres;
}

KernelRatio::KernelRatio(std::size_t cols, std::vector<std::int32_t> columns, nlohmann::json report,
                         Form form, Centres centres)
    : DensityRatio(cols, std::move(columns), std::move(report)),
      form_(std::move(form)),
      centres_(std::move(centres)) {}

void KernelRatio::evaluate(const Rows& x, std::size_t first, std::size_t last,
                           std::span<double> out) const {
  Centres::Buffer buffer;
  Eigen::VectorXd phi(static_cast<Eigen::Index>(centres_.size()));
  const Eigen::Map<const Eigen::VectorXd> coefficients(form_.coefficients.data(), phi.size());
  for (std::size_t i = first; i < last; ++i) {
    centres_.squared_distances(x, i, buffer, phi.data());
    to_kernels({phi.data(), centres_.size()}, form_.width);
    const double ratio = form_.offset + coefficients.dot(phi);
    out[i] = std::log(std::clamp(ratio, form_.floor, form_.ceiling));
  }
}

void KernelRatio::store(nlohmann::json& json) const {
  json["width"] = form_.width;
  json["offset"] = form_.offset;
  json["floor"] = form_.floor;
  json["ceiling"] = form_.ceiling;
  json["coefficients"] = form_.coefficients;
  json["centres"] = centres_.to_json();
}

std::unique_ptr<KernelRatio> KernelRatio::load(RatioMethod method, std::size_t cols,
                                               std::vector<std::int32_t> columns,
                                               nlohmann::json report, const nlohmann::json& json) {
  constexpr auto what = "kernel density ratio";
  Form form{method,
            detail::json_field<double>(json, "width", what),
            detail::json_field<double>(json, "offset", what),
            detail::json_field<double>(json, "floor", what),
            detail::json_field<double>(json, "ceiling", what),
            detail::json_field<std::vector<double>>(json, "coefficients", what)};
  Centres centres = Centres::from_json(detail::json_field<nlohmann::json>(json, "centres", what),
                                       columns.empty() ? cols : columns.size());
  const bool sound = form.coefficients.size() == centres.size() && form.width > 0 &&
                     std::isfinite(form.width) && std::isfinite(form.offset) && form.floor > 0 &&
                     form.floor <= form.ceiling && std::isfinite(form.ceiling) &&
                     all_finite(form.coefficients);
  if (!sound) fail_input("{}: a number is unusable; the file is damaged or was edited", what);
  return std::make_unique<KernelRatio>(cols, std::move(columns), std::move(report), std::move(form),
                                       std::move(centres));
}

namespace {

Centres target_centres(const RatioOptions& options, const Samples& samples,
                       std::span<const std::size_t> target_order) {
  std::vector<Centres::Row> rows;
  for (const std::size_t i : target_order.first(std::min(options.centres, target_order.size()))) {
    rows.emplace_back(&samples.target, i);
  }
  return {rows, samples.target.dims()};
}

Eigen::VectorXd shares(const Samples& samples, std::span<const std::size_t> order) {
  Eigen::VectorXd share(static_cast<Eigen::Index>(order.size()));
  for (std::size_t k = 0; k < order.size(); ++k) {
    share[static_cast<Eigen::Index>(k)] = samples.weight_of(order[k]);
  }
  return share / share.sum();
}

}  // namespace

KernelData::KernelData(const RatioOptions& options, const Samples& samples)
    : train_order(drawing_order(samples.train, samples.weight, options.seed)),
      target_order(drawing_order(samples.target, {}, options.seed)),
      train_total(samples.train_total()),
      train_share(shares(samples, train_order)),
      centres(target_centres(options, samples, target_order)),
      train_distance(centres.squared_distances(samples.train, train_order, options.threads)),
      target_distance(centres.squared_distances(samples.target, target_order, options.threads)),
      widths(candidate_widths(options.kernel_width, width_multiples, samples, train_order,
                              target_order, options.threads)) {}

std::vector<double> candidate_widths(std::optional<double> given, std::span<const double> multiples,
                                     const Samples& samples,
                                     std::span<const std::size_t> train_order,
                                     std::span<const std::size_t> target_order, int threads) {
  if (given) return {*given};
  std::vector<Centres::Row> rows;
  const auto train = train_order.first(std::min(median_rows, train_order.size()));
  const auto target = target_order.first(std::min(median_rows, target_order.size()));
  for (const std::size_t i : train) rows.emplace_back(&samples.train, i);
  for (const std::size_t i : target) rows.emplace_back(&samples.target, i);
  const Centres centres(rows, samples.train.dims());
  const Eigen::MatrixXd from_train = centres.squared_distances(samples.train, train, threads);
  const Eigen::MatrixXd from_target = centres.squared_distances(samples.target, target, threads);
  std::vector<double> squared;
  for (Eigen::Index k = 0; k < from_train.rows(); ++k) {  // every pair once
    for (Eigen::Index l = 0; l < k; ++l) {
      squared.push_back(k < from_train.cols() ? from_train(l, k)
                                              : from_target(l, k - from_train.cols()));
    }
  }
  double median = 0;
  if (!squared.empty()) {
    const auto middle = squared.begin() + static_cast<std::ptrdiff_t>(squared.size() / 2);
    std::nth_element(squared.begin(), middle, squared.end());
    median = std::sqrt(*middle);
    if (median == 0) {  // more than half of the pairs are equal: the typical distance of the others
      const auto positive =
          std::partition(squared.begin(), squared.end(), [](double s) { return s == 0; });
      if (positive != squared.end()) {
        const auto half = positive + (squared.end() - positive) / 2;
        std::nth_element(positive, half, squared.end());
        median = std::sqrt(*half);
      }
    }
  }
  if (!std::isfinite(median)) {
    throw Error(Error::Kind::numeric, "distances between rows overflow; scale the features");
  }
  if (median == 0) return {1.0};
  std::vector<double> widths;
  for (const double m : multiples) widths.push_back(m * median);
  return widths;
}

std::vector<double> walk_losses(const RatioOptions& options, std::size_t count, std::size_t middle,
                                const std::function<double(std::size_t, std::size_t)>& loss) {
  constexpr std::size_t patience = 2;
  const Stopwatch clock;
  std::vector<double> losses(count, std::numeric_limits<double>::infinity());
  losses[middle] = loss(middle, middle);
  double best = losses[middle];
  struct Side {
    std::ptrdiff_t step;
    std::size_t at;
    std::size_t worse = 0;
  };
  std::array<Side, 2> sides = {Side{-1, middle}, Side{1, middle}};
  for (;;) {
    std::vector<Side*> going;
    for (Side& side : sides) {
      const bool last = side.at == (side.step < 0 ? 0 : count - 1);
      if (!last && side.worse < patience) going.push_back(&side);
    }
    const bool late = options.time_limit > 0 && clock.seconds() > options.time_limit;
    if (going.empty() || late) return losses;
    parallel_tasks(options.threads, going.size(), [&](std::size_t g) {
      const std::size_t next = going[g]->at + static_cast<std::size_t>(going[g]->step);
      losses[next] = loss(next, going[g]->at);
    });
    for (Side* side : going) {
      side->at += static_cast<std::size_t>(side->step);
      // Without any finite loss there is nothing to be worse than.
      const bool worse = std::isfinite(best) && !(losses[side->at] < best);
      side->worse = worse ? side->worse + 1 : 0;
    }
    for (const Side* side : going) best = std::min(best, losses[side->at]);
  }
}

std::size_t least(const std::vector<double>& losses) {
  return static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) - losses.begin());
}

std::vector<double> candidate_lambdas(std::optional<double> given, std::vector<double> otherwise) {
  if (given) return {*given};
  return otherwise;
}

}  // namespace covshift
