#include "covshift/data/csv_chunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "covshift/base/number.hpp"

namespace covshift {

namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

/// Parses one chunk. It ends with a line end, at which every inner loop stops, so only quoted
/// fields and the row loop need to check for the end of the text.
template <bool blank_runs>
class ChunkParser {
 public:
  ChunkParser(std::string_view text, const RecordSyntax& syntax, const std::vector<char>& is_text,
              CsvChunk& out)
      : p_(text.data()),
        end_(text.data() + text.size()),
        syntax_(syntax),
        delimiter_(syntax.delimiter),
        is_text_(is_text),
        is_long_(is_text.size(), 0),
        out_(out) {}

  void run() {
    const std::size_t columns = is_text_.size();
    while (p_ != end_ && !out_.problem) {
      skip_blanks();
      if (at_line_end()) {
        past_line_end();
        continue;
      }
      out_.line_map.note(out_.rows, line_);
      const std::size_t begin = out_.rows * columns;
      if (begin + columns > out_.cells.size()) {
        out_.cells.resize(std::max(2 * out_.cells.size(), begin + columns));
      }
      if (parse_row(out_.cells.data() + begin)) ++out_.rows;
    }
    out_.lines = line_;
  }

 private:
  bool parse_row(double* cells) {
    const std::size_t columns = is_text_.size();
    const std::size_t row_line = line_;
    for (std::size_t c = 0; c < columns; ++c) {
      // Fast path: a number, then a delimiter.
      if constexpr (!blank_runs) {
        double value = 0.0;
        const char* const stop = is_text_[c] == 0 ? scan_likely(c, value) : nullptr;
        if (stop != nullptr && *stop == delimiter_ && c + 1 < columns) {
          cells[c] = value;
          p_ = stop + 1;
          continue;
        }
      }
      if (!parse_field(c, cells[c])) return false;
      const bool last = c + 1 == columns;
      if (at_line_end()) {
        if (!last) return ragged(row_line, c + 1);
      } else if (last) {
        return ragged(row_line, c + 1);
      } else if constexpr (!blank_runs) {
        ++p_;
      }
    }
    past_line_end();
    return true;
  }

  /// A number at p_. The numbers of a column tend to have similar lengths: if the last one was too
  /// long for the fast path, skipping it avoids reading the digits twice.
  const char* scan_likely(std::size_t c, double& value) {
    constexpr std::ptrdiff_t long_number = 17;
    const char* const stop =
        is_long_[c] != 0 ? detail::scan_any_number(p_, end_, value) : scan_number(p_, end_, value);
    is_long_[c] = static_cast<char>(stop != nullptr && stop - p_ > long_number);
    return stop;
  }

  /// Reads a field and the blanks after it; stops at the delimiter (for runs of blanks, at the next
  /// field) or the line end.
  bool parse_field(std::size_t c, double& cell) {
    skip_blanks();
    if (is_text_[c] == 0) {
      double value = 0.0;
      const char* const stop = scan_number(p_, end_, value);
      if (stop != nullptr) {
        const char* const begin = p_;
        p_ = stop;
        if (at_field_end()) {
          skip_blanks();
          if (blank_runs || at_delimiter() || at_line_end()) {
            cell = value;
            return true;
          }
        }
        p_ = begin;  // a string that starts like a number
      }
    }
    std::string_view text;
    const bool quoted = *p_ == '"';
    if (quoted) {
      if (!quoted_field(c, text)) return false;
    } else {
      const char* const begin = p_;
      while (blank_runs ? !at_field_end() : !at_delimiter() && !at_line_end()) ++p_;
      text = trim({begin, static_cast<std::size_t>(p_ - begin)});
    }
    skip_blanks();
    cell = cell_value(c, text, quoted);
    return true;
  }

  double cell_value(std::size_t c, std::string_view text, bool quoted) {
    // "NA" may be a category, but not a number.
    const bool word = quoted && is_text_[c] != 0;
    if (word ? text.empty() : is_missing(text)) return missing_value;
    if (is_text_[c] != 0) return static_cast<double>(out_.levels[c].code(text));
    if (const auto number = parse_number(text)) return *number;
    out_.not_numeric[c] = 1;
    return missing_value;
  }

