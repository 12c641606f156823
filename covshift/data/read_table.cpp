#include "covshift/data/read_table.hpp"

#include <algorithm>
#include <array>

#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"
#include "covshift/data/table_blocks.hpp"

namespace covshift {

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

namespace {

/// Files of other programs, which would only look damaged.
struct Foreign {
  std::string_view magic, what;
  std::string_view pandas;  ///< the function that reads it
  std::string_view remedy = {};
};
constexpr std::string_view unpack = "unpack it first, or pack it with gzip, which is read as it is";
constexpr std::string_view page =
    "it may be an error message: open it in a browser, and download the data again";
constexpr std::string_view zip = "PK\x03\x04";
constexpr auto foreign = std::to_array<Foreign>(
    {{"PAR1", "Parquet", "read_parquet"},
     {"ARROW1", "Arrow", "read_feather"},
     {"FEA1", "Feather", "read_feather"},
     {zip, "Excel (or another zip file)", "read_excel"},
     {"\xd0\xcf\x11\xe0", "Excel", "read_excel"},
     {"\x89HDF", "HDF5", "read_hdf"},
     {"\x80\x04", "a Python pickle", "read_pickle"},
     {"\x80\x05", "a Python pickle", "read_pickle"},
     {"SQLite format 3", "an SQLite database", "",
      "export a table of it: sqlite3 -header -csv FILE 'select * from TABLE' > data.csv"},
     {"BZh", "packed with bzip2", "", unpack},
     {"\xfd\x37zXZ", "packed with xz", "", unpack},
     {"\x28\xb5\x2f\xfd", "packed with zstd", "", unpack},
     {"<!DOCTYPE html", "a web page (HTML)", "", page},
     {"<!doctype html", "a web page (HTML)", "", page},
     {"<html", "a web page (HTML)", "", page},
     {"version https://git-lfs", "a pointer of Git LFS in place of the data", "",
      "fetch the data: git lfs pull"}});

/// A label and pairs of an index and a value, such as "+1 1:0.7 3:1", in every line of the start of
/// a file. A number and times of the day, such as "7 12:30", are not.
bool looks_like_svmlight(std::string_view head) {
  bool certain = false;
  head = head.substr(0, head.find_last_of(" \t\r\n") + 1);  // the last word may be cut
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = trim(head.substr(0, std::min(head.find('#'), end)));
    head.remove_prefix(std::min(end + 1, head.size()));
    for (bool label = true; !line.empty(); label = false) {
      const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
      const std::string_view word = line.substr(0, blank);
      line = trim(line.substr(blank));
      if (label && parse_number(word)) continue;
      const std::size_t colon = std::min(word.find(':'), word.size());
      const auto index = parse_count(word.substr(0, colon));
      const std::string_view value = word.substr(std::min(colon + 1, word.size()));
      if (label || !index || !parse_number(value)) return false;
      certain = certain || *index >= 24 || value.size() != 2;
    }
  }
  return certain;
}

/// `table`: the file is to be read as delimited text.
void refuse_foreign(ByteSource& source, bool table) {
  std::string head;
  source.read(head, 256);
  source.rewind();
  const std::string& path = source.path();
  const auto convert = [&](std::string_view reader, std::string_view more) {
    return fmt::format(
        "convert it to CSV, for example with Python: pandas.{}({}{}).to_csv('data.csv', "
        "index=False)",
        reader, quoted_excerpt(path), more);
  };
  if (head.starts_with(zip) && head.find(".npy") != head.npos) {
    fail_input(
        "{0}: this is NPZ, an archive of arrays, which the program does not read; save one of them "
        "as NPY, for example with Python: numpy.save('data.npy', numpy.load({1})['NAME'])",
        path, quoted_excerpt(path));
  }
  if (table && looks_like_svmlight(head)) {
    fail_input(
        "{}: this looks like svmlight, which is read from files that are called .svm, .svmlight or "
        ".libsvm; rename it",
        path);
  }
  for (const Foreign& f : foreign) {
    if (!head.starts_with(f.magic)) continue;
    fail_input("{}: this is {}, which the program does not read; {}", path, f.what,
               f.pandas.empty() ? std::string(f.remedy) : convert(f.pandas, ""));
  }
  const std::size_t first = std::min(head.find_first_not_of(" \t\r\n"), head.size());
  const std::string_view text = std::string_view(head).substr(first);
  const std::size_t next = text.size() > 1 ? text.find_first_not_of(" \t\r\n", 1) : text.npos;
  if (next == text.npos) return;
  const bool object = text.front() == '{' && text[next] == '"';
  if (object && text.find("\"format\": \"covshift ") != text.npos) {
    fail_input("{}: this is a model file of covshift, not a table; name the data here", path);
  }
  if (object || (text.front() == '[' && (text[next] == '{' || text[next] == '['))) {
    const bool lines = object && text.find('\n') > next;
    fail_input("{}: this is JSON{}, which the program does not read; {}", path,
               lines ? " lines" : "", convert("read_json", lines ? ", lines=True" : ""));
  }
}

/// The first byte that is not UTF-8 or is 0, which no text holds; npos if there is none.
std::size_t first_odd_byte(std::string_view text) {
  return std::min(first_invalid_utf8(text), text.find('\0'));
}

[[noreturn]] void fail_encoding(const std::string& where, std::string_view what,
                                std::string_view text, std::size_t at) {
  if (text[at] == '\0') {
    fail_input(
        "{}: byte {} of {} {} is 0, which no text holds; if this is UTF-16, say --encoding utf-16, "
        "else remove it",
        where, at + 1, what, quoted_excerpt(text));
  }
  std::vector<std::string_view> others;
  for (const auto& [encoding, name] : names<Encoding>) {
    if (encoding != Encoding::detect && encoding != Encoding::utf8) others.push_back(name);
  }
  fail_input(
      "{}: byte {} of {} {} is 0x{:02x}, which is not UTF-8; name the file's encoding "
      "(--encoding {}), or save it as UTF-8",
      where, at + 1, what, quoted_excerpt(text), static_cast<unsigned char>(text[at]),
      listed(others));
}

/// Names and categories must be UTF-8: they go into model files, reports and terminals.
void check_text(const Table& table) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (const std::size_t at = first_odd_byte(column.name); at != std::string::npos) {
      fail_encoding(table.source, fmt::format("the name of column {},", c + 1), column.name, at);
    }
    for (std::size_t k = 0; k < column.levels.size(); ++k) {
      const std::size_t at = first_odd_byte(column.levels[k]);
      if (at == std::string::npos) continue;
      const auto code = static_cast<std::int32_t>(k);
      const auto row = std::find(column.codes.begin(), column.codes.end(), code);
      const bool used = row != column.codes.end();
      const auto number = static_cast<std::size_t>(row - column.codes.begin());
      fail_encoding(used ? table.where(number, column) : table.source,
                    used ? "the value" : "the category", column.levels[k], at);
    }
  }
}

