#include "covshift/promise/ratio_test.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "covshift/base/random.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/promise/inference.hpp"

namespace covshift {
namespace {

using Vector = Eigen::VectorXd;
using Columns = Eigen::MatrixXd;

constexpr Eigen::Index most_cells = 8;
constexpr Eigen::Index cell_components = 5;
constexpr Eigen::Index most_reference_rows = 2000;
constexpr double far_factor = 1.5;  // times the distance between labelled rows
constexpr Eigen::Index far_references = 500;
constexpr std::size_t most_squares = 30;   // columns whose squares are tested
constexpr std::size_t most_crossed = 6;    // columns up to which all products are
constexpr std::size_t mixed_columns = 10;  // beyond: squares of so many sums of columns
constexpr double cut = 3;                  // standard deviations, or few rows would decide

/// P(|t| > |difference / error|), the larger of two estimates of the training rows' variance.
double p_value(double difference, const Influenced& found, const Vector& count, double by_target) {
  Variance v = variance_of(found.train, found.target, count);
  const double own = variance_of(found.train, Vector(), count).variance;
  v.variance += std::max(0.0, by_target - own);
  // Nearly a constant, such as the product of the two columns of a yes and no: rounding is left.
  if (!(v.variance > 1e-20)) return std::abs(difference) < 1e-9 ? 1 : 0;
  return t_two_sided(difference / std::sqrt(v.variance), v.freedom);
}

/// Checks of one ratio, and their Bonferroni p-value.
class Checks {
 public:
  Checks(const WeightedSamples& samples, bool estimated)
      : s_(samples), w_(weights(samples.log_weight)), target_w_(weights(s_.target_log_weight)) {
    if (estimated) curvature_.emplace(samples);
  }

  /// Of: the weights average 1.
  void mean_weight() {
    const double n = s_.count.sum();
    const double mean = w_.dot(s_.count) / n;
    Influenced found;
    found.train = s_.count.array() * (w_.array() - mean) / std::sqrt(n * (n - 1));
    if (curvature_) {
      Influenced ratio = curvature_->influence(s_.count.array() * w_.array() / n);
      found.train += ratio.train;
      found.target = std::move(ratio.target);
    }
    add(p_value(mean - 1, found, s_.count, (target_w_.mean() - 1) / n));
  }

  /// Of: the weighted training mean of f is its mean on the target.
  void balance(const Vector& f, const Vector& target_f) {
    Influenced found = weighted_mean(s_, f, curvature_ ? &*curvature_ : nullptr);
    const double mean = target_f.mean();
    const auto m = static_cast<double>(target_f.size());
    const Vector own = -(target_f.array() - mean) / std::sqrt(m * (m - 1));
    found.target = found.target.size() == 0 ? own : Vector(found.target + own);
    const double by_target =
        (target_w_.array() * (target_f.array() - mean).square()).mean() / s_.count.sum();
    add(p_value(found.value - mean, found, s_.count, by_target));
  }
  void log_weight() { balance(w_.array().log(), target_w_.array().log()); }

  [[nodiscard]] double p() const { return std::min(1.0, least_ * checks_); }

 private:
  static Vector weights(const std::vector<double>& log_weight) {
    return Eigen::Map<const Vector>(log_weight.data(), static_cast<Eigen::Index>(log_weight.size()))
        .array()
        .exp();
  }
  void add(double p) {
    least_ = std::min(least_, p);
    ++checks_;
  }

  const WeightedSamples& s_;
  Vector w_, target_w_;
  std::optional<RatioCurvature> curvature_;
  double least_ = 1;
  double checks_ = 0;
};

/// Some columns and, where they are many, sums of all with random signs; standardised over both
/// samples and cut off. Not the components: those were chosen for their large squares in the
/// training rows, which are smaller elsewhere.
class Directions {
 public:
  Directions(const MatrixView& labelled, const MatrixView& other, std::uint64_t seed) {
    const std::size_t count = std::min(labelled.cols, most_squares);
    for (std::size_t k = 0; k < count; ++k) columns_.push_back(k * labelled.cols / count);
    place_.assign(labelled.cols, -1);
    for (std::size_t k = 0; k < count; ++k) place_[columns_[k]] = static_cast<Eigen::Index>(k);
    if (labelled.cols > most_crossed) {
      Random random(seed + 11);
      sign_.resize(labelled.cols * mixed_columns);
      for (double& s : sign_) s = random.uniform() < 0.5 ? -1 : 1;
    }
    train = along(labelled);
    target = along(other);
    standardise();
  }

  Columns train, target;  ///< a column for each direction
  [[nodiscard]] bool mixed() const { return !sign_.empty(); }

