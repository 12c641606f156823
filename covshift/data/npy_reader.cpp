// NPY, the array format of NumPy: versions 1 to 3, one or two dimensions, plain numbers.
// Columns are named c1, c2, ...
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {

namespace {

struct NpyHeader {
  char kind = 'f';
  std::size_t item_bytes = 8;
  bool swap = false;
  bool fortran = false;
  std::size_t rows = 0;
  std::size_t cols = 1;
};

class HeaderText {
 public:
  HeaderText(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  /// What follows 'key': in the header, which is a Python dictionary.
  [[nodiscard]] std::string_view after(std::string_view key) const {
    const std::string quoted = fmt::format("'{}'", key);
    const std::size_t at = text_.find(quoted);
    if (at == std::string_view::npos) damaged();
    std::string_view rest = text_.substr(at + quoted.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
    return rest;
  }
  [[noreturn]] void damaged() const {
    fail_input("{}: the header of the NPY file is damaged; save the array again with numpy.save",
               path_);
  }

 private:
  const std::string& path_;
  std::string_view text_;
};

void parse_dtype(const std::string& path, std::string_view rest, NpyHeader& header,
                 const HeaderText& text) {
  const std::string_view remedy = "save it as float64 (array.astype('float64'))";
  if (!rest.starts_with('\'')) {
    fail_input("{}: the array holds records; {}", path, remedy);
  }
  const std::size_t close = rest.find('\'', 1);
  if (close == std::string_view::npos) text.damaged();
  const std::string_view dtype = rest.substr(1, close - 1);
  constexpr std::string_view supported = "f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1";
  const std::size_t at = dtype.size() == 3 ? supported.find(dtype.substr(1)) : dtype.npos;
  if (at == dtype.npos || at % 3 != 0) {
    fail_input("{}: arrays of type {} are not supported; {}", path, quoted_excerpt(dtype), remedy);
  }
  header.kind = dtype[1];
  header.item_bytes = static_cast<std::size_t>(dtype[2] - '0');
  const bool big = dtype[0] == '>';
  header.swap = header.item_bytes > 1 && big != (std::endian::native == std::endian::big);
}

void parse_shape(const std::string& path, std::string_view rest, NpyHeader& header,
                 const HeaderText& text) {
  const std::size_t close = rest.find(')');
  if (!rest.starts_with('(') || close == std::string_view::npos) text.damaged();
  std::string_view inner = rest.substr(1, close - 1);
  std::vector<std::size_t> shape;
  while (!trim(inner).empty()) {
    const std::size_t comma = std::min(inner.find(','), inner.size());
    const auto extent = parse_count(trim(inner.substr(0, comma)));
    if (!extent) text.damaged();
    shape.push_back(*extent);
    inner.remove_prefix(std::min(comma + 1, inner.size()));
  }
  if (shape.empty() || shape.size() > 2) {
    fail_input("{}: the array has {} dimensions; it must have rows and columns", path,
               shape.size());
  }
  header.rows = shape[0];
  header.cols = shape.size() == 2 ? shape[1] : 1;
}

[[noreturn]] void fail_cut_off(const std::string& path) {
  fail_input("{}: the NPY file is truncated; save the array again", path);
}

std::string read_exactly(ByteSource& source, std::size_t count) {
  std::string bytes;
  if (source.read(bytes, count) < count) fail_cut_off(source.path());
  return bytes;
}

NpyHeader read_header(ByteSource& source) {
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t longest_header = std::size_t{1} << 20U;
  const std::string& path = source.path();
  std::string start;
  source.read(start, magic.size() + 2);
  if (start.empty()) fail_input("{}: the file is empty", path);
  if (!start.starts_with(magic) || start.size() < magic.size() + 2) {
    fail_input("{}: this is not an NPY file; write it with numpy.save", path);
  }
  const auto version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3) {
    fail_input("{}: NPY version {} is not supported (1 to 3 are); save the array again", path,
               version);
  }
  const std::string size_bytes = read_exactly(source, version == 1 ? 2 : 4);
  std::size_t size = 0;
  for (std::size_t k = size_bytes.size(); k-- > 0;) {
    size = 256 * size + static_cast<unsigned char>(size_bytes[k]);
  }
  const HeaderText problem(path, {});
  if (size > longest_header) problem.damaged();
  const std::string dictionary = read_exactly(source, size);
  const HeaderText text(path, dictionary);
  NpyHeader header;
  parse_dtype(path, text.after("descr"), header, text);
  parse_shape(path, text.after("shape"), header, text);
  const std::string_view order = text.after("fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False")) text.damaged();
  header.fortran = order.starts_with("True");
  if (header.rows == 0 || header.cols == 0) {
    fail_input("{}: the array is empty ({} x {}); it needs at least one row of data", path,
               header.rows, header.cols);
  }
  return header;
}

template <typename T>
double load(const char* from, bool swap) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return static_cast<double>(std::bit_cast<T>(bytes));
}

using Load = double (*)(const char*, bool);

Load loader(const NpyHeader& header) {
  if (header.kind == 'f') return header.item_bytes == 4 ? load<float> : load<double>;
  const bool is_signed = header.kind == 'i';
  switch (header.item_bytes) {
    case 1:
      return is_signed ? load<std::int8_t> : load<std::uint8_t>;
    case 2:
      return is_signed ? load<std::int16_t> : load<std::uint16_t>;
    case 4:
      return is_signed ? load<std::int32_t> : load<std::uint32_t>;
    default:
      return is_signed ? load<std::int64_t> : load<std::uint64_t>;
  }
}

NpyHeader checked_header(ByteSource& source) {
  const NpyHeader header = read_header(source);
  constexpr std::size_t most_columns = 10'000'000;
  // A damaged shape must not allocate more memory than the file can fill.
  if (header.cols > most_columns || header.rows > SIZE_MAX / sizeof(double) / header.cols) {
    HeaderText(source.path(), {}).damaged();
  }
  const std::size_t items = header.rows * header.cols;
  if (source.plain_size() != 0 && items > source.plain_size()) fail_cut_off(source.path());
  return header;
}

/// The next `rows` rows.
Table read_rows(ByteSource& source, const NpyHeader& header, std::size_t rows) {
  constexpr std::size_t block_items = std::size_t{1} << 18U;
  const std::size_t items = rows * header.cols;
  Table table;
  table.source = source.path();
  table.rows = rows;
  const Load item = loader(header);
  for (std::size_t done = 0; done < items;) {
    const std::size_t count = std::min(block_items, items - done);
    const std::string bytes = read_exactly(source, count * header.item_bytes);
    for (std::size_t k = 0; k < count; ++k, ++done) {
      const std::size_t c = header.fortran ? done / header.rows : done % header.cols;
      // A short packed file may claim many columns: they are made as their data come.
      if (c == table.columns.size()) table.columns.emplace_back();
      table.columns[c].numbers.push_back(item(bytes.data() + k * header.item_bytes, header.swap));
    }
  }
  for (std::size_t c = 0; c < header.cols; ++c) table.columns[c].name = fmt::format("c{}", c + 1);
  return table;
}

void check_end(ByteSource& source) {
  std::string more;
  if (source.read(more, 1) == 0) return;
  fail_input("{}: more follows the array; save one array in a file, with numpy.save",
             source.path());
}

class NpyBlocks final : public BlockReader {
 public:
  NpyBlocks(ByteSource& source, std::size_t bytes)
      : source_(source),
        header_(checked_header(source)),
        rows_(std::max<std::size_t>(1, bytes / header_.item_bytes / header_.cols)) {
    if (header_.fortran && header_.cols > 1) {
      fail_input(
          "{}: the array is stored by columns (Fortran order), which cannot be read a block of "
          "rows at a time; save it by rows: numpy.save(file, numpy.ascontiguousarray(array))",
          source.path());
    }
  }
  std::optional<Table> next() override {
    const std::size_t count = std::min(rows_, header_.rows - done_);
    if (count == 0) {
      check_end(source_);
      return std::nullopt;
    }
    Table table = read_rows(source_, header_, count);
    table.lines.note(0, done_ + 1);
    done_ += count;
    return table;
  }

 private:
  ByteSource& source_;
  NpyHeader header_;
  std::size_t rows_;
  std::size_t done_ = 0;
};

}  // namespace

Table read_npy(ByteSource& source, const ReadOptions& /*options*/) {
  const NpyHeader header = checked_header(source);
  Table table = read_rows(source, header, header.rows);
  check_end(source);
  return table;
}

std::unique_ptr<BlockReader> npy_blocks(ByteSource& source, const ReadOptions& /*options*/,
                                        std::size_t bytes) {
  return std::make_unique<NpyBlocks>(source, bytes);
}

}  // namespace covshift
