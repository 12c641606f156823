#include "covshift/diagnose/support.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

using Points = Eigen::MatrixXf;  // each column is a row of the data

constexpr double level = 0.005;  // for each of the two criteria
constexpr std::size_t most_references = 500;
constexpr std::size_t most_calibration = 5000;
constexpr std::size_t most_candidates = 500;
constexpr std::size_t most_listed = 5000;

Points gather(const Rows& rows, std::span<const std::size_t> which, const RowSpace& space) {
  Points points(space.dims(), which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    space.fill(rows, which[i], points.col(static_cast<Eigen::Index>(i)).data());
  }
  // Farther points are as far: sums of their squares must not overflow, for inf - inf is near
  // nothing.
  constexpr float farthest = 1e15F;
  return points.cwiseMin(farthest).cwiseMax(-farthest);
}

/// Distances of points to the nearest reference. `leave_self_out`: the first points are the
/// references; each is compared with the others.
std::vector<double> nearest(const Points& points, const Points& references, bool leave_self_out) {
  // |a - b|^2 expanded into products finds the nearest; its distance is then computed directly,
  // because the expansion cancels for small distances.
  const Eigen::VectorXf squares = references.colwise().squaredNorm();
  const Eigen::MatrixXf product = references.transpose() * points;
  std::vector<double> distance(static_cast<std::size_t>(points.cols()));
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    Eigen::VectorXf apart = squares - 2 * product.col(i);
    if (leave_self_out && i < references.cols()) {
      apart[i] = std::numeric_limits<float>::infinity();
    }
    Eigen::Index best = 0;
    apart.minCoeff(&best);
    distance[static_cast<std::size_t>(i)] =
        (points.col(i) - references.col(best)).cast<double>().norm();
  }
  return distance;
}

struct Threshold {
  double value = std::numeric_limits<double>::infinity();
  double expected = 0;  // share of further such numbers that exceed it
};

/// The k-th largest of n values, k/n being the level: a further value exceeds it with probability
/// k/(n + 1).
Threshold threshold_of(std::vector<double> values) {
  if (values.size() < 2) return {};
  const auto n = static_cast<double>(values.size());
  const auto k = static_cast<std::size_t>(std::max(1.0, std::floor(level * (n + 1))));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), at, values.end(), std::greater<>());
  return {*at, static_cast<double>(k) / (n + 1)};
}

/// Rows worth labelling: those without support, or if these are few, those most like the target.
std::vector<std::size_t> label_candidates(const Unsupported& unsupported,
                                          std::span<const double> score,
                                          const DiagnoseOptions& options) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < score.size(); ++i) {
    if (unsupported.row[i]) candidates.push_back(i);
  }
  Random random(options.seed + 3);
  if (candidates.size() < options.examples) {
    candidates.resize(score.size());
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    const std::size_t most = std::min(most_candidates, candidates.size());
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most),
                      candidates.end(), [&](std::size_t a, std::size_t b) {
                        return score[a] != score[b] ? score[a] > score[b] : a < b;
                      });
    candidates.resize(most);
  } else if (candidates.size() > most_candidates) {
    std::vector<std::size_t> some;
    for (const std::size_t k : random.sample(candidates.size(), most_candidates)) {
      some.push_back(candidates[k]);
    }
    candidates = std::move(some);
  }
  return candidates;
}

}  // namespace

Unsupported find_unsupported(const Rows& train, const Rows& target, const RowSpace& space,
                             const DomainScores& scores, const DiagnoseOptions& options) {
  Random random(options.seed + 2);
  // The first of these rows are the references; each is calibrated without itself.
  const std::vector<std::size_t> sample = random.sample(train.size(), most_calibration);
  const Points points = gather(train, sample, space);
  const Points references =
      points.leftCols(static_cast<Eigen::Index>(std::min(sample.size(), most_references)));
  const Threshold far =
      sample.size() > 1 ? threshold_of(nearest(points, references, true)) : Threshold{};
  const Threshold beyond = scores.test.folds > 0 ? threshold_of(scores.train) : Threshold{};

  Unsupported result;
  std::vector<double> distance(target.size());
  constexpr std::size_t block = 1024;
  parallel_tasks(options.threads, (target.size() + block - 1) / block, [&](std::size_t b) {
    std::vector<std::size_t> which(std::min(block, target.size() - b * block));
    std::iota(which.begin(), which.end(), b * block);
    const std::vector<double> own = nearest(gather(target, which, space), references, false);
    std::copy(own.begin(), own.end(), distance.begin() + static_cast<std::ptrdiff_t>(b * block));
  });
  result.row.resize(target.size());
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < target.size(); ++i) {
    result.row[i] = distance[i] > far.value || scores.target[i] > beyond.value;
    if (result.row[i]) rows.push_back(i);
  }
  Support& support = result.support;
  support.rows = rows.size();
  support.share = static_cast<double>(rows.size()) / static_cast<double>(target.size());
  support.expected = far.expected + beyond.expected;
  const std::size_t listed = std::min(std::max(options.examples, most_listed), rows.size());
  const double unit = std::isfinite(far.value) && far.value > 0 ? far.value : 1.0;
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(listed), rows.end(),
                    [&](std::size_t a, std::size_t b) {
                      return distance[a] != distance[b] ? distance[a] > distance[b] : a < b;
                    });
  for (std::size_t k = 0; k < listed; ++k) {
    support.listed.push_back(
        {rows[k], distance[rows[k]] / unit, scores.target[rows[k]] > beyond.value});
  }
  support.examples = support.listed;
  support.examples.resize(std::min(options.examples, listed));
  return result;
}

std::vector<RowToLabel> rows_to_label(const Rows& target, const RowSpace& space,
                                      const Unsupported& unsupported, std::span<const double> score,
                                      const DiagnoseOptions& options) {
  const std::vector<std::size_t> candidates = label_candidates(unsupported, score, options);
  const Points points = gather(target, candidates, space);
  const Eigen::Index n = points.cols();
  Eigen::MatrixXf apart(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    apart.col(i) = (points.colwise() - points.col(i)).colwise().norm();
  }
  // Before the first choice, all distances are the largest distance between two candidates.
  Eigen::VectorXf reach = Eigen::VectorXf::Constant(n, n > 0 ? apart.maxCoeff() : 0.0F);
  std::vector<Eigen::Index> chosen;
  for (std::size_t k = 0; k < std::min<std::size_t>(options.examples, n); ++k) {
    if (k > 0 && reach.maxCoeff() == 0) break;  // all others are copies of the chosen rows
    Eigen::Index best = -1;
    float least = std::numeric_limits<float>::infinity();
    for (Eigen::Index i = 0; i < n; ++i) {
      if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
      const float sum = reach.cwiseMin(apart.col(i)).sum();
      if (sum < least) {
        least = sum;
        best = i;
      }
    }
    chosen.push_back(best);
    reach = reach.cwiseMin(apart.col(best));
  }
  std::vector<RowToLabel> rows;
  rows.reserve(chosen.size());
  for (const Eigen::Index i : chosen) rows.push_back({candidates[static_cast<std::size_t>(i)], 0});
  for (Eigen::Index i = 0; i < n; ++i) {
    std::size_t owner = 0;
    for (std::size_t k = 1; k < chosen.size(); ++k) {
      if (apart(i, chosen[k]) < apart(i, chosen[owner])) owner = k;
    }
    rows[owner].represents += 1 / static_cast<double>(n);
  }
  return rows;
}

}  // namespace covshift