 private:
  [[nodiscard]] Columns along(const MatrixView& x) const {
    const auto plain = static_cast<Eigen::Index>(columns_.size());
    const auto mixes = static_cast<Eigen::Index>(mixed() ? mixed_columns : 0);
    Columns out = Columns::Zero(static_cast<Eigen::Index>(x.rows), plain + mixes);
    const Rows rows(x, {});
    for (std::size_t i = 0; i < x.rows; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      rows.each(i, [&](std::size_t j, double value) {
        if (place_[j] >= 0) out(row, place_[j]) += value;
        for (Eigen::Index k = 0; k < mixes; ++k) {
          out(row, plain + k) += sign_[j * mixed_columns + static_cast<std::size_t>(k)] * value;
        }
      });
    }
    return out;
  }
  void standardise() {
    const auto n = static_cast<double>(train.rows() + target.rows());
    for (Eigen::Index j = 0; j < train.cols(); ++j) {
      const double mean = (train.col(j).sum() + target.col(j).sum()) / n;
      train.col(j).array() -= mean;
      target.col(j).array() -= mean;
      const double deviation =
          std::sqrt((train.col(j).squaredNorm() + target.col(j).squaredNorm()) / n);
      const double unit = deviation > 0 && std::isfinite(deviation) ? 1 / deviation : 0;
      train.col(j) = (unit * train.col(j)).cwiseMax(-cut).cwiseMin(cut);
      target.col(j) = (unit * target.col(j)).cwiseMax(-cut).cwiseMin(cut);
    }
  }

  std::vector<std::size_t> columns_;
  std::vector<Eigen::Index> place_;  // of each column; -1: not among them
  std::vector<double> sign_;         // of each column in each sum
};

void check_products(const Directions& d, Checks& checks) {
  for (Eigen::Index j = 0; j < d.train.cols(); ++j) {
    for (Eigen::Index k = j; k < (d.mixed() ? j + 1 : d.train.cols()); ++k) {
      const Vector f = d.train.col(j).cwiseProduct(d.train.col(k));
      checks.balance(f, d.target.col(j).cwiseProduct(d.target.col(k)));
    }
  }
}

/// The nearest of some centres (rows) to each row.
Eigen::VectorXi nearest(const Columns& rows, const Columns& centres) {
  Eigen::VectorXi at(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    (centres.rowwise() - rows.row(i)).rowwise().squaredNorm().minCoeff(&at[i]);
  }
  return at;
}

/// Cells around the means of clusters of all rows (Lloyd), from rows that are far apart.
Columns cells_of(const Columns& rows) {
  const Eigen::Index count = std::min(most_cells, rows.rows());
  Columns centres(count, rows.cols());
  centres.row(0) = rows.colwise().mean();
  Vector apart = (rows.rowwise() - centres.row(0)).rowwise().squaredNorm();
  for (Eigen::Index c = 1; c < count; ++c) {
    // Not the furthest row, which may be alone: that at 90% of the distances.
    std::vector<Eigen::Index> order(static_cast<std::size_t>(rows.rows()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Eigen::Index>(i);
    const auto place = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 9 / 10);
    std::nth_element(order.begin(), place, order.end(),
                     [&](Eigen::Index x, Eigen::Index y) { return apart[x] < apart[y]; });
    centres.row(c) = rows.row(*place);
    apart = apart.cwiseMin((rows.rowwise() - centres.row(c)).rowwise().squaredNorm());
  }
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    const Eigen::VectorXi at = nearest(rows, centres);
    Columns sums = Columns::Zero(count, rows.cols());
    Vector size = Vector::Zero(count);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      sums.row(at[i]) += rows.row(i);
      size[at[i]] += 1;
    }
    for (Eigen::Index c = 0; c < count; ++c) {
      if (size[c] > 0) centres.row(c) = sums.row(c) / size[c];
    }
  }
  return centres;
}

/// At most so many rows, evenly spaced.
Columns some_of(const Columns& rows, Eigen::Index most) {
  if (rows.rows() <= most) return rows;
  Columns some(most, rows.cols());
  for (Eigen::Index i = 0; i < most; ++i) some.row(i) = rows.row(i * rows.rows() / most);
  return some;
}

void check_cells(const WeightedSamples& s, Checks& checks) {
  const Eigen::Index used = std::min(s.train.cols(), cell_components);
  const Columns a = s.train.leftCols(used);
  const Columns b = s.target.leftCols(used);
  const Columns some_a = some_of(a, most_reference_rows);
  const Columns some_b = some_of(b, most_reference_rows);
  Columns pooled(some_a.rows() + some_b.rows(), used);
  pooled << some_a, some_b;
  const Columns centres = cells_of(pooled);
  const Eigen::VectorXi in_a = nearest(a, centres);
  const Eigen::VectorXi in_b = nearest(b, centres);
  for (Eigen::Index c = 0; c < centres.rows(); ++c) {
    const Vector f = (in_a.array() == static_cast<int>(c)).cast<double>();
    const Vector target_f = (in_b.array() == static_cast<int>(c)).cast<double>();
    // A share of few rows is no normal variable.
    constexpr double fewest = 10;
    if (std::min(f.sum(), (1 - f.array()).sum()) < fewest) continue;
    checks.balance(f, target_f);
  }
}

/// Sets Judged::far, in the space of the components: by the distance to the fifth nearest labelled
/// row (the nearest is often close by chance). 0.2% of the labelled rows may be outliers.
void find_far_rows(const WeightedSamples& s, Judged& judged) {
  judged.far.assign(static_cast<std::size_t>(s.target.rows()), 0);
  const Columns references = some_of(s.train, far_references);
  constexpr Eigen::Index neighbours = 5;
  if (references.rows() <= neighbours) return;
  const auto distances = [&](const Columns& rows, bool own) {
    std::vector<double> fifth(static_cast<std::size_t>(rows.rows()));
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      Vector apart = (references.rowwise() - rows.row(i)).rowwise().squaredNorm();
      double* const place = apart.data() + neighbours - (own ? 0 : 1);  // a row is near itself
      std::nth_element(apart.data(), place, apart.data() + apart.size());
      fifth[static_cast<std::size_t>(i)] = std::sqrt(*place);
    }
    return fifth;
  };
  std::vector<double> own = distances(references, true);
  const std::size_t aside = own.size() / 500;
  std::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(aside), own.end(),
                   std::greater<>());
  judged.far_by_chance = static_cast<double>(aside + 1) / static_cast<double>(own.size() + 1);
  const std::vector<double> there = distances(s.target, false);
  for (std::size_t i = 0; i < there.size(); ++i) {
    judged.far[i] = there[i] > far_factor * own[aside] ? 1 : 0;
  }
}

