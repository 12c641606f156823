// The reader of each file format, chosen by read_table.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/data/byte_source.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/records.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

/// As read_table, of a file in memory; its name says what it is, and stands in errors.
Table read_bytes(const std::string& name, std::string bytes, const ReadOptions& options);

Table read_csv(ByteSource& source, const ReadOptions& options);
/// The rows of a part of the file (null: of all).
Table read_csv(ByteSource& source, const ReadOptions& options, const struct CsvRange* range);
Table read_svmlight(ByteSource& source, const ReadOptions& options);
Table read_arff(ByteSource& source, const ReadOptions& options);
Table read_npy(ByteSource& source, const ReadOptions& options);

/// A file as a sequence of tables, each of about `bytes` bytes of it.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  /// Nothing at the end.
  virtual std::optional<Table> next() = 0;
};
std::unique_ptr<BlockReader> csv_blocks(ByteSource& source, const ReadOptions& options,
                                        std::size_t bytes);
std::unique_ptr<BlockReader> npy_blocks(ByteSource& source, const ReadOptions& options,
                                        std::size_t bytes);

/// Formats by file extension (before .gz); everything else is delimited text.
struct Format {
  std::string_view name, extension;
  Table (*read)(ByteSource& source, const ReadOptions& options);
  bool binary = false;
  /// Null: the whole file is one block.
  std::unique_ptr<BlockReader> (*blocks)(ByteSource& source, const ReadOptions& options,
                                         std::size_t bytes) = nullptr;
};
inline constexpr auto formats =
    std::to_array<Format>({{"svmlight", ".svm", read_svmlight},
                           {"svmlight", ".svmlight", read_svmlight},
                           {"svmlight", ".libsvm", read_svmlight},
                           {"ARFF", ".arff", read_arff},
                           {"NPY", ".npy", read_npy, true, npy_blocks}});

std::string to_lower(std::string_view text);

/// What the readers of line-based formats share.
class LineReader {
 public:
  LineReader(ByteSource& source, const ReadOptions& options) : options_(options), source_(source) {
    table_.source = source.path();
  }

 protected:
  /// Calls parse(line) for every line; line_ is its number, from 1.
  template <typename Parse>
  void read_lines(const Parse& parse) {
    each_line(source_, options_.chunk_bytes, [&](std::string_view line) {
      ++line_;
      parse(line);
    });
  }
  [[nodiscard]] std::size_t source_size() const { return source_.plain_size(); }
  template <typename... Args>
  [[noreturn]] void fail(std::size_t field, fmt::format_string<Args...> text, Args&&... args) {
    fail_input("{}:{}:{}: {}", table_.source, line_, field,
               fmt::format(text, std::forward<Args>(args)...));
  }

  const ReadOptions& options_;
  Table table_;
  std::size_t line_ = 0;

 private:
  ByteSource& source_;
};

}  // namespace covshift
