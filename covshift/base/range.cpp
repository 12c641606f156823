#include "covshift/base/range.hpp"

#include <cmath>

#include "covshift/base/error.hpp"

namespace covshift {

std::string Range::explained(std::string help) const {
  return *note == '\0' ? help : fmt::format("{} ({})", help, note);
}

std::string Range::text() const {
  const bool open = low_excluded || high_excluded;
  if (!std::isfinite(low)) return "";
  return explained(!std::isfinite(high) ? fmt::format(" {} {}", low_excluded ? ">" : ">=", low)
                   : open ? fmt::format(" in {}{}, {}{}", low_excluded ? '(' : '[', low, high,
                                        high_excluded ? ')' : ']')
                          : fmt::format(" from {} to {}", low, high));
}

void Range::check(std::string_view what, double x) const {
  if (!std::isfinite(x) || !contains(x))
    fail_input("{} must be a number{}, not {}", what, text(), x);
}

}  // namespace covshift
