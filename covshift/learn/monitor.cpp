#include <algorithm>
#include <cmath>
#include <limits>

#include "covshift/learn/solver_parts.hpp"

namespace covshift {

Monitor::Monitor(const Examples& examples, const SolveOptions& options, Solver solver,
                 int max_iterations)
    : reducer_(examples.reducer()),
      most_gain_(examples.most_gain()),
      options_(options),
      max_iterations_(options.max_iterations > 0 ? options.max_iterations : max_iterations) {
  solution_.solver = solver;
  solution_.weights.assign(static_cast<std::size_t>(examples.dims()) * examples.labels(), 0.0);
}

double Monitor::target(double objective) const {
  return options_.tolerance * std::max(1.0, std::min(std::abs(objective), most_gain_));
}

bool Monitor::out_of_time() const {
  if (!(options_.time_limit > 0)) return false;
  double up = clock_.seconds() >= options_.time_limit ? 1 : 0;
  reducer_.max({&up, 1});  // clocks differ, but all holders must stop together
  return up > 0;
}

bool Monitor::stop(const RowMatrix& t, const Bounds& certificate, int iteration) {
  Solution& s = solution_;
  if (!std::isfinite(certificate.objective) || !std::isfinite(certificate.gap) ||
      !std::isfinite(certificate.dual)) {
    s.status = Status::non_finite;
    if (!any_) {  // no certificate, not even of the first weights
      s.objective = certificate.objective;
      s.gap = std::numeric_limits<double>::infinity();
      s.dual = -s.gap;
    }
    return true;
  }
  // The best weights and the best dual value may come from different iterations.
  const double dual = certificate.dual;
  if (!any_ || certificate.objective < s.objective) {
    s.objective = certificate.objective;
    std::copy_n(t.data(), t.size(), s.weights.begin());
  }
  best_dual_ = any_ ? std::max(best_dual_, dual) : dual;
  any_ = true;
  s.gap = std::max(0.0, s.objective - best_dual_);
  // If both are of this iteration, the certificate's gap is more accurate.
  if (s.objective == certificate.objective && best_dual_ == dual) s.gap = certificate.gap;
  s.dual = s.objective - s.gap;
  const auto stop_with = [&](Status status) {
    s.status = status;
    return true;
  };
  if (s.gap <= target(s.objective)) return stop_with(Status::converged);
  double halt = 0;
  if (options_.observer && !options_.observer({iteration, s.objective, s.gap, clock_.seconds()}))
    halt = 1;
  reducer_.max({&halt, 1});  // any observer stops all holders
  if (halt > 0) return stop_with(Status::stopped);
  if (out_of_time()) return stop_with(Status::time_limit);
  return iteration >= max_iterations_ && stop_with(Status::iteration_limit);
}

Solution Monitor::finish(int iterations) {
  solution_.iterations = iterations;
  solution_.seconds = clock_.seconds();
  return std::move(solution_);
}

}  // namespace covshift
