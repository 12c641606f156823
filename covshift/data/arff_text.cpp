#include "covshift/data/arff_text.hpp"

#include <algorithm>

#include "covshift/data/number.hpp"

namespace covshift {

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::string_view ArffScanner::word() {
  skip_blanks();
  const std::size_t length = std::min(rest_.find_first_of(" \t,{}"), rest_.size());
  const std::string_view result = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return result;
}

std::optional<ArffValue> ArffScanner::value(std::string_view ends) {
  skip_blanks();
  ArffValue result;
  const char quote = rest_.empty() ? '\0' : rest_.front();
  result.quoted = quote == '\'' || quote == '"';
  if (!result.quoted) {
    const std::size_t length = std::min(rest_.find_first_of(ends), rest_.size());
    result.text = trim(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return result;
  }
  for (std::size_t k = 1; k < rest_.size(); ++k) {
    if (rest_[k] == quote) {
      rest_.remove_prefix(k + 1);
      return result;
    }
    if (rest_[k] == '\\' && k + 1 < rest_.size()) ++k;
    result.text += rest_[k];
  }
  return std::nullopt;
}

bool ArffScanner::take(char c) {
  skip_blanks();
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool ArffScanner::done() { return rest().empty(); }

std::string_view ArffScanner::rest() {
  skip_blanks();
  return rest_;
}

void ArffScanner::skip_blanks() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
}

}  // namespace covshift
