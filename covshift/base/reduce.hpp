// Sums over examples that may live in several places.
#pragma once

#include <span>

namespace covshift {

/// Adds up, in place, what each holder of examples has summed over its own. With one holder there
/// is nothing to do; several (MPI's allreduce, a Dask adapter) override it. Every holder must get
/// the same sums.
class Reducer {
 public:
  Reducer() = default;
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;
  virtual ~Reducer() = default;
  virtual void sum(std::span<double> /*totals*/) const {}
  virtual void max(std::span<double> /*largest*/) const {}
};

}  // namespace covshift
