// Sums that almost never depend on the order or grouping of their terms.
#pragma once

#include <cmath>

namespace covshift {

/// A sum in twice the precision of a double (Knuth's two-sum, products by fused multiply-add). A
/// row of weight 2 and the row twice almost always give the same double.
class PreciseSum {
 public:
  void add(double x) {
    const double sum = high_ + x;
    const double part = sum - high_;
    low_ += (high_ - (sum - part)) + (x - part);
    high_ = sum;
  }
  void add(const PreciseSum& other) {
    add(other.high_);
    low_ += other.low_;
  }
  /// a * b
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    low_ += std::fma(a, b, -product);
  }
  /// a * b * b
  void add_square(double a, double b) {
    const double square = b * b;
    add_product(a, square);
    low_ += a * std::fma(b, b, -square);
  }
  [[nodiscard]] double value() const { return high_ + low_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace covshift