void remove(const std::vector<char>& far, Columns& rows) {
  Eigen::Index kept = 0;
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (far[i] == 0) rows.row(kept++) = rows.row(static_cast<Eigen::Index>(i)).eval();
  }
  rows.conservativeResize(kept, Eigen::NoChange);
}

/// The p-value (Bonferroni) of: the weights average 1, and weighted training means are those of the
/// target, of log w, of the components, of squares and products of columns (spread and
/// interactions, which a linear log ratio misses), and of membership in eight cells that divide
/// all rows (anything else). Each difference is divided by its standard error; the variance of a
/// weighted mean is estimated on the target too (E_train w^2 f = E_target w f), where heavy weights
/// show that the training sample happens to lack. `estimated` allows for the error of a ratio that
/// is estimated.
double test_ratio(const WeightedSamples& s, const Directions& directions, bool estimated) {
  if (s.train.rows() < 2 || s.target.rows() < 2) return 1;
  Checks checks(s, estimated);
  checks.mean_weight();
  checks.log_weight();
  for (Eigen::Index j = 0; j < s.train.cols(); ++j) checks.balance(s.train.col(j), s.target.col(j));
  check_products(directions, checks);
  check_cells(s, checks);
  return checks.p();
}

Judged judge_once(const JudgedRows& rows, const HeldOutRatio& ratio) {
  Judged result;
  WeightedSamples& samples = result.samples;
  samples = weighted_samples(rows.features, rows.target, ratio, rows.seed, rows.count);
  find_far_rows(samples, result);
  const auto far = static_cast<double>(std::count(result.far.begin(), result.far.end(), 1));
  result.evidence = evidence_of(
      ratio, std::max(rows.unlike, far / static_cast<double>(result.far.size())), rows.count);
  if (!result.evidence.cannot_tell.empty()) {  // perhaps all are far
    result.far.assign(result.far.size(), 0);
    return result;
  }
  remove(result.far, samples.target);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < result.far.size(); ++i) {
    if (result.far[i] == 0) samples.target_log_weight[kept++] = samples.target_log_weight[i];
  }
  samples.target_log_weight.resize(kept);
  Directions directions(rows.features, rows.target, rows.seed);
  remove(result.far, directions.target);
  result.ratio_p_value = test_ratio(samples, directions, rows.estimated);
  return result;
}

}  // namespace

Vector Judged::near(const Vector& target) const {
  Vector own(samples.target.rows());
  Eigen::Index kept = 0;
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (far[i] == 0) own[kept++] = target[static_cast<Eigen::Index>(i)];
  }
  return own;
}

Judged judge(const JudgedRows& rows, const HeldOutRatio& ratio) {
  Judged first = judge_once(rows, ratio);
  if (rows.linear == nullptr || first.ratio_p_value >= ratio_level) return first;
  RatioOptions options = *rows.linear;
  options.method = RatioMethod::quadratic;
  Judged second = judge_once(rows, held_out_ratio(options, rows.features, rows.target, rows.count));
  second.quadratic = true;
  const bool better = second.evidence.cannot_tell.empty() && second.ratio_p_value >= ratio_level;
  return better ? second : first;
}

}  // namespace covshift
