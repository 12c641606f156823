// Sums over examples that are distributed over several processes.
#pragma once

#include <span>

namespace covshift {

/// Reduces, in place, the partial results of all holders of examples. With one holder there is
/// nothing to do; several (MPI's allreduce, a Dask adapter) override it. Every holder must get the
/// same result.
class Reducer {
 public:
  virtual ~Reducer() = default;
  virtual void sum(std::span<double> /*totals*/) const {}
  virtual void max(std::span<double> /*largest*/) const {}
};

}  // namespace covshift
