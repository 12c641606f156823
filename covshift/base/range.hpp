// Which numbers an option may have: one constant beside the option, which the library checks and
// the table of options (options/options.cpp) shows and checks.
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace covshift {

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_excluded = false, high_excluded = false;
  const char* note = "";  ///< what a special value means, for help and messages

  [[nodiscard]] bool contains(double x) const {
    return (low_excluded ? x > low : x >= low) && (high_excluded ? x < high : x <= high);
  }
  /// " >= 0 (0 means all cores)".
  [[nodiscard]] std::string text() const;
  /// The help text with the note.
  [[nodiscard]] std::string explained(std::string help) const;
  /// Throws Error unless x is finite and in the range: "`what` must be a number >= 0, not -1".
  void check(std::string_view what, double x) const;
};

namespace allowed {
inline constexpr Range positive{.low = 0, .low_excluded = true};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
/// Without its end.
constexpr Range half_open(double low, double high) {
  return {.low = low, .high = high, .high_excluded = true};
}
inline constexpr Range at_least_0 = at_least(0);
/// Of a promise. Quantiles of Student's t overflow where the other side of 1 is lost to rounding.
inline constexpr Range probability = between(1e-9, 1 - 1e-9);
inline constexpr Range open_unit{.low = 0, .high = 1, .low_excluded = true, .high_excluded = true};
/// Levels of tests.
inline constexpr Range significance = between(1e-6, 0.5);
inline constexpr Range fold_counts = between(2, 1e6);
}  // namespace allowed

}  // namespace covshift
