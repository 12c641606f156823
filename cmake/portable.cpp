// What archives linked into a portable file need (portable.cmake).
#define FMT_HEADER_ONLY  // compiled with -fkeep-inline-functions, this defines all of fmt

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>

extern "C" {

FILE *covshift_stdin, *covshift_stdout, *covshift_stderr;

__attribute__((constructor)) static void set_streams() {
  covshift_stdin = stdin;
  covshift_stdout = stdout;
  covshift_stderr = stderr;
}

/// LAPACK reports a wrong argument; its own version needs the run-time library of Fortran.
[[noreturn]] void xerbla_(const char* routine, const int* argument, std::size_t length) {
  fprintf(stderr, "%.*s: argument %d is wrong\n", static_cast<int>(length), routine, *argument);
  __builtin_trap();
}

/// std::random_device calls it, and glibc has it only since 2.36.
std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) __builtin_trap();
  return number;
}
}
