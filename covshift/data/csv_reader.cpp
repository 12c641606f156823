// Delimited text. The file is read in chunks; the chunks of a batch are parsed in parallel and then
// appended to the columns in order, so the table does not depend on the number of threads or the
// chunk size.
//
// All columns are first assumed numeric. If the first batch has a string in a column, the column
// becomes categorical and the batch is parsed again. If a string appears later, the whole file is
// read again, because the spelling of the earlier numbers (007) is lost.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/csv_chunk.hpp"
#include "covshift/data/csv_layout.hpp"
#include "covshift/data/csv_range.hpp"
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

class CsvRows {
 public:
  CsvRows(ByteSource& source, const ReadOptions& options, std::size_t chunk_bytes,
          const CsvRange* range)
      : source_(source), options_(options), chunk_bytes_(chunk_bytes), range_(range) {
    layout_ = detect_csv_layout(source_, options_, head_);
    is_text_.assign(layout_.names.size(), 0);
    const std::unordered_set<std::string_view> text_columns(options_.text_columns.begin(),
                                                            options_.text_columns.end());
    for (std::size_t c = 0; c < is_text_.size(); ++c) {
      is_text_[c] = static_cast<char>(text_columns.contains(layout_.names[c]));
    }
    const auto batch = static_cast<std::size_t>(thread_count(options_.threads));
    texts_.resize(batch);
    chunks_.resize(batch);
    restart();
  }

  /// All rows, or those of the range.
  Table read() {
    ColumnBuilder columns(layout_, is_text_);
    if (!read_rows(columns)) {
      restart();
      columns = ColumnBuilder(layout_, is_text_);
      read_rows(columns);
    }
    if (range_ == nullptr) check_any(columns.rows());
    return table_of(columns);
  }

  /// The rows of the next batch; nothing at the end.
  std::optional<Table> next() {
    while (next_batch()) {
      ColumnBuilder columns(layout_, is_text_);
      append(columns);
      if (columns.rows() > 0) {
        any_ = true;
        return table_of(columns);
      }
    }
    check_any(any_ ? 1 : 0);
    return std::nullopt;
  }

 private:
  /// Back to the first row.
  void restart() {
    std::string head;
    line_ = layout_.first_data_line;
    if (range_ != nullptr) {
      source_.select(range_->begin, range_->end);
      line_ = range_->first_line;
    } else if (head_.empty()) {
      source_.rewind();
      source_.read(head, layout_.data_offset);
      head.clear();
    } else {
      head = head_.substr(layout_.data_offset);
    }
    head_.clear();
    chunker_.emplace(source_, std::move(head), layout_.syntax, chunk_bytes_);
  }

  void check_any(std::size_t rows) const {
    if (rows > 0) return;
    fail_input(
        "{}:{}: there are no rows of data after the header; add rows, or say --header no if the "
        "first line is data",
        source_.path(), layout_.first_data_line);
  }

  Table table_of(ColumnBuilder& columns) {
    Table table = columns.take(source_.path());
    if (!layout_.note.empty() && !noted_) table.notes.push_back(layout_.note);
    noted_ = true;
    return table;
  }

  /// Reads and parses; false at the end. A column that turns out to be text is parsed again as
  /// text.
  bool next_batch() {
    count_ = 0;
    while (count_ < texts_.size() && chunker_->next(texts_[count_])) ++count_;
    if (count_ == 0) return false;
    parse();
    found_text_ = mark_text();
    if (found_text_) parse();
    return true;
  }

  void append(ColumnBuilder& columns) {
    for (std::size_t k = 0; k < count_; ++k) {
      const CsvChunk& chunk = chunks_[k];
      if (chunk.problem) {
        // A byte of zero in that line explains it.
        refuse_zero(source_.path(), line_ + chunk.problem->line,
                    line_at(texts_[k], chunk.problem->line));
        fail_input("{}:{}:{}: {}", source_.path(), line_ + chunk.problem->line,
                   chunk.problem->field, chunk.problem->message);
      }
      columns.append(chunk, line_, options_.threads);
      line_ += chunk.lines;
    }
  }

  /// False if a column turned out to be text after some of its rows were stored as numbers.
  bool read_rows(ColumnBuilder& columns) {
    bool numbers_hold = true;
    for (bool first = true; next_batch(); first = false) {
      if (found_text_) {
        numbers_hold = numbers_hold && first;
        columns = ColumnBuilder(layout_, is_text_);  // frees the memory
      }
      if (first) reserve(columns);
      append(columns);
      if (!numbers_hold) columns = ColumnBuilder(layout_, is_text_);
    }
    return numbers_hold;
  }

  void parse() {
    parallel_tasks(options_.threads, count_, [&](std::size_t k) {
      parse_csv_chunk(texts_[k], layout_.syntax, is_text_, chunks_[k]);
    });
  }

  /// Marks the columns that hold text although they were assumed numeric.
  bool mark_text() {
    bool found = false;
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t c = 0; c < is_text_.size(); ++c) {
        if (chunks_[k].not_numeric[c] == 0) continue;
        is_text_[c] = 1;
        found = true;
      }
    }
    return found;
  }

  /// Estimates the number of rows from the first batch, because growing a vector by doubling copies
  /// it and needs twice the memory. Reserved memory that is never touched costs nothing.
  void reserve(ColumnBuilder& columns) const {
    double bytes = 0.0;
    double rows = 0.0;
    for (std::size_t k = 0; k < count_; ++k) {
      bytes += static_cast<double>(texts_[k].size());
      rows += static_cast<double>(chunks_[k].rows);
    }
    const auto all =
        static_cast<double>(range_ != nullptr ? range_->end - range_->begin : source_.plain_size());
    columns.reserve(static_cast<std::size_t>(1.05 * rows * all / bytes));
  }

  ByteSource& source_;
  const ReadOptions options_;
  const std::size_t chunk_bytes_;
  const CsvRange* range_;
  std::string head_;
  CsvLayout layout_;
  std::vector<char> is_text_;
  std::optional<RecordChunker> chunker_;
  std::size_t line_ = 1;
  std::vector<std::string> texts_;
  std::vector<CsvChunk> chunks_;
  std::size_t count_ = 0;  ///< of them
  bool found_text_ = false;
  bool any_ = false;
  bool noted_ = false;
};

class CsvBlocks final : public BlockReader {
 public:
  CsvBlocks(ByteSource& source, const ReadOptions& options, std::size_t bytes)
      : rows_(source, options, bytes / static_cast<std::size_t>(thread_count(options.threads)) + 1,
              nullptr) {}
  std::optional<Table> next() override { return rows_.next(); }

 private:
  CsvRows rows_;
};

}  // namespace

Table read_csv(ByteSource& source, const ReadOptions& options) {
  return read_csv(source, options, nullptr);
}

Table read_csv(ByteSource& source, const ReadOptions& options, const CsvRange* range) {
  return CsvRows(source, options, options.chunk_bytes, range).read();
}

std::unique_ptr<BlockReader> csv_blocks(ByteSource& source, const ReadOptions& options,
                                        std::size_t bytes) {
  return std::make_unique<CsvBlocks>(source, options, bytes);
}

}  // namespace covshift
