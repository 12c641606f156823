// Sums over examples that are distributed over several processes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace covshift {

/// Combines the partial results of all holders of examples. With one holder there is nothing to do;
/// several (MPI's allreduce, parts on Dask workers) override it. Every holder makes the same calls
/// in the same order and gets the same result.
class Reducer {
 public:
  virtual ~Reducer() = default;
  virtual void sum(std::span<double> /*totals*/) const {}
  virtual void max(std::span<double> /*largest*/) const {}
  /// The pieces of all holders, in the holders' order.
  [[nodiscard]] virtual std::vector<std::string> gather(std::string piece) const {
    std::vector<std::string> pieces;
    pieces.push_back(std::move(piece));
    return pieces;
  }
  /// This holder's place in that order.
  [[nodiscard]] virtual std::size_t holder() const { return 0; }
  /// Told before every pass over the rows, for those who count them.
  virtual void pass() const {}
};

/// The same where there may be no reducer (null): one holder.
inline void sum_over(const Reducer* reducer, std::span<double> totals) {
  if (reducer != nullptr) reducer->sum(totals);
}
[[nodiscard]] inline double sum_over(const Reducer* reducer, double total) {
  sum_over(reducer, {&total, 1});
  return total;
}
[[nodiscard]] inline double max_over(const Reducer* reducer, double largest) {
  if (reducer != nullptr) reducer->max({&largest, 1});
  return largest;
}
inline void begin_pass(const Reducer* reducer) {
  if (reducer != nullptr) reducer->pass();
}

}  // namespace covshift
