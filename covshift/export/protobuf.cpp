#include "covshift/export/protobuf.hpp"

namespace covshift {
namespace {

enum Wire : std::uint32_t { varint_value = 0, with_length = 2 };

std::uint64_t key(std::uint32_t field, Wire wire) { return field << 3U | wire; }

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
  bytes_ += static_cast<char>(value);
}

Message& Message::number(std::uint32_t field, std::uint64_t value) {
  varint(key(field, varint_value));
  varint(value);
  return *this;
}

Message& Message::text(std::uint32_t field, std::string_view bytes) {
  varint(key(field, with_length));
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

}  // namespace covshift
