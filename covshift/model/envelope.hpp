// The envelope of model files: format, version, program, checksum, body.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace covshift {

struct FileFormat {
  std::string_view name;  ///< "covshift model"
  std::string_view what;  ///< "model", for messages
  int version;            ///< the newest
};

/// The text of a file.
std::string seal(const FileFormat& format, const nlohmann::json& body);
/// The body. Throws Error if the text is truncated, was changed, or has another format or a newer
/// version. `source` names it in messages.
nlohmann::json unseal(const FileFormat& format, const std::string& text, const std::string& source);

}  // namespace covshift
