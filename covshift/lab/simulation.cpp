#include "covshift/lab/simulation.hpp"

#include <algorithm>
#include <cmath>

namespace covshift {
namespace {

constexpr std::size_t parts = 3;  // components of a mixture, values of a discrete column

std::size_t log_uniform(Random& random, double low, double high) {
  return static_cast<std::size_t>(
      std::lround(std::exp(random.uniform(std::log(low), std::log(high)))));
}

std::vector<double> normals(Random& random, std::size_t n, double scale) {
  std::vector<double> x(n);
  for (double& v : x) v = scale * random.normal();
  return x;
}

/// Positive numbers with sum 1 from parts[0..3) = exp(score).
void normalise(std::span<double> score) {
  double sum = 0;
  for (double& s : score) sum += s = std::exp(s);
  for (double& s : score) s /= sum;
}

std::size_t pick(std::span<const double> share, Random& random) {
  double u = random.uniform();
  for (std::size_t k = 0; k + 1 < share.size(); ++k) {
    if (u < share[k]) return k;
    u -= share[k];
  }
  return share.size() - 1;
}

void softmax(std::span<double> psi) {
  const double top = *std::max_element(psi.begin(), psi.end());
  for (double& v : psi) v -= top;
  normalise(psi);
}

}  // namespace

SimulatedProblem::SimulatedProblem(std::uint64_t seed) {
  Random random(seed);
  kind_ = names<Kind>[random.below(3)].first;
  cols_ = 1 + random.below(20);
  classes_ = 2 + static_cast<int>(random.below(4));
  strength_ = random.below(4) == 0 ? 0 : random.uniform(0.2, 1.5);
  train_rows_ = log_uniform(random, 50, 5000);
  target_rows_ = log_uniform(random, 50, 5000);
  const auto d = static_cast<double>(cols_);
  if (kind_ == Kind::gaussian) {
    mean_ = normals(random, cols_, 1);
    double norm = 0;
    for (const double v : mean_) norm += v * v;
    for (double& v : mean_) v *= strength_ / std::sqrt(norm);
    spread_.assign(cols_, 1);
    if (strength_ > 0) spread_[0] = random.uniform(0.7, 1.1);
  } else if (kind_ == Kind::mixture) {
    centre_ = normals(random, parts * cols_, 3 / std::sqrt(d));
    train_share_ = normals(random, parts, 0.5);
    target_share_ = train_share_;
    for (double& v : target_share_) v += strength_ * random.normal();
    normalise(train_share_);
    normalise(target_share_);
  } else {
    train_share_ = normals(random, parts * cols_, 0.7);
    target_share_ = train_share_;
    for (double& v : target_share_) v += 1.2 * strength_ / std::sqrt(d) * random.normal();
    for (std::size_t j = 0; j < cols_; ++j) {
      normalise(std::span(train_share_).subspan(j * parts, parts));
      normalise(std::span(target_share_).subspan(j * parts, parts));
    }
  }
  const auto k = static_cast<std::size_t>(classes_);
  linear_ = normals(random, k * cols_, random.uniform(0.5, 2.5) / std::sqrt(d));
  wave_ = normals(random, k * cols_, 1.5 / std::sqrt(d));
  flawed_ = linear_;
  for (double& v : flawed_) v += 0.4 / std::sqrt(d) * random.normal();
  temperature_ = random.uniform(0.7, 2);
}

void SimulatedProblem::draw_row(bool target, Random& random, std::span<double> x) const {
  if (kind_ == Kind::gaussian) {
    for (std::size_t j = 0; j < cols_; ++j) {
      x[j] = random.normal();
      if (target) x[j] = mean_[j] + spread_[j] * x[j];
    }
    return;
  }
  const std::vector<double>& share = target ? target_share_ : train_share_;
  if (kind_ == Kind::mixture) {
    const std::size_t part = pick(share, random);
    for (std::size_t j = 0; j < cols_; ++j) x[j] = centre_[part * cols_ + j] + random.normal();
    return;
  }
  for (std::size_t j = 0; j < cols_; ++j) {
    x[j] = static_cast<double>(pick(std::span(share).subspan(j * parts, parts), random)) - 1;
  }
}

double SimulatedProblem::log_ratio(std::span<const double> x, std::size_t first,
                                   std::size_t last) const {
  double sum = 0;
  if (kind_ == Kind::gaussian) {
    for (std::size_t j = first; j < last; ++j) {
      const double z = (x[j] - mean_[j]) / spread_[j];
      sum += (x[j] * x[j] - z * z) / 2 - std::log(spread_[j]);
    }
    return sum;
  }
  if (kind_ == Kind::discrete) {
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t at = j * parts + static_cast<std::size_t>(x[j] + 1);
      sum += std::log(target_share_[at] / train_share_[at]);
    }
    return sum;
  }
  std::vector<double> log_density(parts, 0);
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t j = first; j < last; ++j) {
      const double z = x[j] - centre_[part * cols_ + j];
      log_density[part] -= z * z / 2;
    }
  }
  const double top = *std::max_element(log_density.begin(), log_density.end());
  double train = 0;
  double target = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    train += train_share_[part] * std::exp(log_density[part] - top);
    target += target_share_[part] * std::exp(log_density[part] - top);
  }
  return std::log(target / train);
}

Views SimulatedProblem::views() const {
  Views views = Views::all(cols_);
  if (cols_ == 1) return views;
  views.names = {"first", "second"};
  views.maps = {"", ""};
  views.columns.assign(2, {});
  for (std::size_t j = 0; j < cols_; ++j) {
    views.columns[j < cols_ / 2 ? 0 : 1].push_back(static_cast<std::int32_t>(j));
  }
  return views;
}

void SimulatedProblem::probabilities(std::span<const double> x, std::span<double> p) const {
  for (std::size_t y = 0; y < p.size(); ++y) {
    double straight = 0;
    double curved = 0;
    for (std::size_t j = 0; j < cols_; ++j) {
      straight += linear_[y * cols_ + j] * x[j];
      curved += wave_[y * cols_ + j] * x[j];
    }
    p[y] = straight + 0.7 * std::sin(curved);
  }
  softmax(p);
}

void SimulatedProblem::flawed_probabilities(std::span<const double> x, std::span<double> p) const {
  for (std::size_t y = 0; y < p.size(); ++y) {
    p[y] = 0;
    for (std::size_t j = 0; j < cols_; ++j) p[y] += temperature_ * flawed_[y * cols_ + j] * x[j];
  }
  softmax(p);
}

SimulatedRows SimulatedProblem::draw(bool target, std::size_t rows, Random& random) const {
  SimulatedRows out;
  out.rows = rows;
  out.cols = cols_;
  out.x.resize(rows * cols_);
  const Views views = this->views();
  out.view_log_ratio.resize(views.names.size());
  std::vector<double> p(static_cast<std::size_t>(classes_));
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<double> x(out.x.data() + i * cols_, cols_);
    draw_row(target, random, x);
    probabilities(x, p);
    out.y.push_back(static_cast<int>(pick(p, random)));
    out.log_ratio.push_back(log_ratio(x, 0, cols_));
    for (std::size_t v = 0; v < views.names.size(); ++v) {
      const auto first = static_cast<std::size_t>(views.columns[v].front());
      const auto last = static_cast<std::size_t>(views.columns[v].back()) + 1;
      out.view_log_ratio[v].push_back(log_ratio(x, first, last));
    }
  }
  return out;
}

}  // namespace covshift
