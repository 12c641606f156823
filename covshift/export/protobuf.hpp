// Protocol buffers as they are on the wire: what a file needs, and no library for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace covshift {

/// A message: its fields in the order of the calls, each a key (number of the field and kind of
/// value) and the value. Numbers have seven bits to a byte, the least significant first; texts,
/// bytes and messages have their length before them.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value);
  Message& text(std::uint32_t field, std::string_view bytes);
  Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes_); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);

  std::string bytes_;
};

}  // namespace covshift
