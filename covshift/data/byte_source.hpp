// The bytes of a file, unpacked if it is a gzip file and in UTF-8, in pieces of the caller's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "covshift/data/encoding.hpp"

namespace covshift {

class ByteSource {
 public:
  /// "-" is standard input. `text`: the encoding is that of `encoding`; otherwise bytes are read as
  /// they are. Throws Error (kind file) if the path is missing, a directory or unreadable.
  explicit ByteSource(const std::string& path, Encoding encoding = Encoding::detect,
                      bool text = true);
  /// Text that is already in memory, for example that of a file a browser has read.
  ByteSource(std::string name, std::string bytes, Encoding encoding);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Appends up to `count` bytes to `out`; fewer only at the end of the file.
  /// Returns the number appended.
  std::size_t read(std::string& out, std::size_t count);
  /// Back to the first byte. Works for pipes too: they are kept in memory.
  void rewind();
  /// True if any part of the text can be read alone: a plain file.
  [[nodiscard]] bool divisible() const;
  /// Reads on from byte `begin` and no further than `end`, until rewind(). Only if divisible().
  void select(std::uint64_t begin, std::uint64_t end);
  /// The size of the text if known in advance (a plain file), else 0.
  [[nodiscard]] std::uint64_t plain_size() const;
  /// For messages: the path, or "stdin".
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void open(const std::string& path);
  void begin(const std::string& head);
  void decode(Encoding encoding);
  struct State;
  std::string path_;
  std::unique_ptr<State> state_;
};

}  // namespace covshift
