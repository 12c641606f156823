// Files larger than memory: what is learned from them, and their rows as numbers, a block at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "covshift/data/preparation.hpp"
#include "covshift/data/table_blocks.hpp"

namespace covshift {

/// How much memory data may take, and where the rest is kept.
struct MemoryOptions {
  std::size_t bytes = 0;  ///< 0: whole files are read
  std::string folder;     ///< empty: ScratchFile::default_folder()

  [[nodiscard]] bool limited() const { return bytes > 0; }
  /// Of a file at a time: rows take several times their text while they are read.
  [[nodiscard]] std::size_t block() const;
  /// "512M" or "2G". Throws Error.
  static std::size_t parse(const std::string& text);
};
/// "2.7 GB".
std::string size_text(double bytes);

/// The columns of all blocks. Columns that turn out to be text late are added to read.text_columns,
/// and the file is read once more; `passes` counts. Notes of the reader go to `notes`.
struct Learned {
  Summary summary;
  std::size_t passes = 0;
  std::vector<std::string> notes;
};
Learned learn_columns(TableBlocks& blocks, ReadOptions& read, const PreparationOptions& options);

/// Adds the rows of a block that was encoded alike.
void append_rows(PreparedRows& all, PreparedRows block);

/// The rows of all blocks, not yet scaled. They are a LargeVector, so keep_large_vectors_in() says
/// where they are. `expected`: the number of rows, if it is known; `training`: with labels.
PreparedRows encode_blocks(TableBlocks& blocks, const Preparation& preparation, bool training,
                           std::size_t expected, int threads);

/// Sums of the bits of large rows, by block: what was written to a disk must come back.
class Checksums {
 public:
  explicit Checksums(const PreparedRows& rows, int threads);
  /// Throws Error (file) if the rows have changed.
  void verify(const PreparedRows& rows, int threads) const;

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace covshift
