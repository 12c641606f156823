#include "covshift/base/names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

/// The number of insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, std::exchange(row, std::vector<std::size_t>(b.size() + 1, i)));
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

std::string listed(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string suggestion(std::string_view text, std::span<const std::string_view> words) {
  std::size_t least = std::max<std::size_t>(text.size() / 3, 1) + 1;
  std::string_view nearest;
  for (const std::string_view word : words) {
    const std::size_t distance = edit_distance(lower(text), lower(word));
    // Words with nothing in common are not misspelt.
    if (distance < least && distance < std::max(text.size(), word.size())) {
      least = distance;
      nearest = word;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

void fail_name(std::string_view what, std::string_view text,
               std::span<const std::string_view> known) {
  fail_input("{}{}must be {}, not '{}'{}", what, what.empty() ? "" : " ", listed(known), text,
             suggestion(text, known));
}

}  // namespace covshift
