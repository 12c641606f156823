// Splits a text file into chunks of whole records.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "covshift/data/byte_source.hpp"

namespace covshift {

/// How the fields of a record are separated. A quoted CSV field may contain line ends, so the end
/// of a record depends on where its fields start.
struct RecordSyntax {
  char delimiter = ',';  ///< ' ' stands for any run of spaces and tabs
  bool quotes = true;    ///< fields quoted with " may contain line ends
};

[[nodiscard]] inline bool is_blank(char c, const RecordSyntax& syntax) {
  return c == ' ' || (c == '\t' && syntax.delimiter != '\t');
}

/// One past the last record end in `text`, which begins with a record; 0 if no record ends in it.
std::size_t last_record_end(std::string_view text, const RecordSyntax& syntax);

/// One past the first record end in `text`; 0 if no record ends in it.
std::size_t first_record_end(std::string_view text, const RecordSyntax& syntax);

/// Calls f(line) for every line of a text file, without line ends or byte order mark.
void each_line(ByteSource& source, std::size_t chunk_bytes,
               const std::function<void(std::string_view)>& f);

/// Splits a source into chunks of whole records, which can be parsed independently.
class RecordChunker {
 public:
  /// `head` has already been read from the source and comes first.
  RecordChunker(ByteSource& source, std::string head, RecordSyntax syntax, std::size_t chunk_bytes);

  /// The next chunk: about `chunk_bytes` long, or one longer record, always ending with a line end
  /// (added if the file ends without one). False at the end of the file.
  bool next(std::string& chunk);

 private:
  ByteSource* source_;
  std::string carry_;
  RecordSyntax syntax_;
  std::size_t chunk_bytes_;
  bool ended_ = false;
};

}  // namespace covshift
