// Numbers and dates as people write them in tables.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"

namespace covshift {

/// How the numbers of a column are written.
enum class NumberStyle {
  plain,             ///< 1234.5
  decimal_comma,     ///< 1234,5 or 1.234,5
  thousands_commas,  ///< 1,234.5
};
template <>
inline constexpr auto names<NumberStyle> =
    std::to_array<Named<NumberStyle>>({{NumberStyle::plain, "plain"},
                                       {NumberStyle::decimal_comma, "decimal_comma"},
                                       {NumberStyle::thousands_commas, "thousands_commas"}});

std::optional<double> parse_styled(std::string_view text, NumberStyle style);
/// The style in which all texts are numbers; none if there is none. A column of 1,234 and 5,678
/// alone has thousands.
std::optional<NumberStyle> style_of(const std::vector<std::string>& texts);

/// The sign that all numbers of a column carry, such as % or $; empty if there is none.
std::string_view sign_of(const std::vector<std::string>& texts);

/// The order of the parts of a date, separated by - / or . and perhaps followed by a time.
enum class DateOrder { ymd, dmy, mdy };
template <>
inline constexpr auto names<DateOrder> = std::to_array<Named<DateOrder>>({{DateOrder::ymd, "ymd"},
                                                                          {DateOrder::dmy, "dmy"},
                                                                          {DateOrder::mdy, "mdy"}});

/// What a date becomes as features: year, month, weekday (0: Monday) and days since 1970.
inline constexpr std::array<std::string_view, 4> date_parts = {"year", "month", "weekday", "days"};
using DateNumbers = std::array<double, date_parts.size()>;

std::optional<DateNumbers> parse_date(std::string_view text, DateOrder order);
/// The order in which all texts are dates, day before month where both would do; none if there is
/// none.
std::optional<DateOrder> order_of(const std::vector<std::string>& texts);

}  // namespace covshift
