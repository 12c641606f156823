// A few of a problem's examples, for what need not be exact: where to start, how to precondition.
#pragma once

#include <cstdint>
#include <vector>

#include "covshift/learn/problem.hpp"

namespace covshift {

/// Rows of a problem, drawn one from each of as many equal stretches; owns what it looks at.
class Sample {
 public:
  Sample(const Problem& from, std::size_t rows, std::uint64_t seed, int threads);
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  /// The same problem of these rows alone, weighted as the whole one is.
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Matrix features_;
  std::vector<int> labels_;
  std::vector<double> sample_weight_, log_weight_, log_scale_;
  Problem problem_;
};

}  // namespace covshift
