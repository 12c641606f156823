#include "covshift/data/csv_range.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/data/byte_source.hpp"
#include "covshift/data/csv_layout.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {
namespace {

/// Where a byte of a file may be.
enum State : std::uint8_t {
  record,  ///< at the start of a record
  field,   ///< at the start of another field, perhaps after blanks
  plain,   ///< within an unquoted field, or after the quotes of a quoted one
  quoted,  ///< within quotes
  quote,   ///< after a quote within quotes, which closes the field unless another one follows
  states
};

State after(State state, char c, const RecordSyntax& syntax) {
  if (state == quoted) return c == '"' ? quote : quoted;
  if (c == '"') return state == record || state == field || state == quote ? quoted : plain;
  if (c == '\n') return record;
  if (syntax.delimiter == ' ' ? is_blank(c, syntax) : c == syntax.delimiter) return field;
  const bool at_start = state == record || state == field;
  return at_start && is_blank(c, syntax) ? state : plain;
}

constexpr std::uint64_t none = UINT64_MAX;

/// What happens from each state at the start of some bytes.
struct Passage {
  std::array<State, states> end{};
  std::array<std::uint64_t, states> boundary{};  ///< where the first record begins; none: nowhere
  std::array<std::uint64_t, states> lines_before{};  ///< line ends before that
  std::uint64_t lines = 0;
};

class Scan {
 public:
  Scan(std::uint64_t begin, const RecordSyntax& syntax) : at_(begin), syntax_(syntax) {
    for (std::uint8_t s = 0; s < states; ++s) passage_.end[s] = static_cast<State>(s);
    passage_.boundary.fill(none);
    passage_.boundary[record] = begin;
  }

  void add(std::string_view text) {
    // A quote after the window may still be doubled by its first byte: states carry over.
    if (text.find('"') == std::string_view::npos) {
      add_unquoted(text);
    } else {
      for (std::uint8_t s = 0; s < states; ++s) add_from(s, text, 0);
    }
    passage_.lines += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    at_ += text.size();
  }
  [[nodiscard]] const Passage& passage() const { return passage_; }

 private:
  /// Without quotes only the last line matters.
  void add_unquoted(std::string_view text) {
    const std::size_t last = text.rfind('\n');
    for (std::uint8_t s = 0; s < states; ++s) {
      State& state = passage_.end[s];
      if (state == quoted) continue;
      if (last == std::string_view::npos) {
        add_from(s, text, 0);
        continue;
      }
      note_boundary(s, text, text.find('\n'));
      state = record;
      add_from(s, text, last + 1);
    }
  }
  void add_from(std::uint8_t s, std::string_view text, std::size_t from) {
    State state = passage_.end[s];
    for (std::size_t k = from; k < text.size(); ++k) {
      const bool ends = text[k] == '\n' && state != quoted;
      state = after(state, text[k], syntax_);
      if (ends) note_boundary(s, text, k);
    }
    passage_.end[s] = state;
  }
  void note_boundary(std::uint8_t s, std::string_view text, std::size_t newline) {
    if (passage_.boundary[s] != none) return;
    passage_.boundary[s] = at_ + newline + 1;
    passage_.lines_before[s] =
        passage_.lines +
        static_cast<std::uint64_t>(std::count(
            text.begin(), text.begin() + static_cast<std::ptrdiff_t>(newline) + 1, '\n'));
  }

  Passage passage_;
  std::uint64_t at_;
  RecordSyntax syntax_;
};

Passage scan(ByteSource& source, std::uint64_t begin, std::uint64_t end,
             const RecordSyntax& syntax) {
  constexpr std::size_t window = std::size_t{1} << 20U;
  Scan result(begin, syntax);
  source.select(begin, end);
  std::string text;
  do {
    text.clear();
    source.read(text, window);
    result.add(text);
  } while (text.size() == window);
  return result.passage();
}

}  // namespace

std::vector<CsvRange> csv_ranges(const std::string& path, const ReadOptions& options,
                                 const Reducer& reducer, std::uint64_t bytes) {
  static_assert(std::is_trivially_copyable_v<Passage>);
  ByteSource source(path, options.encoding);
  if (!source.divisible()) {
    fail_input("{}: only a plain UTF-8 file can be read in parts; unpack it, or give several files",
               path);
  }
  std::string head;
  const CsvLayout layout = detect_csv_layout(source, options, head);
  const std::size_t holders = reducer.gather({}).size();
  const std::uint64_t first = layout.data_offset;
  const std::uint64_t size = source.plain_size() - first;
  const auto each = static_cast<std::size_t>(std::max<std::uint64_t>(1, size / holders / bytes));
  const std::size_t parts = holders * each;
  const auto cut = [&](std::size_t part) {
    return first + size / parts * part + size % parts * part / parts;
  };
  std::vector<Passage> own;
  for (std::size_t k = reducer.holder() * each; k < (reducer.holder() + 1) * each; ++k) {
    own.push_back(scan(source, cut(k), cut(k + 1), layout.syntax));
  }
  const std::vector<std::string> pieces =
      reducer.gather({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(Passage)});
  std::vector<CsvRange> starts;
  State state = record;
  std::uint64_t lines = layout.first_data_line;
  for (const std::string& piece : pieces) {
    for (std::size_t k = 0; k < each; ++k) {
      Passage part;
      std::memcpy(&part, piece.data() + k * sizeof part, sizeof part);
      starts.push_back(
          {part.boundary[state], 0, static_cast<std::size_t>(lines + part.lines_before[state])});
      lines += part.lines;
      state = part.end[state];
    }
  }
  // A record that is longer than a part belongs to the part in which it begins.
  for (std::size_t k = parts; k-- > 0;) {
    starts[k].end = k + 1 < parts ? starts[k + 1].begin : first + size;
    if (starts[k].begin == none) starts[k].begin = starts[k].end;
  }
  const auto begin = starts.begin() + static_cast<std::ptrdiff_t>(reducer.holder() * each);
  return {begin, begin + static_cast<std::ptrdiff_t>(each)};
}

CsvRange csv_range(const std::string& path, const ReadOptions& options, const Reducer& reducer) {
  return csv_ranges(path, options, reducer, UINT64_MAX).front();
}

bool divisible(const std::string& path, const ReadOptions& options) {
  const std::string name = to_lower(path);
  const bool text = std::none_of(formats.begin(), formats.end(),
                                 [&](const Format& f) { return name.ends_with(f.extension); });
  return text && ByteSource(path, options.encoding).divisible();
}

Table read_csv_range(const std::string& path, const ReadOptions& options, const CsvRange& range) {
  ByteSource source(path, options.encoding);
  return read_csv(source, options, &range);
}

}  // namespace covshift
