// The envelope of every file that covshift writes: format, version, program, checksum, body.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace covshift {

struct FileFormat {
  std::string_view name;  ///< "covshift model"
  std::string_view what;  ///< "model", for messages
  int version;            ///< the newest there is
};

/// The text of a file.
std::string seal(const FileFormat& format, const nlohmann::json& body);
/// Its body; an Error for a text that is truncated, was changed, or is of another format or of a
/// newer version. `source` says where it comes from.
nlohmann::json unseal(const FileFormat& format, const std::string& text, const std::string& source);

}  // namespace covshift
