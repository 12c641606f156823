// Files written whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace covshift {

/// Writes to a temporary file beside `path`, makes sure it is on the disk and renames it: whoever
/// reads `path` sees the old content or the new one, never a part. A link stays a link, a file
/// keeps its permissions, a pipe or device is written to. Throws Error (file).
void write_whole(const std::string& path, std::string_view content);

/// Several files, of which none is put in place before all are on the disk.
struct FileContent {
  std::string path;
  std::string content;
};
void write_whole(std::span<const FileContent> files);

/// True if both names lead to the same existing file.
bool same_file(const std::string& one, const std::string& other);

/// The content of a file. Throws Error (file).
std::string read_whole(const std::string& path);

}  // namespace covshift
