#include "cli/report.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/report/report.hpp"

namespace covshift::cli {

Option report_file(std::string& path) {
  return text({"--report"}, path, "FILE",
              "Also write a self-contained HTML page to open in a browser");
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
  write_output(path, report_page(kind, title, data));
}

}  // namespace covshift::cli
