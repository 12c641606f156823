#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "covshift/base/file.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/words.hpp"
#include "covshift/data/encoding.hpp"

namespace covshift::cli {
namespace {

volatile std::sig_atomic_t interrupt = 0;

constexpr int interrupted_exit = 130;

void leave(int /*signal*/) { ::_exit(interrupted_exit); }

void on_interrupt(int /*signal*/) {
  interrupt = 1;
  std::signal(SIGINT, leave);
}

/// A control character at the start of a text: C0, DEL, C1, or one that turns the direction of
/// writing. No bytes: there is none.
struct Control {
  std::size_t bytes = 0;
  unsigned code = 0;
};
Control control_at(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[at])) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return {1, byte(0)};
  if (byte(0) == 0xC2 && (byte(1) & 0xE0U) == 0x80U) return {2, byte(1)};
  if (byte(0) != 0xE2) return {};
  const unsigned code = 0x2000U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return turns && byte(1) >= 0x80 && byte(2) >= 0x80 ? Control{3, code} : Control{};
}

/// The number of UTF-8 characters: bytes that begin one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

bool numeric(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-e%? ") == std::string_view::npos;
}

}  // namespace

void print_json(const nlohmann::ordered_json& object) {
  // Paths may be invalid UTF-8, which JSON does not allow.
  const std::string text =
      object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Control control =
        text[at] == '\n' ? Control() : control_at(std::string_view(text).substr(at));
    if (control.bytes == 0) {
      out += text[at++];
    } else {
      out += fmt::format("\\u{:04x}", control.code);
      at += control.bytes;
    }
  }
  fmt::print("{}\n", out);
}

void print_table(const std::vector<std::vector<std::string>>& given) {
  std::vector<std::vector<std::string>> rows = given;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  std::vector<std::size_t> width;
  std::vector<bool> right;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    right.resize(width.size(), true);
    for (std::size_t j = 0; j < row.size(); ++j) {
      width[j] = std::max(width[j], width_of(row[j]));
      if (&row != rows.data() && !numeric(row[j]) && row[j] != "-") right[j] = false;
    }
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::string pad(width[j] - width_of(row[j]), ' ');
      line += (j == 0 ? "  " : "   ") + (right[j] ? pad + row[j] : row[j] + pad);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

std::string printable(std::string_view text, bool lines) {
  std::string out;
  std::size_t invalid = first_invalid_utf8(text);  // from the start of what is left
  while (!text.empty()) {
    const bool byte = invalid == 0;
    const Control control =
        byte ? Control{1, static_cast<unsigned char>(text[0])} : control_at(text);
    if (control.bytes == 0 || (lines && text[0] == '\n')) {
      out += text[0];
      text.remove_prefix(1);
      if (invalid != std::string_view::npos) --invalid;
    } else {
      out += control.code < 0x100 ? fmt::format("\\x{:02x}", control.code)
                                  : fmt::format("\\u{:04x}", control.code);
      text.remove_prefix(control.bytes);
      if (byte) {
        invalid = first_invalid_utf8(text);
      } else if (invalid != std::string_view::npos) {
        invalid -= control.bytes;
      }
    }
  }
  return out;
}

std::string csv_field(std::string_view given, bool safe) {
  const bool formula = safe && !given.empty() &&
                       std::string_view("=+-@\t\r").find(given[0]) != std::string_view::npos &&
                       !parse_number(given);
  return csv_quoted((formula ? "'" : "") + std::string(given));
}

bool is_stdout(const std::string& path) {
  return path == "-" || (!path.empty() && same_file(path, "/dev/stdout"));
}

void write_output(const std::string& path, std::string_view content) {
  if (path == "-") {
    fmt::print("{}", content);
  } else {
    std::fflush(stdout);  // the path may be /dev/stdout: what was printed comes first
    write_whole(path, content);
  }
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Standard output is opened for reading, so that writing
    // to it fails.
    static_cast<void>(::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

bool finish_output() {
  std::cout.flush();
  if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  message(
      fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
  return false;
}

void message(std::string_view text) { fmt::print(stderr, "covshift: {}\n", printable(text)); }
void warn(std::string_view text) { fmt::print(stderr, "covshift: warning: {}\n", printable(text)); }

ProgressBar::ProgressBar(bool quiet) : active_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (active_ && width_ > 0) fmt::print(stderr, "\r{}\r", std::string(width_, ' '));
  width_ = 0;
}

void ProgressBar::show(std::string_view stage, double share) {
  if (!active_) return;
  constexpr int cells = 24;
  const int full = static_cast<int>(cells * std::clamp(share, 0.0, 1.0));
  const std::string line =
      fmt::format("  {:<16} [{}{}]", stage, std::string(full, '='), std::string(cells - full, ' '));
  width_ = std::max(width_, line.size());
  fmt::print(stderr, "\r{}", line);
  std::fflush(stderr);
}

void end_on_interrupt() { std::signal(SIGINT, leave); }
void catch_interrupt() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return interrupt != 0; }

}  // namespace covshift::cli
