// Parts of one delimited text file, for several holders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/data/read_table.hpp"

namespace covshift {

/// Some whole records of a file.
struct CsvRange {
  std::uint64_t begin = 0;  ///< bytes; begin == end: no records
  std::uint64_t end = 0;
  std::size_t first_line = 1;  ///< of `begin`
};

/// This holder's part of a plain text file: about as many bytes as the others'. A line end ends a
/// record only outside quotes, which no byte in the middle of a file can tell: every holder scans
/// its bytes once for every state in which they might begin, and together they know. Throws Error
/// if the file is packed, a pipe or in another encoding than UTF-8.
CsvRange csv_range(const std::string& path, const ReadOptions& options, const Reducer& reducer);
/// The same as several ranges that follow each other, of at most about `bytes` bytes.
std::vector<CsvRange> csv_ranges(const std::string& path, const ReadOptions& options,
                                 const Reducer& reducer, std::uint64_t bytes);

/// Whether a file is of that kind.
bool divisible(const std::string& path, const ReadOptions& options);

/// The rows of a part, with the names and line numbers of the file; a part without records gives a
/// table without rows.
Table read_csv_range(const std::string& path, const ReadOptions& options, const CsvRange& range);

}  // namespace covshift
