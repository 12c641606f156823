// Delimited text. The file is read in chunks; the chunks of a batch are parsed in parallel and then
// appended to the columns in order, so the table does not depend on the number of threads or the
// chunk size.
//
// All columns are first assumed numeric. If the first batch has a string in a column, the column
// becomes categorical and the batch is parsed again. If a string appears later, the whole file is
// read again, because the spelling of the earlier numbers (007) is lost.
#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/csv_chunk.hpp"
#include "covshift/data/csv_layout.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {

namespace {

/// Builds columns from parsed chunks.
class ColumnBuilder {
 public:
  ColumnBuilder(const CsvLayout& layout, const std::vector<char>& is_text)
      : columns_(layout.names.size()), dictionaries_(columns_.size()) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].name = layout.names[c];
      columns_[c].categorical = is_text[c] != 0;
    }
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }

  void reserve(std::size_t rows) {
    for (Column& column : columns_) {
      column.categorical ? column.codes.reserve(rows) : column.numbers.reserve(rows);
    }
  }

  void append(const CsvChunk& chunk, std::size_t first_line, int threads) {
    for (const LineMap::Break& b : chunk.line_map.breaks()) {
      lines_.note(rows_ + b.row, first_line + b.line);
    }
    const std::size_t width = columns_.size();
    std::vector<std::vector<std::int32_t>> translations(width);
    for (std::size_t c = 0; c < width; ++c) {
      Column& column = columns_[c];
      if (!column.categorical) {
        column.numbers.resize(rows_ + chunk.rows);
        continue;
      }
      column.codes.resize(rows_ + chunk.rows);
      for (const std::string& level : chunk.levels[c].levels()) {
        translations[c].push_back(dictionaries_[c].code(level));
      }
    }
    // Each thread fills its own columns, in tiles of rows that stay in the cache.
    constexpr std::size_t tile = 32;
    constexpr std::size_t worth_threads = std::size_t{1} << 16U;
    const std::size_t groups =
        chunk.rows * width < worth_threads
            ? 1
            : std::min(static_cast<std::size_t>(thread_count(threads)), width);
    parallel_tasks(threads, groups, [&](std::size_t group) {
      const std::size_t first = group * width / groups;
      const std::size_t last = (group + 1) * width / groups;
      for (std::size_t begin = 0; begin < chunk.rows; begin += tile) {
        const std::size_t end = std::min(begin + tile, chunk.rows);
        for (std::size_t c = first; c < last; ++c) {
          copy_cells(chunk.cells.data() + c, width, begin, end, columns_[c], translations[c]);
        }
      }
    });
    rows_ += chunk.rows;
  }

  Table take(const std::string& path) {
    Table table;
    table.source = path;
    table.rows = rows_;
    table.lines = std::move(lines_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].levels = dictionaries_[c].take_levels();
    }
    table.columns = std::move(columns_);
    return table;
  }

 private:
  void copy_cells(const double* cells, std::size_t width, std::size_t begin, std::size_t end,
                  Column& column, const std::vector<std::int32_t>& translation) const {
    if (!column.categorical) {
      double* const to = column.numbers.data() + rows_;
      for (std::size_t r = begin; r < end; ++r) to[r] = cells[r * width];
      return;
    }
    std::int32_t* const to = column.codes.data() + rows_;
    for (std::size_t r = begin; r < end; ++r) {
      const double code = cells[r * width];
      to[r] = code == code ? translation[static_cast<std::size_t>(code)] : -1;
    }
  }

  std::vector<Column> columns_;
  std::vector<Dictionary> dictionaries_;
  LineMap lines_;
  std::size_t rows_ = 0;
};

class CsvReader {
 public:
  CsvReader(ByteSource& source, const ReadOptions& options) : source_(source), options_(options) {}