  bool quoted_field(std::size_t c, std::string_view& text) {
    const std::size_t opening_line = line_;
    const char* begin = ++p_;
    bool plain = true;  // no doubled quote: the text can be used in place
    unquoted_.clear();
    while (true) {
      const std::string_view rest(p_, static_cast<std::size_t>(end_ - p_));
      const std::size_t quote = rest.find('"');
      if (quote == std::string_view::npos) {
        return problem(opening_line, c + 1,
                       "a quote (\") is opened here and never closed; close it, or double it to "
                       "mean the character itself");
      }
      line_ += static_cast<std::size_t>(std::count(p_, p_ + quote, '\n'));
      p_ += quote + 1;
      if (*p_ != '"') break;
      plain = false;
      unquoted_.append(begin, p_);
      begin = ++p_;
    }
    unquoted_.append(begin, p_ - 1);
    text = plain ? std::string_view(begin, static_cast<std::size_t>(p_ - 1 - begin))
                 : std::string_view(unquoted_);
    const char* const after = p_;
    if (!blank_runs) skip_blanks();
    if (at_field_end()) return true;
    p_ = after;
    while (!at_delimiter() && !at_line_end()) ++p_;
    return problem(line_, c + 1,
                   fmt::format("{} follows a closing quote; put the quotes around the whole field "
                               "and double those inside",
                               quoted_excerpt({after, static_cast<std::size_t>(p_ - after)})));
  }

  bool ragged(std::size_t row_line, std::size_t found) {
    const std::size_t columns = is_text_.size();
    double ignored = 0.0;
    // The rest of the row is only counted.
    while (!at_line_end()) {
      if constexpr (!blank_runs) ++p_;
      if (!parse_field(columns - 1, ignored)) return false;
      ++found;
    }
    if (columns == 1) {
      return problem(row_line, 2,
                     fmt::format("this line has {} fields, those above have 1; remove titles and "
                                 "comments from the top of the file",
                                 found));
    }
    return problem(row_line, std::min(columns, found) + 1,
                   fmt::format("expected {} fields, found {}; give every row the same fields, and "
                               "quote a field that holds the delimiter{}",
                               columns, found,
                               delimiter_ == ' '    ? " (a blank)"
                               : delimiter_ == '\t' ? " (a tab)"
                                                    : fmt::format(" '{}'", delimiter_)));
  }

  bool problem(std::size_t line, std::size_t field, std::string message) {
    out_.problem = CsvProblem{line, field, std::move(message)};
    return false;
  }

  [[nodiscard]] bool at_line_end() const { return *p_ == '\n' || (*p_ == '\r' && p_[1] == '\n'); }
  [[nodiscard]] bool at_delimiter() const {
    return blank_runs ? *p_ == ' ' || *p_ == '\t' : *p_ == delimiter_;
  }
  /// Where a number may end: at a delimiter, blank or line end.
  [[nodiscard]] bool at_field_end() const {
    return at_delimiter() || at_line_end() || is_blank(*p_, syntax_);
  }
  void skip_blanks() {
    while (is_blank(*p_, syntax_)) ++p_;
  }
  void past_line_end() {
    p_ += *p_ == '\r' ? 2 : 1;
    ++line_;
  }

  const char* p_;
  const char* end_;
  const RecordSyntax& syntax_;
  const char delimiter_;
  const std::vector<char>& is_text_;
  std::vector<char> is_long_;  ///< for each column: whether its last number was long
  CsvChunk& out_;
  std::size_t line_ = 0;
  std::string unquoted_;
};

}  // namespace

void parse_csv_chunk(std::string_view text, const RecordSyntax& syntax,
                     const std::vector<char>& is_text, CsvChunk& out) {
  out.rows = 0;
  out.lines = 0;
  out.levels.assign(is_text.size(), {});
  out.not_numeric.assign(is_text.size(), 0);
  out.line_map = {};
  out.problem.reset();
  if (text.empty()) return;
  if (syntax.delimiter == ' ') {
    ChunkParser<true>(text, syntax, is_text, out).run();
  } else {
    ChunkParser<false>(text, syntax, is_text, out).run();
  }
}

}  // namespace covshift
