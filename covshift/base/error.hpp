// base/: errors, threads, random numbers, files. Depends on nothing else here.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace covshift {

/// The exception of the library. The message states the problem, its position and a remedy; the
/// kind lets a caller choose an exit code or an exception type.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    input,    ///< the caller's data or options are unusable
    file,     ///< a file cannot be read or written
    numeric,  ///< the numbers left the range in which an answer exists
    stopped,  ///< the caller asked to stop
  };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

template <typename... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Error::Kind::input, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_file(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Error::Kind::file, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace covshift
