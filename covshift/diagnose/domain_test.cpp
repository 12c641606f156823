#include "covshift/diagnose/domain_test.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

using Eigen::Index;
using Matrix2 = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr Index most_at_once = 500;  // permutations: memory is rows times this
constexpr double largest_z = 6;      // before squaring: limits the influence of outliers
constexpr int planted = 100;         // shifts to measure the power with

/// The pooled samples, training rows first, in the columns of the discriminant.
class Pool {
 public:
  Pool(const Rows& train, const Rows& target, const RowSpace& space)
      : train_(train),
        target_(target),
        space_(space),
        squares_(2 * space.dims() <= RowSpace::most_dims) {}

  [[nodiscard]] std::size_t size() const { return train_.size() + target_.size(); }
  [[nodiscard]] bool is_target(std::size_t i) const { return i >= train_.size(); }
  [[nodiscard]] Index dims() const {
    return static_cast<Index>(squares_ ? 2 * space_.dims() : space_.dims());
  }
  void fill(std::size_t i, double* out) const {
    space_.fill(is_target(i) ? target_ : train_, is_target(i) ? i - train_.size() : i, out);
    if (!squares_) return;
    for (std::size_t k = 0; k < space_.dims(); ++k) {
      const double z = std::clamp(out[k], -largest_z, largest_z);
      out[space_.dims() + k] = z * z;
    }
  }

 private:
  const Rows& train_;
  const Rows& target_;
  const RowSpace& space_;
  bool squares_;
};

/// Sums over the rows of a fold.
struct FoldSums {
  Matrix2 gram;   // lower half
  Vector train;   // of training rows
  Vector target;  // of target rows
  double n_train = 0, n_target = 0;

  explicit FoldSums(Index d)
      : gram(Matrix2::Zero(d, d)), train(Vector::Zero(d)), target(Vector::Zero(d)) {}
  void add(const FoldSums& o, double sign) {
    gram += sign * o.gram;
    train += sign * o.train;
    target += sign * o.target;
    n_train += sign * o.n_train;
    n_target += sign * o.n_target;
  }
};

/// The factored covariance of the pooled samples plus a ridge.
struct Covariance {
  double rows;
  Vector scale;
  Eigen::LLT<Matrix2> factor;
  Matrix2 s;

  explicit Covariance(const FoldSums& sums) : rows(sums.n_train + sums.n_target) {
    const double n = rows;
    const Vector mean = (sums.train + sums.target) / n;
    s = sums.gram.selfadjointView<Eigen::Lower>();
    s = s / n - mean * mean.transpose();
    // Standardised; rounding may make the variance of a constant column slightly negative.
    const Vector diagonal = s.diagonal();
    const Vector unit = (diagonal.array() > 1e-12).select(diagonal, 0.0);
    scale = (unit.array() > 0).select(unit.cwiseSqrt().cwiseInverse(), 0.0);
    Matrix2 scaled = scale.asDiagonal() * s * scale.asDiagonal();
    // The ridge is the sampling error of d columns if S is the identity.
    scaled.diagonal().array() += std::max(1e-6, static_cast<double>(s.rows()) / n);
    scaled.diagonal() = (scale.array() > 0).select(scaled.diagonal(), 1.0);
    factor.compute(scaled);
  }
  /// The number of columns that are not linear functions of others; all, if rows are too few to
  /// say.
  [[nodiscard]] Index rank() const {
    const Index columns = (scale.array() > 0).count();
    const Matrix2 correlation = scale.asDiagonal() * s * scale.asDiagonal();
    const Index found = (correlation.ldlt().vectorD().array() > 1e-9).count();
    return std::max<Index>(1, static_cast<double>(found) + 1 < rows ? found : columns);
  }
  [[nodiscard]] Matrix2 solve(const Matrix2& difference) const {
    return scale.asDiagonal() * factor.solve(scale.asDiagonal() * difference);
  }
};

struct Folds {
  int count = 0;
  std::vector<std::size_t> train_order, target_order;  // shuffled
  std::vector<int> of;                                 // of each row of the pool
};

Folds deal(std::size_t n_train, std::size_t n_target, int wanted, std::uint64_t seed) {
  Folds folds;
  folds.count = static_cast<int>(std::min({n_train, n_target, static_cast<std::size_t>(wanted)}));
  if (folds.count < 2) return folds;
  Random random(seed);
  const auto shuffled = [&](std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(std::span(order));
    return order;
  };
  folds.train_order = shuffled(n_train);
  folds.target_order = shuffled(n_target);
  folds.of = deal_folds(folds.train_order, n_train, folds.count);
  const std::vector<int> target = deal_folds(folds.target_order, n_target, folds.count);
  folds.of.insert(folds.of.end(), target.begin(), target.end());
  return folds;
}

