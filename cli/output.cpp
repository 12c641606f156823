#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace covshift::cli {
namespace {

volatile std::sig_atomic_t interrupt = 0;

void on_interrupt(int /*signal*/) {
  interrupt = 1;
  std::signal(SIGINT, SIG_DFL);
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
  // Names from files may be invalid UTF-8, which JSON does not allow.
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

void message(std::string_view text) { fmt::print(stderr, "covshift: {}\n", text); }
void warn(std::string_view text) { fmt::print(stderr, "covshift: warning: {}\n", text); }

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

void catch_interrupt() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return interrupt != 0; }

}  // namespace covshift::cli
