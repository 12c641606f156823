// What must be known about a delimited text file before its rows are read: its delimiter and the
// names of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/data/read_table.hpp"
#include "covshift/data/records.hpp"

namespace covshift {

struct CsvField {
  std::string text;
  bool quoted = false;
};

struct CsvLayout {
  RecordSyntax syntax;
  std::vector<std::string> names;
  std::size_t data_offset = 0;      ///< the byte at which the first row starts
  std::size_t first_data_line = 1;  ///< its line
  std::string note;                 ///< what was assumed of the first line, if that is in doubt
};

/// The fields of the record at the start of `text`, which holds the whole record.
std::vector<CsvField> split_record(std::string_view text, const RecordSyntax& syntax);

/// Line `number` of a text, from 0, without its end.
std::string_view line_at(std::string_view text, std::size_t number);
/// Throws Error at a byte of zero; `line` is the number of the text's first line.
void refuse_zero(const std::string& path, std::size_t line, std::string_view text);

/// Reads ahead as far as needed; `head` receives what was read. Throws Error if there are no rows.
CsvLayout detect_csv_layout(ByteSource& source, const ReadOptions& options, std::string& head);

}  // namespace covshift
