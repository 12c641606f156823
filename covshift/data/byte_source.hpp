// The bytes of a file, unpacked when it is a gzip file, in pieces of the caller's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace covshift {

class ByteSource {
 public:
  /// Throws Error (kind file) when the path is missing, a directory or unreadable.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Appends up to `count` bytes to `out`; fewer only at the end of the file.
  /// Returns the number appended.
  std::size_t read(std::string& out, std::size_t count);
  /// Back to the first byte. Pipes are kept in memory, so that this works for every file.
  void rewind();
  /// The size of the text, when it is known beforehand (a plain file), else 0.
  [[nodiscard]] std::uint64_t plain_size() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct State;
  std::string path_;
  std::unique_ptr<State> state_;
};

}  // namespace covshift
