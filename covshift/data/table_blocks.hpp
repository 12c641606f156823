// Data files that are larger than memory, as a sequence of tables.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "covshift/data/read_table.hpp"

namespace covshift {

/// Reads delimited text and NPY a block of rows at a time, with the decisions of read_table:
/// header, delimiter and encoding are those of the file's beginning, and errors name its lines. A
/// column of which a later block holds text is text from then on (Summary::mixed tells). Other
/// formats are one block.
class TableBlocks {
 public:
  /// `bytes`: about so much of the file at a time.
  TableBlocks(const std::string& path, const ReadOptions& options, std::size_t bytes);
  ~TableBlocks();
  TableBlocks(const TableBlocks&) = delete;
  TableBlocks& operator=(const TableBlocks&) = delete;

  /// The next rows; nothing at the end. Throws Error if there are none at all.
  std::optional<Table> next();
  /// From the first row again, perhaps with other columns as text.
  void restart(const ReadOptions& options);
  /// From now on about so much at a time; counts from the next restart().
  void resize(std::size_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace covshift
