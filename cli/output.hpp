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

/// A field of a CSV file, quoted where it must be (RFC 4180). `safe`: text that a spreadsheet would
/// take for a formula gets an apostrophe before it.
std::string csv_field(std::string_view text, bool safe = false);

/// The text without control characters, which could change what a terminal shows: \x1b, and \u202e
/// for those that turn the direction of writing. Line ends stay if `lines`.
std::string printable(std::string_view text, bool lines = false);

/// True for "-" and for any other name of standard output, which then gets the file alone.
bool is_stdout(const std::string& path);
/// Writes a file whole, or to standard output.
void write_output(const std::string& path, std::string_view content);
/// Makes closed standard streams safe to use: without this, the next file opened would take their
/// place.
void open_standard_streams();
/// False, with a message, if something could not be written to standard output.
bool finish_output();

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

/// Ctrl-C ends the program at once, with exit code 130.
void end_on_interrupt();
/// From here on Ctrl-C sets interrupted(); a second one ends the program at once.
void catch_interrupt();
bool interrupted();

}  // namespace covshift::cli
