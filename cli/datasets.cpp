#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/lab/datasets.hpp"

namespace covshift::cli {
namespace {

void run_datasets(const std::string& folder, const Common& common) {
  nlohmann::ordered_json json;
  int missing = 0;
  for (const DatasetSource& source : dataset_sources()) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    std::string text;
    for (const DatasetFile& file : source.files) {
      if (folder.empty()) {
        files.push_back({{"path", file.path}, {"sha256", file.sha256}});
        text += fmt::format("    {}  {}\n", file.sha256, file.path);
        continue;
      }
      const FileState state = check_file(folder, file);
      if (state != FileState::good) ++missing;
      files.push_back({{"path", file.path}, {"sha256", file.sha256}, {"state", to_string(state)}});
      text += fmt::format("    {:<10} {}\n", to_string(state), file.path);
    }
    json[source.name] = {{"title", source.title},
                         {"address", source.address},
                         {"remedy", source.remedy},
                         {"files", files}};
    if (!common.json && !common.quiet) {
      fmt::print("{} ({})\n  {}\n  {}\n{}\n", source.name, source.title, source.address,
                 source.remedy, text);
    }
  }
  if (common.json) print_json(json);
  if (missing > 0) {
    throw Error(Error::Kind::file,
                fmt::format("{}: {} files are missing or different; the list above says which and "
                            "where to get them",
                            folder, missing));
  }
}

}  // namespace

void add_datasets(CLI::App& app, Common& common) {
  auto folder = std::make_shared<std::string>();
  add_command(app, common, "datasets",
              "Say where to get the paper's data sets, and check a folder for them",
              {text({"--data"}, *folder, "FOLDER", "Folder to check (default: only list)")})
      .callback([folder, &common] { run_datasets(*folder, common); });
}

}  // namespace covshift::cli
