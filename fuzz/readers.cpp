// Readers of data files: the table must be whole, and the same for any chunk size and any number of
// threads.
#include "covshift/data/readers.hpp"

#include <bit>

#include "fuzz/targets.hpp"

namespace covshift::fuzz {
namespace {

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

void check_whole(const Table& table) {
  ensure(table.rows > 0 && !table.columns.empty(), "an empty table");
  for (const Column& column : table.columns) {
    const std::size_t size = column.categorical ? column.codes.size() : column.numbers.size();
    ensure(size == table.rows, "{} values in {} rows", size, table.rows);
    for (const std::int32_t code : column.codes) {
      ensure(code >= -1 && code < static_cast<std::int32_t>(column.levels.size()), "code {}", code);
    }
  }
  for (std::size_t row = 0; row < table.rows; row += table.rows / 3 + 1) {
    ensure(!table.where(row, table.columns.back()).empty(), "no place");
    static_cast<void>(table.columns.back().text(row));
  }
  if (!table.sparse) return;
  const Matrix& x = *table.sparse;
  ensure(x.offsets.size() == table.rows + 1, "{} offsets", x.offsets.size());
  ensure(static_cast<std::size_t>(x.offsets.back()) == x.values.size(), "entries");
  for (const std::int32_t c : x.columns) {
    ensure(c >= 0 && static_cast<std::size_t>(c) < x.cols, "column {} of {}", c, x.cols);
  }
}

void check_same(const Table& a, const Table& b) {
  ensure(a.rows == b.rows && a.columns.size() == b.columns.size(), "another size");
  ensure(a.notes == b.notes, "other notes");
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const Column& x = a.columns[c];
    const Column& y = b.columns[c];
    ensure(x.name == y.name && x.categorical == y.categorical && x.codes == y.codes &&
               x.levels == y.levels && same_numbers(x.numbers, y.numbers),
           "column {} differs", c + 1);
  }
  for (std::size_t row = 0; row < a.rows; ++row) {
    ensure(a.lines.line_of(row) == b.lines.line_of(row), "another line for row {}", row);
  }
  ensure(a.sparse.has_value() == b.sparse.has_value(), "sparse or dense");
  if (a.sparse) {
    ensure(a.sparse->columns == b.sparse->columns && a.sparse->offsets == b.sparse->offsets &&
               a.sparse->cols == b.sparse->cols,
           "other entries");
  }
}

/// Two ways to the same bytes: in memory under a file's name, and in the file.
struct Ways {
  Table (*memory)(const std::string& name, std::string bytes, const ReadOptions& options);
  Table (*file)(const std::string& path, const ReadOptions& options);
};
constexpr Ways by_name = {read_bytes, read_table};
template <auto reader, bool text>
constexpr Ways by_reader = {
    [](const std::string& name, std::string bytes, const ReadOptions& options) {
      ByteSource source(name, std::move(bytes), text ? options.encoding : Encoding::utf8);
      return reader(source, options);
    },
    [](const std::string& path, const ReadOptions& options) {
      ByteSource source(path, options.encoding, text);
      return reader(source, options);
    }};

/// Most inputs are read once, from memory: a second reading, a file and above all threads take
/// longer than the rest.
void read_twice(std::string_view bytes, const Ways& ways, ReadOptions options = {}) {
  const std::uint32_t h = hash(bytes);
  const bool file = h % 64 == 0;
  const std::string& path = file ? file_of(bytes) : file_path();
  options.threads = 1;
  options.chunk_bytes = 4096;
  Table table;
  const std::string refused =
      refusal([&] { table = ways.memory(path, std::string(bytes), options); });
  if (refused.empty()) check_whole(table);
  if (h % 16 != 0) return;
  ReadOptions other = options;
  other.chunk_bytes = 1 + h / 16 % 61;
  other.threads = h % 1024 == 0 ? 2 : 1;
  Table again;
  const std::string refused_again = refusal([&] {
    again = file ? ways.file(path, other) : ways.memory(path, std::string(bytes), other);
  });
  ensure(refused == refused_again, "'{}' in chunks of {}: '{}'", refused, other.chunk_bytes,
         refused_again);
  if (refused.empty()) check_same(table, again);
}

}  // namespace

/// The first byte chooses options: without that, half of the detection is seldom reached.
void csv(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<unsigned char>(bytes.front());
  ReadOptions options;
  if (choice >= '0' && choice <= '9') {
    constexpr std::string_view delimiters = {"\0,;\t |", 6};
    const unsigned k = choice - '0';
    options.delimiter = delimiters[k % 6];
    options.header = k < 3 ? HeaderLine::detect : k < 6 ? HeaderLine::present : HeaderLine::absent;
    if (k == 7) options.encoding = Encoding::latin1;
    if (k == 8) options.encoding = Encoding::utf16;
    if (k % 2 == 1) options.text_columns = {"a"};
    bytes.remove_prefix(1);
  }
  read_twice(bytes, by_name, options);
}
void svmlight(std::string_view bytes) { read_twice(bytes, by_reader<read_svmlight, true>); }
void arff(std::string_view bytes) { read_twice(bytes, by_reader<read_arff, true>); }
void npy(std::string_view bytes) { read_twice(bytes, by_reader<read_npy, false>); }
void gz(std::string_view bytes) { read_twice(bytes, by_name); }

}  // namespace covshift::fuzz
