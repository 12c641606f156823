// Cutting a text file into chunks that begin and end with whole records.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "covshift/data/byte_source.hpp"

namespace covshift {

/// How the fields of a record are set apart. In CSV a quoted field may hold line ends, so that
/// where a record ends depends on where its fields begin.
struct RecordSyntax {
  char delimiter = ',';  ///< ' ' stands for any run of spaces and tabs
  bool quotes = true;    ///< fields may be quoted with " and then hold line ends
};

[[nodiscard]] inline bool is_blank(char c, const RecordSyntax& syntax) {
  return c == ' ' || (c == '\t' && syntax.delimiter != '\t');
}

/// One past the last record end in `text`, which begins with a record; 0 if no record ends in it.
std::size_t last_record_end(std::string_view text, const RecordSyntax& syntax);

/// One past the first record end in `text`; 0 if no record ends in it.
std::size_t first_record_end(std::string_view text, const RecordSyntax& syntax);

/// f(line) for every line of a text file without its line end or a byte order mark.
void each_line(ByteSource& source, std::size_t chunk_bytes,
               const std::function<void(std::string_view)>& f);

/// Gives a source in chunks of whole records, so that chunks can be parsed independently.
class RecordChunker {
 public:
  /// `head` was read from the source already and comes first.
  RecordChunker(ByteSource& source, std::string head, RecordSyntax syntax, std::size_t chunk_bytes);

  /// The next chunk: about `chunk_bytes` long, longer if a record is, and always ending with a line
  /// end (added where the file ends without one). False at the end of the file.
  bool next(std::string& chunk);

 private:
  ByteSource* source_;
  std::string carry_;
  RecordSyntax syntax_;
  std::size_t chunk_bytes_;
  bool ended_ = false;
};

}  // namespace covshift
