#include "cli/report.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/report/report.hpp"

namespace covshift::cli {

void add_report(CLI::App& command, std::string& path) {
  command.add_option("--report", path,
                     "Also write a page to open in a browser: FILE.html, self-contained");
}

void check_report(const std::string& path) {
  if (path.empty()) return;
  if (!report_available()) report_page("", "", {});
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    fail_file("{}: there is no folder {}; make it first", path, folder.string());
  }
}

void write_report(const std::string& path, const std::string& kind, const std::string& title,
                  const nlohmann::ordered_json& data) {
  write_whole(path, report_page(kind, title, data));
}

}  // namespace covshift::cli
