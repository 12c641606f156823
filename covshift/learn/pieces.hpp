// Work on vectors as long as the weights: with many classes they are a tenth of the data.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <numeric>

#include "covshift/base/threads.hpp"

namespace covshift {

/// Runs body(begin, end) on pieces of a vector, on all threads, and adds up what it returns; pieces
/// do not depend on the threads.
template <typename Body>
double sum_pieces(int threads, Eigen::Index size, const Body& body) {
  const auto n = static_cast<std::size_t>(size);
  const std::size_t pieces = std::clamp<std::size_t>(n >> 15U, 1, 64);
  std::array<double, 64> part{};
  parallel_tasks(threads, pieces, [&](std::size_t p) {
    part[p] = body(static_cast<Eigen::Index>(n * p / pieces),
                   static_cast<Eigen::Index>(n * (p + 1) / pieces));
  });
  return std::accumulate(part.begin(), part.end(), 0.0);
}

}  // namespace covshift
