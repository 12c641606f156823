// Files that only this process sees.
#pragma once

#include <cstddef>
#include <string>

namespace covshift {

/// A file without a name in a folder: the system removes it with the process, also if that is
/// killed. Errors (file) name the folder and a remedy.
class ScratchFile {
 public:
  /// `folder` empty: default_folder().
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void append(const void* bytes, std::size_t count);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Makes room for `count` bytes on the disk, so that writing to a mapping cannot fail.
  void reserve(std::size_t count);
  /// All of it in memory, for reading and writing; the caller unmaps it (munmap). Null if empty.
  [[nodiscard]] void* map() const;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// TMPDIR; without it /tmp, or /var/tmp if /tmp is in memory.
  static std::string default_folder();

 private:
  [[noreturn]] void fail(const std::string& what, int code) const;
  std::string folder_;
  int file_ = -1;
  std::size_t size_ = 0;
};

}  // namespace covshift
