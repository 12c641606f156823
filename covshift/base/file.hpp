// Files written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace covshift {

/// Writes to a temporary file beside `path`, makes sure it is on the disk and renames it: whoever
/// reads `path` sees the old content or the new one, never a part. Throws Error (file).
void write_whole(const std::string& path, std::string_view content);

/// The content of a file. Throws Error (file).
std::string read_whole(const std::string& path);

}  // namespace covshift