std::vector<FoldSums> sum_up(const Pool& pool, const Folds& folds, int threads) {
  constexpr Index block = 64;
  const Index d = pool.dims();
  const auto count = static_cast<std::size_t>(folds.count);
  const Lanes lanes(pool.size());
  std::vector<std::vector<FoldSums>> partial(lanes.count);
  lanes.each(threads, [&](std::size_t first, std::size_t last, std::size_t lane) {
    std::vector<FoldSums>& sums = partial[lane];
    sums.assign(count, FoldSums(d));
    std::vector<Matrix2> packed(count, Matrix2(d, block));
    std::vector<Index> filled(count, 0);
    const auto flush = [&](std::size_t f) {
      sums[f].gram.selfadjointView<Eigen::Lower>().rankUpdate(packed[f].leftCols(filled[f]));
      filled[f] = 0;
    };
    for (std::size_t i = first; i < last; ++i) {
      const auto f = static_cast<std::size_t>(folds.of[i]);
      auto row = packed[f].col(filled[f]++);
      pool.fill(i, row.data());
      (pool.is_target(i) ? sums[f].target : sums[f].train) += row;
      (pool.is_target(i) ? sums[f].n_target : sums[f].n_train) += 1;
      if (filled[f] == block) flush(f);
    }
    for (std::size_t f = 0; f < count; ++f) {
      if (filled[f] > 0) flush(f);
    }
  });
  for (std::size_t lane = 1; lane < lanes.count; ++lane) {
    for (std::size_t f = 0; f < count; ++f) partial[0][f].add(partial[lane][f], 1);
  }
  return std::move(partial[0]);
}

/// What the discriminant of each fold learns from: all other folds.
std::vector<FoldSums> others(const std::vector<FoldSums>& folds) {
  FoldSums total = folds[0];
  for (std::size_t f = 1; f < folds.size(); ++f) total.add(folds[f], 1);
  std::vector<FoldSums> rest(folds.size(), total);
  for (std::size_t f = 0; f < folds.size(); ++f) rest[f].add(folds[f], -1);
  return rest;
}

/// Scores of every row, and the AUC of every fold.
std::vector<double> score_all(const Pool& pool, const Folds& folds,
                              const std::vector<FoldSums>& rest, int threads,
                              std::vector<double>& score) {
  std::vector<Vector> u;
  std::vector<double> offset;
  for (const FoldSums& sums : rest) {
    const Covariance covariance(sums);
    const Vector mean = sums.train / sums.n_train;
    Vector direction = covariance.solve(sums.target / sums.n_target - mean);
    const double spread = std::sqrt(direction.dot(covariance.s * direction));
    if (spread > 0) direction /= spread;
    offset.push_back(direction.dot(mean));
    u.push_back(std::move(direction));
  }
  score.resize(pool.size());
  Lanes(pool.size()).each(threads, [&](std::size_t first, std::size_t last, std::size_t) {
    Vector row(pool.dims());
    for (std::size_t i = first; i < last; ++i) {
      const auto f = static_cast<std::size_t>(folds.of[i]);
      pool.fill(i, row.data());
      score[i] = static_cast<float>(u[f].dot(row) - offset[f]);  // equal rows have equal scores
    }
  });
  std::vector<double> area(static_cast<std::size_t>(folds.count));
  parallel_tasks(threads, area.size(), [&](std::size_t f) {
    std::vector<double> sides[2];  // NOLINT(*-c-arrays)
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (folds.of[i] == static_cast<int>(f)) sides[pool.is_target(i) ? 1 : 0].push_back(score[i]);
    }
    area[f] = area_under_curve(sides[0], sides[1]);
  });
  return area;
}

/// The rows used in the permutations, by fold.
struct DealtRows {
  std::vector<Matrix2> z;      // columns are rows of the pool
  std::vector<Vector> sample;  // of each row, 1: target
  std::vector<FoldSums> sums;  // `train` has all rows: the permutation decides their sample
};