  Table read() {
    std::string head;
    layout_ = detect_csv_layout(source_, options_, head);
    is_text_.assign(layout_.names.size(), 0);
    const std::unordered_set<std::string_view> text_columns(options_.text_columns.begin(),
                                                            options_.text_columns.end());
    for (std::size_t c = 0; c < is_text_.size(); ++c) {
      is_text_[c] = static_cast<char>(text_columns.contains(layout_.names[c]));
    }
    ColumnBuilder columns(layout_, is_text_);
    if (!read_rows(head.substr(layout_.data_offset), columns)) {
      source_.rewind();
      head.clear();
      source_.read(head, layout_.data_offset);
      columns = ColumnBuilder(layout_, is_text_);
      read_rows({}, columns);
    }
    if (columns.rows() == 0) {
      fail_input(
          "{}:{}: there are no rows of data after the header; add rows, or say that there is "
          "no header",
          source_.path(), layout_.first_data_line);
    }
    Table table = columns.take(source_.path());
    if (!layout_.note.empty()) table.notes.push_back(layout_.note);
    return table;
  }

 private:
  /// False if a column turned out to be text after some of its rows were stored as numbers.
  bool read_rows(std::string head, ColumnBuilder& columns) {
    RecordChunker chunker(source_, std::move(head), layout_.syntax, options_.chunk_bytes);
    const auto batch = static_cast<std::size_t>(thread_count(options_.threads));
    std::vector<std::string> texts(batch);
    std::vector<CsvChunk> chunks(batch);
    std::size_t line = layout_.first_data_line;
    bool numbers_hold = true;
    bool first_batch = true;
    while (true) {
      std::size_t count = 0;
      while (count < batch && chunker.next(texts[count])) ++count;
      if (count == 0) break;
      parse(texts, chunks, count);
      if (found_text(chunks, count)) {
        if (first_batch) {
          columns = ColumnBuilder(layout_, is_text_);
          parse(texts, chunks, count);
        } else {
          numbers_hold = false;
          columns = ColumnBuilder(layout_, is_text_);  // frees the memory
        }
      }
      if (first_batch) reserve(columns, texts, chunks, count);
      first_batch = false;
      for (std::size_t k = 0; k < count; ++k) {
        const CsvChunk& chunk = chunks[k];
        if (chunk.problem) {
          fail_input("{}:{}:{}: {}", source_.path(), line + chunk.problem->line,
                     chunk.problem->field, chunk.problem->message);
        }
        if (numbers_hold) columns.append(chunk, line, options_.threads);
        line += chunk.lines;
      }
    }
    return numbers_hold;
  }

  void parse(const std::vector<std::string>& texts, std::vector<CsvChunk>& chunks,
             std::size_t count) {
    parallel_tasks(options_.threads, count, [&](std::size_t k) {
      parse_csv_chunk(texts[k], layout_.syntax, is_text_, chunks[k]);
    });
  }

  /// Marks the columns that hold text although they were assumed numeric.
  bool found_text(const std::vector<CsvChunk>& chunks, std::size_t count) {
    bool found = false;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t c = 0; c < is_text_.size(); ++c) {
        if (chunks[k].not_numeric[c] == 0) continue;
        is_text_[c] = 1;
        found = true;
      }
    }
    return found;
  }

  /// Estimates the number of rows from the first batch, because growing a vector by doubling copies
  /// it and needs twice the memory. Reserved memory that is never touched costs nothing.
  void reserve(ColumnBuilder& columns, const std::vector<std::string>& texts,
               const std::vector<CsvChunk>& chunks, std::size_t count) const {
    double bytes = 0.0;
    double rows = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      bytes += static_cast<double>(texts[k].size());
      rows += static_cast<double>(chunks[k].rows);
    }
    const double estimate = rows * static_cast<double>(source_.plain_size()) / bytes;
    columns.reserve(static_cast<std::size_t>(1.05 * estimate));
  }

  ByteSource& source_;
  const ReadOptions& options_;
  CsvLayout layout_;
  std::vector<char> is_text_;
};

}  // namespace

Table read_csv(ByteSource& source, const ReadOptions& options) {
  return CsvReader(source, options).read();
}

}  // namespace covshift
