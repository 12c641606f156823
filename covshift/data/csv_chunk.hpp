// Parses one chunk of whole records of a delimited text file, independently of all others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/data/records.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

/// An error at a line (from 0, within a chunk) and field (from 1).
struct CsvProblem {
  std::size_t line = 0;
  std::size_t field = 0;
  std::string message;
};

struct CsvChunk {
  std::size_t rows = 0;
  std::size_t lines = 0;
  /// Row-major: a number, or the code of a string in the column's dictionary; NaN where missing.
  std::vector<double> cells;
  std::vector<Dictionary> levels;  ///< for each column; empty for a numeric one
  std::vector<char> not_numeric;   ///< for each column: assumed numeric but holds a string
  LineMap line_map;                ///< rows and lines of this chunk, from 0
  std::optional<CsvProblem> problem;
};

/// `text` ends with a line end; `is_text` says for each column whether it holds text.
/// Parsing stops at the first problem.
void parse_csv_chunk(std::string_view text, const RecordSyntax& syntax,
                     const std::vector<char>& is_text, CsvChunk& out);

}  // namespace covshift
