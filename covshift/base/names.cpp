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

/// The position of the word that the text was probably meant to be; words.size(): none is close.
std::size_t nearest(std::string_view text, std::span<const std::string_view> words) {
  std::size_t least = std::max<std::size_t>(text.size() / 3, 1) + 1;
  std::size_t found = words.size();
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::size_t distance = edit_distance(lower(text), lower(words[k]));
    // Words with nothing in common are not misspelt.
    if (distance < least && distance < std::max(text.size(), words[k].size())) {
      least = distance;
      found = k;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word) {
  return fmt::format("; did you mean '{}'?", word);
}

/// The same for words that end in a value: views[:D], temper:G.
std::string suggested_form(std::string_view text, std::span<const std::string_view> words) {
  std::vector<std::string_view> stems;
  for (const std::string_view word : words)
    stems.push_back(word.substr(0, word.find_first_of("[:")));
  const std::size_t k = nearest(text.substr(0, text.find(':')), stems);
  if (k == words.size()) return "";
  return did_you_mean(words[k].find('[') != std::string_view::npos ? stems[k] : words[k]);
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
  const std::size_t k = nearest(text, words);
  return k == words.size() ? "" : did_you_mean(words[k]);
}

void fail_name(std::string_view what, std::string_view text,
               std::span<const std::string_view> known) {
  const std::string whole = suggestion(text, known);
  fail_input("{}{}must be {}, not '{}'{}", what, what.empty() ? "" : " ", listed(known), text,
             whole.empty() ? suggested_form(text, known) : whole);
}

}  // namespace covshift
