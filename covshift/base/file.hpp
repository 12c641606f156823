// Files are written completely or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace covshift {

/// Writes to a temporary file beside `path`, syncs it to disk and renames it: readers of `path` see
/// the old content or the new one, never a part. Links (a dangling one gets its file) and
/// permissions are kept; pipes and devices are written to directly. Temporary files that killed
/// runs left in the folder are removed. Throws Error (file).
void write_whole(const std::string& path, std::string_view content);

/// Several files; none is put in place before all are on disk.
struct FileContent {
  std::string path;
  std::string content;
};
void write_whole(std::span<const FileContent> files);

/// Throws Error (file) where it is already certain that the path cannot be written: there is no
/// folder for it, the folder is not writable, or the path is a directory. Creates nothing.
void check_writable(const std::string& path);

/// True if both paths refer to the same existing file.
bool same_file(const std::string& one, const std::string& other);
/// The same for files that need not exist yet: true if writing to both would write to one file.
bool same_place(const std::string& one, const std::string& other);

/// Throws Error (file) if there is no such file, it is a directory or a link to itself.
void check_readable(const std::string& path);
/// The content of a file. Throws Error (file).
std::string read_whole(const std::string& path);

}  // namespace covshift
