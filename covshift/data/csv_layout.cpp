#include "covshift/data/csv_layout.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/csv_header.hpp"

namespace covshift {

namespace {

constexpr std::size_t sample_bytes = std::size_t{64} << 10U;
constexpr std::size_t longest_header = std::size_t{64} << 20U;
constexpr std::size_t sample_records = 50;

bool is_blank_line(std::string_view line, const RecordSyntax& syntax) {
  return std::all_of(line.begin(), line.end(),
                     [&](char c) { return is_blank(c, syntax) || c == '\r' || c == '\n'; });
}

/// The records at the start of `text`, without blank lines. The last record of `text` may be
/// incomplete and is included only if the file ends there.
std::vector<std::string_view> leading_records(std::string_view text, bool ended,
                                              const RecordSyntax& syntax) {
  std::vector<std::string_view> records;
  while (!text.empty() && records.size() < sample_records) {
    std::size_t end = first_record_end(text, syntax);
    if (end == 0) {
      if (!ended) break;
      end = text.size();
    }
    if (!is_blank_line(text.substr(0, end), syntax)) records.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return records;
}

/// Calls visit(field) for the fields of a record.
template <typename Visit>
void each_field(std::string_view text, const RecordSyntax& syntax, const Visit& visit) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  const bool runs = syntax.delimiter == ' ';
  std::size_t p = 0;
  const auto skip_blanks = [&] {
    while (p < text.size() && is_blank(text[p], syntax)) ++p;
  };
  CsvField field;
  for (bool first = true;; first = false) {
    skip_blanks();
    if (runs && p == text.size() && !first) return;
    field.text.clear();
    field.quoted = syntax.quotes && p < text.size() && text[p] == '"';
    if (field.quoted) {
      for (++p; p < text.size(); ++p) {
        if (text[p] == '"') {
          if (p + 1 == text.size() || text[p + 1] != '"') break;
          ++p;
        }
        field.text += text[p];
      }
      p = std::min(p + 1, text.size());
    }
    const std::size_t begin = p;
    while (p < text.size() && (runs ? !is_blank(text[p], syntax) : text[p] != syntax.delimiter)) {
      ++p;
    }
    field.text += trim(text.substr(begin, p - begin));
    visit(field);
    if (p == text.size()) return;
    if (!runs) ++p;
  }
}

std::size_t count_fields(std::string_view record, const RecordSyntax& syntax) {
  std::size_t count = 0;
  each_field(record, syntax, [&](const CsvField&) { ++count; });
  return count;
}

/// A column takes hundreds of bytes before it holds a value: a short file of commas must not become
/// a million of them.
void check_width(std::size_t fields, std::uint64_t bytes, const std::string& path,
                 std::size_t line) {
  constexpr std::size_t most_columns = 1'000'000;
  constexpr std::size_t always = std::size_t{1} << 17U;
  constexpr std::size_t bytes_each = 16;
  if (fields > most_columns) {
    fail_input(
        "{}:{}: this row has {} fields, more than the {} columns that are read; is it a table?",
        path, line, fields, most_columns);
  }
  if (fields > always && fields * bytes_each > bytes) {
    fail_input("{}:{}: this row has {} fields, but there are only {} bytes of text; is it a table?",
               path, line, fields, bytes);
  }
}

/// The delimiter that splits all first rows into the same number of fields, more than one. If none
/// does, the one that is most consistent: the reader will then report the row that differs.
char detect_delimiter(std::string_view sample, bool ended) {
  // Blanks come last: they also follow other delimiters.
  constexpr std::array<char, 5> candidates = {',', '\t', ';', '|', ' '};
  char best = ',';
  double best_share = 0.0;
  for (const char delimiter : candidates) {
    const RecordSyntax syntax{delimiter, true};
    const auto records = leading_records(sample, ended, syntax);
    if (records.empty()) continue;
    const std::size_t fields = count_fields(records.front(), syntax);
    if (fields < 2) continue;
    const auto same = std::count_if(records.begin(), records.end(), [&](std::string_view r) {
      return count_fields(r, syntax) == fields;
    });
    const double share = static_cast<double>(same) / static_cast<double>(records.size());
    // Blanks also separate words: require more than chance agreement.
    if (delimiter == ' ' && share < 0.5) continue;
    if (share > best_share) {
      best_share = share;
      best = delimiter;
    }
  }
  return best;
}

void check_line_ends(const std::string& path, std::string_view head) {
  if (head.find('\n') == std::string_view::npos && head.find('\r') < head.size() - 1) {
    fail_input("{}:1:1: lines end with CR alone; save the file with LF or CRLF line ends", path);
  }
}

std::vector<std::string> header_names(const std::string& path, std::size_t line,
                                      std::vector<CsvField> fields) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t c = 0; c < fields.size(); ++c) {
    std::string name =
        fields[c].text.empty() ? fmt::format("c{}", c + 1) : std::move(fields[c].text);
    const auto [other, fresh] = seen.emplace(name, c + 1);
    if (!fresh) {
      fail_input("{}:{}:{}: the column name {} is used twice (fields {} and {}); rename one", path,
                 line, c + 1, quoted_excerpt(name), other->second, c + 1);
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// Tables of R have no name above the names of their rows.
void check_row_names(const std::string& path, std::size_t line, std::size_t width,
                     const std::vector<std::string_view>& below, const RecordSyntax& syntax) {
  if (below.empty() || !std::all_of(below.begin(), below.end(), [&](std::string_view record) {
        return count_fields(record, syntax) == width + 1;
      })) {
    return;
  }
  fail_input(
      "{}:{}: the header has {} names, the rows below have {} fields; if the first field names the "
      "row, as R writes it, put a name for it before the others",
      path, line, width, width + 1);
}

/// Digits, letters, signs and quotes are parts of fields.
bool can_delimit(char c) {
  constexpr std::string_view delimiters = ",;|\t !#$%&'()*/:<=>?@[\\]^_`{}~";
  return delimiters.find(c) != delimiters.npos;
}

/// Spreadsheets put the delimiter on a first line of its own, such as sep=; which this skips.
/// Returns its length, 0 if there is none.
std::size_t separator_line(const std::string& path, std::string_view text, char& delimiter) {
  constexpr std::string_view start = "sep=";
  const std::size_t end = text.find('\n');
  if (!text.starts_with(start) || end == text.npos) return 0;
  const std::string_view line = text.substr(0, end - (text[end - 1] == '\r' ? 1 : 0));
  if (line.size() != start.size() + 1) return 0;
  if (!can_delimit(line.back())) {
    fail_input(
        "{}:1: the delimiter that sep= names may be a part of fields; write the file with another, "
        "such as sep=;",
        path);
  }
  if (delimiter == '\0') delimiter = line.back();
  return end + 1;
}

/// A file without header has the columns that it should have only if these have no names either.
void check_expected(const std::string& path, const CsvLayout& layout, const ReadOptions& options) {
  const auto& expected = options.expected;
  const std::unordered_set<std::string_view> own(layout.names.begin(), layout.names.end());
  if (std::all_of(expected.begin(), expected.end(),
                  [&](const std::string& name) { return own.contains(name); })) {
    return;
  }
  constexpr std::size_t shown = 12;
  const char between = layout.syntax.delimiter;
  std::string line;
  for (std::size_t k = 0; k < std::min(expected.size(), shown); ++k) {
    line += (k == 0 ? "" : std::string(1, between)) + expected[k];
  }
  if (expected.size() > shown) line += fmt::format("{}...", between);
  fail_input(
      "{}: this file has no header, but the columns of the training file have names; put {} at its "
      "top, in the order of its columns{}",
      path,
      own.size() == expected.size()
          ? fmt::format("the line {}", line)
          : fmt::format("a line with the names of its {} columns, among them {},", own.size(),
                        line),
      options.header == HeaderLine::detect
          ? "; if its first line names them already, say --header yes"
          : "");
}

}  // namespace

std::vector<CsvField> split_record(std::string_view text, const RecordSyntax& syntax) {
  std::vector<CsvField> fields;
  each_field(text, syntax, [&](CsvField& field) { fields.push_back(std::exchange(field, {})); });
  return fields;
}

std::string_view line_at(std::string_view text, std::size_t number) {
  for (; number > 0; --number) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return text.substr(0, text.find('\n'));
}

void refuse_zero(const std::string& path, std::size_t line, std::string_view text) {
  const std::size_t zero = text.find('\0');
  if (zero == std::string_view::npos) return;
  const std::string_view before = text.substr(0, zero);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start = lines == 0 ? 0 : before.rfind('\n') + 1;
  fail_input(
      "{}:{}: byte {} of this line is 0, which no text holds; if this is UTF-16, say --encoding "
      "utf-16, else remove it",
      path, line + lines, zero - start + 1);
}

CsvLayout detect_csv_layout(ByteSource& source, const ReadOptions& options, std::string& head) {
  const std::string& path = source.path();
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  CsvLayout layout;
  bool ended = source.read(head, sample_bytes) < sample_bytes;
  check_line_ends(path, head);
  std::size_t text_start = head.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  char delimiter = options.delimiter;
  text_start += separator_line(path, std::string_view(head).substr(text_start), delimiter);

  std::size_t record_start = text_start;
  std::size_t record_end = 0;
  std::vector<std::string_view> below;  // the records after the first
  while (true) {
    const std::string_view text = std::string_view(head).substr(text_start);
    layout.syntax.delimiter = delimiter != '\0' ? delimiter : detect_delimiter(text, ended);
    const auto records = leading_records(text, ended, layout.syntax);
    // A second record shows what the first one is.
    if (records.size() > 1 || (!records.empty() && (ended || head.size() > longest_header))) {
      record_start = static_cast<std::size_t>(records.front().data() - head.data());
      record_end = record_start + records.front().size();
      below.assign(records.begin() + 1, records.end());
      break;
    }
    if (ended) fail_input("{}: the file is empty; it needs at least one row of data", path);
    if (head.size() > longest_header) {
      fail_input("{}:1:1: the first row is longer than {} MiB; probably a quote (\") is not closed",
                 path, longest_header >> 20U);
    }
    const std::size_t more = head.size();
    ended = source.read(head, more) < more;
  }

  const auto lines_in = [&](std::size_t begin, std::size_t end) {
    return static_cast<std::size_t>(std::count(head.begin() + static_cast<std::ptrdiff_t>(begin),
                                               head.begin() + static_cast<std::ptrdiff_t>(end),
                                               '\n'));
  };
  const std::size_t first_line = 1 + lines_in(0, record_start);
  const std::string_view record(head.data() + record_start, record_end - record_start);
  refuse_zero(path, first_line, record);
  if (first_record_end(std::string(record) + '\n', layout.syntax) == 0) {
    fail_input(
        "{}:{}: a quote (\") in this row is never closed; close it, or double it to mean the "
        "character itself",
        path, first_line);
  }
  const std::size_t width = count_fields(record, layout.syntax);
  check_width(width, std::max<std::uint64_t>(source.plain_size(), head.size()), path, first_line);
  auto fields = split_record(record, layout.syntax);
  // Fewer lines of a wide table show as much.
  constexpr std::size_t compared_fields = 100'000;
  below.resize(std::min(below.size(), compared_fields / width + 1));
  HeaderGuess guess{options.header == HeaderLine::present, {}};
  if (options.header == HeaderLine::detect) {
    guess = HeaderJudge(fields, below, layout.syntax, options).decide();
  }
  const bool header = guess.header;
  if (!guess.because.empty()) {
    layout.note = fmt::format(
        "{}:{}: the first line is taken as {}, because {}; if that is wrong, say --header {}", path,
        first_line, header ? "the names of the columns" : "data (columns c1, c2, ...)",
        guess.because, header ? "no" : "yes");
  }
  layout.data_offset = header ? record_end : record_start;
  layout.first_data_line = first_line + (header ? lines_in(record_start, record_end) : 0);
  if (header) {
    check_row_names(path, first_line, width, below, layout.syntax);
    layout.names = header_names(path, first_line, std::move(fields));
  } else {
    for (std::size_t c = 0; c < fields.size(); ++c) {
      layout.names.push_back(fmt::format("c{}", c + 1));
    }
    check_expected(path, layout, options);
  }
  return layout;
}

}  // namespace covshift