DealtRows gather(const Pool& pool, const Folds& folds, std::size_t n_train, std::size_t n_target,
                 std::size_t offset) {
  const Index d = pool.dims();
  const auto count = static_cast<std::size_t>(folds.count);
  std::vector<std::vector<std::size_t>> rows(count);  // of the pool, for each fold
  for (std::size_t i = 0; i < n_train; ++i) {
    rows[folds.of[folds.train_order[i]]].push_back(folds.train_order[i]);
  }
  for (std::size_t i = 0; i < n_target; ++i) {
    const std::size_t row = offset + folds.target_order[i];
    rows[folds.of[row]].push_back(row);
  }
  DealtRows dealt{std::vector<Matrix2>(count), std::vector<Vector>(count),
                  std::vector<FoldSums>(count, FoldSums(d))};
  for (std::size_t f = 0; f < count; ++f) {
    const auto n = static_cast<Index>(rows[f].size());
    dealt.z[f].resize(d, n);
    dealt.sample[f].resize(n);
    for (Index i = 0; i < n; ++i) {
      pool.fill(rows[f][i], dealt.z[f].col(i).data());
      dealt.sample[f][i] = pool.is_target(rows[f][i]) ? 1 : 0;
    }
    FoldSums& sums = dealt.sums[f];
    sums.gram.selfadjointView<Eigen::Lower>().rankUpdate(dealt.z[f]);
    sums.train = dealt.z[f].rowwise().sum();
    sums.n_target = dealt.sample[f].sum();
    sums.n_train = static_cast<double>(n) - sums.n_target;
  }
  return dealt;
}

/// The AUC of each column of scores; `label`: 1 for rows dealt to the target.
void column_areas(const Matrix2& score, const Matrix2& label, double* area) {
  std::vector<double> sides[2];  // NOLINT(*-c-arrays)
  for (Index b = 0; b < score.cols(); ++b) {
    sides[0].clear();
    sides[1].clear();
    for (Index i = 0; i < score.rows(); ++i) {
      sides[label(i, b) > 0 ? 1 : 0].push_back(static_cast<float>(score(i, b)));
    }
    area[b] = area_under_curve(sides[0], sides[1]);
  }
}

/// Assigns rows to samples at random, within each fold, and tests as the data are tested.
class Permutations {
 public:
  Permutations(DealtRows dealt, std::uint64_t seed, int threads)
      : dealt_(std::move(dealt)),
        rest_(others(dealt_.sums)),
        covariance_(rest_.begin(), rest_.end()),
        random_(seed),
        threads_(threads) {}

  /// The mean AUC over folds of the data (first) and of each permutation.
  std::vector<double> areas(int permutations) { return tested(permutations + 1, 0); }
  /// The same of permutations whose target is then shifted: in a random direction, by `length`
  /// standard deviations, one for each.
  std::vector<double> shifted_areas(int count, double length) { return tested(count, length); }

 private:
  std::vector<double> tested(Index columns, double length) {
    const std::size_t count = dealt_.z.size();
    std::vector<double> mean(static_cast<std::size_t>(columns), 0.0);
    std::vector<Matrix2> label(count);  // rows x permutations
    std::vector<Matrix2> target(count);
    std::vector<std::vector<double>> area(count);
    for (Index first = 0; first < columns; first += most_at_once) {
      const Index some = std::min(most_at_once, columns - first);
      for (std::size_t f = 0; f < count; ++f) {
        Vector& sample = dealt_.sample[f];
        label[f].resize(sample.size(), some);
        for (Index b = 0; b < some; ++b) {
          if (first + b > 0 || length > 0) random_.shuffle(std::span(sample.data(), sample.size()));
          label[f].col(b) = sample;
        }
      }
      const Matrix2 shift = length > 0 ? random_shifts(some, length) : Matrix2();
      parallel_tasks(threads_, count, [&](std::size_t f) { target[f] = dealt_.z[f] * label[f]; });
      parallel_tasks(threads_, count, [&](std::size_t f) {
        Matrix2 sum = Matrix2::Zero(dealt_.z[f].rows(), some);
        for (std::size_t g = 0; g < count; ++g) {
          if (g != f) sum += target[g];
        }
        area[f].resize(some);
        column_areas(scores(f, sum, label[f], shift), label[f], area[f].data());
      });
      for (std::size_t f = 0; f < count; ++f) {
        for (Index b = 0; b < some; ++b) mean[first + b] += area[f][b];
      }
    }
    for (double& a : mean) a /= static_cast<double>(count);
    return mean;
  }

  /// Of the rows of fold f; `sum`: of the target rows of the other folds.
  [[nodiscard]] Matrix2 scores(std::size_t f, const Matrix2& sum, const Matrix2& label,
                               const Matrix2& shift) const {
    const double n = rest_[f].n_train;
    const double m = rest_[f].n_target;
    const Matrix2 difference = sum / m - ((-sum).colwise() + rest_[f].train) / n;
    Matrix2 u = covariance_[f].solve(difference);
    if (shift.size() == 0) return dealt_.z[f].transpose() * u;
    // The covariance S within the samples, which a shift leaves as it is, and with which the
    // direction is the same as with that of the pooled samples, is S - share d d', d: difference.
    const double share = n * m / ((n + m) * (n + m));
    const Matrix2 moved = covariance_[f].solve(shift);
    for (Index b = 0; b < u.cols(); ++b) {
      const double own = share * difference.col(b).dot(u.col(b));
      const double both = own + share * difference.col(b).dot(moved.col(b));
      u.col(b) = (1 + both / (1 - own)) * u.col(b) + moved.col(b);
    }
    const Eigen::RowVectorXd step = shift.cwiseProduct(u).colwise().sum();
    return dealt_.z[f].transpose() * u + label * step.asDiagonal();
  }

