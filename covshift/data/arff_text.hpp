// The words and quoted values of a line of an ARFF file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace covshift {

struct ArffValue {
  std::string text;
  bool quoted = false;
};

std::string to_lower(std::string_view text);

/// Reads a line from left to right; blanks between its parts are skipped.
class ArffScanner {
 public:
  explicit ArffScanner(std::string_view line) : rest_(line) {}

  /// Up to the next blank (or comma, brace).
  std::string_view word();
  /// A value in single or double quotes, with backslash escapes; or text up to one of `ends`,
  /// without the blanks at its end. Nothing if the quote is not closed.
  std::optional<ArffValue> value(std::string_view ends);
  /// Skips `c` if it comes next.
  bool take(char c);
  [[nodiscard]] bool done();
  [[nodiscard]] std::string_view rest();

 private:
  void skip_blanks();
  std::string_view rest_;
};

}  // namespace covshift
