// What the program writes: tables and JSON to stdout, messages and progress to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace covshift::cli {

/// One JSON object on stdout; numbers that are not finite become null.
void print_json(const nlohmann::ordered_json& object);

/// Aligned columns, numbers to the right; the first row is the heading.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// A field of a CSV file, quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text);

/// "covshift: ..." on stderr.
void message(std::string_view text);
void warn(std::string_view text);

/// A progress bar on stderr, if that is a terminal and not `quiet`; erased when done.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(std::string_view stage, double share);
  void clear();

 private:
  bool active_;
  std::size_t width_ = 0;
};

/// Ctrl-C sets interrupted(); a second one ends the program at once.
void catch_interrupt();
bool interrupted();

}  // namespace covshift::cli
