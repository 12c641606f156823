#include "covshift/data/column_text.hpp"

#include <algorithm>
#include <chrono>

#include "covshift/base/number.hpp"

namespace covshift {
namespace {

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Digits without the separators of groups of three: 1.234.567, where the first group may be
/// shorter but has no leading zero. Nothing if the groups are others.
std::optional<std::string> ungrouped(std::string_view text, char separator) {
  std::string out;
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view group = text.substr(0, end);
    const bool whole = end == text.size();
    const bool sound =
        first ? whole || (group.size() <= 3 && !group.starts_with('0')) : group.size() == 3;
    if (!digits(group) || !sound) return std::nullopt;
    out += group;
    if (whole) return out;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> parse_grouped(std::string_view text, char separator, char point) {
  text = trim(text);
  std::string plain;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    if (text.front() == '-') plain = "-";
    text.remove_prefix(1);
  }
  const std::size_t at = std::min(text.find(point), text.size());
  const auto whole = ungrouped(text.substr(0, at), separator);
  if (!whole) return std::nullopt;
  plain += *whole;
  if (at < text.size()) {
    const std::string_view decimals = text.substr(at + 1);
    if (!digits(decimals)) return std::nullopt;
    plain += '.';
    plain += decimals;
  }
  return parse_number(plain);
}

/// Numbers separated by -, / or . at the start of a text; `rest` is what follows.
std::optional<std::array<std::string_view, 3>> date_fields(std::string_view text,
                                                           std::string_view& rest) {
  text = trim(text);
  std::array<std::string_view, 3> parts;
  char separator = '\0';
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
    if (length == 0 || length > 4) return std::nullopt;
    parts[k] = text.substr(0, length);
    text.remove_prefix(length);
    if (k == 2) break;
    if (text.empty() || std::string_view("-/.").find(text.front()) == std::string_view::npos ||
        (k == 1 && text.front() != separator)) {
      return std::nullopt;
    }
    separator = text.front();
    text.remove_prefix(1);
  }
  rest = text;
  return parts;
}

/// The share of a day of a time such as T14:30, 14:30:05.25 or 14:30Z; a zone is not looked at.
std::optional<double> time_share(std::string_view text) {
  if (text.empty()) return 0.0;
  if (text.front() != 'T' && text.front() != ' ') return std::nullopt;
  text = trim(text.substr(1));
  double share = 0;
  double unit = 1.0 / 24;
  for (int k = 0; k < 3; ++k, unit /= 60) {
    const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto value = parse_number(text.substr(0, length));
    if (!value || *value < 0 || *value > (k == 0 ? 24 : 60)) return std::nullopt;
    share += *value * unit;
    text.remove_prefix(length);
    if (!text.starts_with(':')) {
      if (k == 0) return std::nullopt;
      break;
    }
    text.remove_prefix(1);
  }
  const bool zone = text.find_first_not_of("0123456789:+-Z ") == std::string_view::npos;
  return zone ? std::optional(share) : std::nullopt;
}

}  // namespace

std::optional<double> parse_styled(std::string_view text, NumberStyle style) {
  switch (style) {
    case NumberStyle::decimal_comma:
      return parse_grouped(text, '.', ',');
    case NumberStyle::thousands_commas:
      return parse_grouped(text, ',', '.');
    default:
      return parse_number(text);
  }
}

std::string_view sign_of(const std::vector<std::string>& texts) {
  constexpr auto signs = std::to_array<std::string_view>({"%", "$", "€", "£", "¥", "°"});
  for (const std::string_view sign : signs) {
    const auto carries = [&](std::string_view text) {
      if (text.starts_with(sign)) return parse_number(text.substr(sign.size())).has_value();
      return text.ends_with(sign) &&
             parse_number(trim(text.substr(0, text.size() - sign.size()))).has_value();
    };
    if (std::all_of(texts.begin(), texts.end(), carries)) return sign;
  }
  return {};
}

std::optional<NumberStyle> style_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  for (const NumberStyle style :
       {NumberStyle::plain, NumberStyle::thousands_commas, NumberStyle::decimal_comma}) {
    if (std::all_of(texts.begin(), texts.end(),
                    [&](const std::string& text) { return parse_styled(text, style); })) {
      return style;
    }
  }
  return std::nullopt;
}

std::optional<DateNumbers> parse_date(std::string_view text, DateOrder order) {
  std::string_view rest;
  const auto parts = date_fields(text, rest);
  if (!parts) return std::nullopt;
  const std::size_t y = order == DateOrder::ymd ? 0 : 2;
  const std::size_t m = order == DateOrder::mdy ? 0 : 1;
  const std::size_t d = order == DateOrder::ymd ? 2 : 1 - m;
  if ((*parts)[y].size() != 4 || (*parts)[m].size() > 2 || (*parts)[d].size() > 2) {
    return std::nullopt;
  }
  const auto value = [&](std::size_t k) {
    return static_cast<unsigned>(*parse_count((*parts)[k]));
  };
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(value(y))),
                                         std::chrono::month(value(m)), std::chrono::day(value(d)));
  const auto share = time_share(rest);
  if (!date.ok() || !share) return std::nullopt;
  const std::chrono::sys_days day(date);
  const unsigned weekday = std::chrono::weekday(day).iso_encoding() - 1;
  return DateNumbers{static_cast<double>(value(y)), static_cast<double>(value(m)),
                     static_cast<double>(weekday),
                     static_cast<double>(day.time_since_epoch().count()) + *share};
}

std::optional<DateOrder> order_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  for (const DateOrder order : {DateOrder::ymd, DateOrder::dmy, DateOrder::mdy}) {
    if (std::all_of(texts.begin(), texts.end(),
                    [&](const std::string& text) { return parse_date(text, order).has_value(); })) {
      return order;
    }
  }
  return std::nullopt;
}

}  // namespace covshift
