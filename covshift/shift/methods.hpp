// shift/: generalization assumptions, and the table of methods.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "covshift/base/names.hpp"

namespace covshift {

/// P_gen, the distribution to which the training statistics are assumed to generalize (the paper's
/// section on its role), as the scale r(x) = P_gen(x) / P_test(x) of the evidence at x.
struct Assumption {
  enum class Kind {
    none,     ///< no shift: w = 1, r = 1
    train,    ///< P_gen = P_train: r = P_train/P_test, the most cautious
    test,     ///< P_gen = P_test:  r = 1, importance weighting
    views,    ///< generalized views: r_v = P_train(x_v)/P_test(x_v); the others as `train`
    overlap,  ///< P_gen ~ min(P_train, D P_test): r = min(P_train/P_test, D), w r = min(1, D w)
    temper,   ///< P_gen ~ P_train^(1-g) P_test^g: r = (P_train/P_test)^(1-g)
    given,    ///< log r(x) is the caller's
  };
  Kind kind = Kind::train;
  double g = 0;  ///< temper only, in [0, 1]
  /// The largest r, positive. Of `overlap` (Segovia-Martin et al. 2023: alpha = r, beta = w r),
  /// where none means default_overlap, and of `views`, where none means no limit.
  std::optional<double> limit = {};

  /// log of the largest r; infinite where r is not limited.
  [[nodiscard]] double log_limit() const;

  bool operator==(const Assumption&) const = default;
};

template <>
inline constexpr auto names<Assumption::Kind> =
    std::to_array<Named<Assumption::Kind>>({{Assumption::Kind::none, "none"},
                                            {Assumption::Kind::train, "train"},
                                            {Assumption::Kind::test, "test"},
                                            {Assumption::Kind::views, "views"},
                                            {Assumption::Kind::overlap, "overlap"},
                                            {Assumption::Kind::temper, "temper"},
                                            {Assumption::Kind::given, "given"}});

/// D of `overlap` where none is given: evidence is never amplified, r <= 1. It fades where the
/// target is denser than training, and counts in full, as in logistic regression, everywhere else.
inline constexpr double default_overlap = 1;

/// As users write it, D may be inf; `given` is for callers of the library.
inline constexpr std::array<std::string_view, 6> assumption_values = {
    "train", "test", "views[:D]", "overlap[:D]", "temper:G", "none"};
/// Throws Error.
Assumption parse_assumption(const std::string& text);
std::string to_string(const Assumption& assumption);

/// A method is a row of this table: a loss and an assumption. Any loss goes with any assumption.
struct Method {
  std::string_view name;
  std::string_view loss;
  Assumption::Kind generalize;
  std::string_view summary;
};
std::span<const Method> methods();
/// Throws Error that lists the methods.
const Method& find_method(std::string_view name);
/// "auto, lr, ... or svm": those that can be fitted without a target.
std::string methods_without_target();
/// The row of a loss under an assumption; where the table has none, the log loss's.
const Method& method_of(std::string_view loss, Assumption::Kind generalize);

}  // namespace covshift