  /// Combinations of rows with random weights: as likely in one direction as in another if columns
  /// are measured so that they are uncorrelated and of variance 1. There their length is on average
  /// (of its square) `length`.
  Matrix2 random_shifts(Index count, double length) {
    FoldSums all = dealt_.sums[0];
    for (std::size_t f = 1; f < dealt_.sums.size(); ++f) all.add(dealt_.sums[f], 1);
    const double n = all.n_train + all.n_target;
    Matrix2 shift = Matrix2::Zero(all.train.size(), count);
    for (const Matrix2& z : dealt_.z) {
      const Matrix2 weight =
          Matrix2::NullaryExpr(z.cols(), count, [&](Index, Index) { return random_.normal(); });
      shift += z * weight - (all.train / n) * weight.colwise().sum();
    }
    return shift * (length / std::sqrt(n * static_cast<double>(Covariance(all).rank())));
  }

  DealtRows dealt_;
  std::vector<FoldSums> rest_;
  std::vector<Covariance> covariance_;
  Random random_;
  int threads_;
};

/// The share of shifts of `planted_shift` that the test finds, where permutations have these AUCs.
double power_of(Permutations& permutations, std::vector<double> permuted, double length,
                double level) {
  const double allowed = std::floor(level * (1 + static_cast<double>(permuted.size())) + 1e-9) - 1;
  if (allowed < 0) return 0;  // too few permutations for any p-value to be as small as the level
  const std::size_t rank = std::min(static_cast<std::size_t>(allowed), permuted.size() - 1);
  std::nth_element(permuted.begin(), permuted.begin() + static_cast<std::ptrdiff_t>(rank),
                   permuted.end(), std::greater<>());
  const std::vector<double> found = permutations.shifted_areas(planted, length);
  const auto above =
      std::count_if(found.begin(), found.end(), [&](double a) { return a > permuted[rank]; });
  return static_cast<double>(above) / static_cast<double>(found.size());
}

}  // namespace

DomainScores domain_test(const Rows& train, const Rows& target, const RowSpace& space,
                         const DiagnoseOptions& options) {
  DomainScores result;
  result.train.assign(train.size(), 0.0);
  result.target.assign(target.size(), 0.0);
  const Pool pool(train, target, space);
  const Folds folds = deal(train.size(), target.size(), options.folds, options.seed);
  if (folds.count < 2) return result;
  DomainTest& test = result.test;

  std::vector<double> score;
  const std::vector<double> area =
      score_all(pool, folds, others(sum_up(pool, folds, options.threads)), options.threads, score);
  test.folds = folds.count;
  test.auc = std::accumulate(area.begin(), area.end(), 0.0) / folds.count;
  double square = 0;
  for (const double a : area) square += (a - test.auc) * (a - test.auc);
  test.standard_error = std::sqrt(square / (folds.count - 1) / folds.count);
  const auto boundary = score.begin() + static_cast<std::ptrdiff_t>(train.size());
  result.train.assign(score.begin(), boundary);
  result.target.assign(boundary, score.end());

  const std::size_t most = std::max(options.subsample, static_cast<std::size_t>(folds.count));
  test.train_rows = std::min(train.size(), most);
  test.target_rows = std::min(target.size(), most);
  test.permutations = options.permutations;
  Permutations permutations(gather(pool, folds, test.train_rows, test.target_rows, train.size()),
                            options.seed + 1, options.threads);
  std::vector<double> permuted = permutations.areas(options.permutations);
  // Areas that differ only by rounding are equal.
  const auto as_large = std::count_if(permuted.begin() + 1, permuted.end(),
                                      [&](double a) { return a >= permuted[0] - 1e-12; });
  test.p_value = (1.0 + static_cast<double>(as_large)) / (1.0 + options.permutations);
  if (test.p_value > options.level) {
    permuted.erase(permuted.begin());
    test.power = power_of(permutations, std::move(permuted),
                          DomainTest::planted_shift * space.kept(), options.level);
  }
  return result;
}

}  // namespace covshift
