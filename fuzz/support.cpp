#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "fuzz/targets.hpp"

namespace covshift::fuzz {

namespace {
int memory_file() {
  static const int file = ::memfd_create("fuzz", 0);
  return file;
}
}  // namespace

const std::string& file_path() {
  static const std::string path = fmt::format("/proc/self/fd/{}", memory_file());
  return path;
}

const std::string& file_of(std::string_view bytes) {
  const int file = memory_file();
  const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, bytes.data(), bytes.size(), 0) ==
                                                        static_cast<ssize_t>(bytes.size());
  ensure(written, "no file in memory");
  return file_path();
}

double Numbers::number() {
  constexpr std::array<double, 16> odd = {0.0,    1.0,    -1.0,  1e3,    -1e3,  1e8,
                                          -1e8,   1e-8,   1e150, -1e150, 1e300, -1e300,
                                          1e-300, 5e-324, 1e30,  -1e30};
  const unsigned b = byte();
  if (b >= 240) return odd[b - 240];
  return (static_cast<double>(b) - 120.0) / 32.0;
}

}  // namespace covshift::fuzz
