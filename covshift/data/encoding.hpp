// Character encodings of text files; inside, all text is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "covshift/base/names.hpp"

namespace covshift {

enum class Encoding {
  detect,  ///< UTF-16 if the file starts with its mark, else UTF-8
  utf8,
  latin1,
  windows1252,
  utf16,  ///< of the mark's byte order; without a mark that in which lines end
};
template <>
inline constexpr auto names<Encoding> =
    std::to_array<Named<Encoding>>({{Encoding::detect, "auto"},
                                    {Encoding::utf8, "utf-8"},
                                    {Encoding::latin1, "latin1"},
                                    {Encoding::windows1252, "windows-1252"},
                                    {Encoding::utf16, "utf-16"}});

/// True if the file starts with the mark of UTF-16.
bool has_utf16_mark(std::string_view bytes);
/// The text in UTF-8. Throws Error, naming `path`, if the bytes are not text in this encoding.
std::string to_utf8(std::string_view bytes, Encoding from, const std::string& path);
/// The place of the first byte that is not UTF-8; npos if there is none.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace covshift