/// The reader of a file, by its name; null: that of delimited text.
const Format* format_of(const std::string& path) {
  std::string name = to_lower(path);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto* const format = std::find_if(
      formats.begin(), formats.end(), [&](const Format& f) { return name.ends_with(f.extension); });
  return format != formats.end() ? format : nullptr;
}

Table read_source(ByteSource& source, const Format* format, const ReadOptions& options) {
  if (format == nullptr || !format->binary) refuse_foreign(source, format == nullptr);
  Table table = format != nullptr ? format->read(source, options) : read_csv(source, options);
  check_text(table);
  return table;
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& options) {
  const Format* const format = format_of(path);
  ByteSource source(path, options.encoding, format == nullptr || !format->binary);
  return read_source(source, format, options);
}

std::string format_names() {
  std::vector<std::string_view> names = {"CSV (.gz)"};
  for (const Format& f : formats) names.push_back(f.name);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return listed(names);
}

struct TableBlocks::State {
  State(const std::string& path, Encoding encoding, std::size_t block_bytes)
      : format(format_of(path)), source(path, encoding, text()), bytes(block_bytes) {}
  [[nodiscard]] bool text() const { return format == nullptr || !format->binary; }

  const Format* format;
  ByteSource source;
  std::size_t bytes;
  ReadOptions options;
  std::unique_ptr<BlockReader> reader;  ///< of the formats that have one
  bool done = false;                    ///< the one block of the others is
};

TableBlocks::TableBlocks(const std::string& path, const ReadOptions& options, std::size_t bytes)
    : state_(std::make_unique<State>(path, options.encoding, bytes)) {
  if (state_->text()) refuse_foreign(state_->source, state_->format == nullptr);
  restart(options);
}

TableBlocks::~TableBlocks() = default;

void TableBlocks::restart(const ReadOptions& options) {
  State& s = *state_;
  s.source.rewind();
  s.options = options;
  s.done = false;
  if (s.format == nullptr) {
    s.reader = csv_blocks(s.source, options, s.bytes);
  } else if (s.format->blocks != nullptr) {
    s.reader = s.format->blocks(s.source, options, s.bytes);
  }
}

void TableBlocks::resize(std::size_t bytes) { state_->bytes = bytes; }

std::optional<Table> TableBlocks::next() {
  State& s = *state_;
  std::optional<Table> block;
  if (s.reader) {
    block = s.reader->next();
  } else if (!s.done) {
    block = s.format->read(s.source, s.options);
    s.done = true;
  }
  if (block) check_text(*block);
  return block;
}

Table read_bytes(const std::string& name, std::string bytes, const ReadOptions& options) {
  const Format* const format = format_of(name);
  const bool text = format == nullptr || !format->binary;
  ByteSource source(name, std::move(bytes), text ? options.encoding : Encoding::utf8);
  return read_source(source, format, options);
}

}  // namespace covshift
