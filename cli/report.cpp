#include "cli/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/next.hpp"
#include "cli/output.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/words.hpp"
#include "covshift/report/report.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string& command_line() {
  static std::string line;
  return line;
}

}  // namespace

void note_command(int argc, const char* const* argv) {
  command_line() = "covshift";
  for (int i = 1; i < argc; ++i) command_line() += ' ' + shell_word(argv[i]);
}

Option report_file(std::string& path) {
  return text({"--report"}, path, "FILE",
              "Also write a self-contained HTML page to open in a browser");
}

void check_report(const std::string& path) {
  if (path.empty()) return;
  if (!report_available()) report_page("", "", {});
  if (path != "-") check_writable(path);
}

void write_report(const std::string& path, const Made& made, const Json& data) {
  const std::string title = made.files.empty()
                                ? fmt::format("built-in data, seed {}", made.seed)
                                : fmt::format("{} → {}", made.files[0], made.files[1]);
  write_output(path, report_page(made.kind, title, data,
                                 {{"date", report_date()},
                                  {"files", made.files},
                                  {"label", made.label},
                                  {"command", command_line()},
                                  {"seed", made.seed}}));
}

void add_ids(const std::vector<KeptColumn>& kept, Json& diagnosis) {
  if (kept.empty()) return;
  const auto row_of = [](const Json& number) { return number.get<std::size_t>() - 1; };
  Json& listed = diagnosis["support"]["listed"];
  for (const KeptColumn& column : kept) {
    Json ids = Json::array();
    for (const Json& row : listed["row"]) ids.push_back(column.text[row_of(row)]);
    listed["ids"][column.name] = std::move(ids);
    for (Json* rows :
         {&diagnosis["support"]["examples"], &diagnosis["recommendation"]["label_first"]}) {
      for (Json& row : *rows) row["ids"][column.name] = column.text[row_of(row["row"])];
    }
  }
}

}  // namespace covshift::cli
