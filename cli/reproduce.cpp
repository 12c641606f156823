#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/file.hpp"
#include "covshift/lab/figures.hpp"
#include "covshift/lab/sweep.hpp"
#include "covshift/lab/tables.hpp"
#include "covshift/options/options.hpp"

namespace covshift::cli {
namespace {

struct ReproduceFlags {
  std::string what, data, output;
  int draws = 0, seeds = 0;
  std::size_t rows = 0;
  unsigned long long seed = 0;
  Reading reading = default_reading();
  DocumentReading documents;
};

constexpr std::array<std::string_view, 8> experiments = {"table1",  "table2",  "table3", "figure1",
                                                         "figure2", "figure3", "sweep",  "beyond"};

LabResult run_one(const std::string& what, const ReproduceFlags& flags, const Common& common,
                  ProgressBar& bar) {
  const bool figure = what.starts_with("figure");
  ExperimentOptions options;
  // By default the paper's number of draws, where it states one, for each seed.
  options.draws = flags.draws > 0 ? flags.draws : figure ? 100 : 30;
  options.seed = flags.seed;
  // One seed decides nothing in the tables (docs/results.md): their claims are judged over five.
  const bool table = !figure && what != "sweep";
  options.seeds = flags.seeds > 0 ? flags.seeds : table ? 5 : 1;
  if (figure && options.seeds > 1)
    fail_input("figures have one seed: use --draws instead of --seeds");
  options.threads = common.threads;
  options.progress = [&](double share) { bar.show(what, share); };
  options.cancelled = interrupted;
  if (figure) {
    return report_figure(what == "figure1"   ? figure1_setting()
                         : what == "figure2" ? figure2_setting()
                                             : figure3_setting(),
                         options);
  }
  if (what == "sweep") return run_sweep(flags.data, options);
  Reading reading = flags.reading;
  if (flags.rows > 0) reading.sampling.train = flags.rows;
  reading.sampling.target = reading.sampling.train;
  if (what == "table1") return report(run_table1(flags.data, reading, options));
  if (what == "table2") return report(run_table2(flags.data, reading, options));
  if (what == "beyond") return report(run_beyond(flags.data, reading, options));
  DocumentReading documents = flags.documents;
  documents.rows = flags.rows;
  documents.fit = reading.fit;
  return report(run_table3(flags.data, documents, options));
}

/// The results folder, created before the work so that a failure to create it shows early; removed
/// again if the work fails and leaves it empty.
class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code error;
    made_ = std::filesystem::create_directories(path_, error);
    if (error) fail_file("{}: cannot create this folder: {}", path_.string(), error.message());
  }
  ~OutputFolder() {
    std::error_code error;
    if (made_) std::filesystem::remove(path_, error);  // only if it is empty
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

void run_reproduce(const ReproduceFlags& flags, const Common& common) {
  catch_interrupt();
  const bool all = flags.what == "all";
  const std::vector<std::string> list =
      all ? std::vector<std::string>(experiments.begin(), experiments.end())
          : std::vector{flags.what};
  const OutputFolder folder(flags.output);
  std::vector<FileContent> files;
  const auto add = [&](const std::string& name, std::string content) {
    files.push_back({(std::filesystem::path(flags.output) / name).string(), std::move(content)});
  };
  nlohmann::ordered_json printed;
  std::vector<LabResult> results;
  for (const std::string& what : list) {
    ProgressBar bar(common.quiet);
    LabResult result = run_one(what, flags, common, bar);
    bar.clear();
    add(what + ".md", result.markdown);
    add(what + ".csv", result.csv);
    add(what + ".svg", result.svg);
    add(what + ".json", result.json.dump(2) + "\n");
    if (!common.json && !common.quiet) fmt::print("{}\n", result.markdown);
    printed[what] = result.json;
    results.push_back(std::move(result));
    // Kept even if a later experiment fails.
    write_whole(files);
    files.clear();
  }
  if (all) {
    add("results.md", results_page(results));
    write_whole(files);
  }
  if (common.json) {
    print_json(printed);
  } else if (!common.quiet) {
    message(fmt::format("written to {}", flags.output));
  }
}

/// What the paper leaves open: the ways to read it.
Options open_options(Reading& reading, DocumentReading& documents, std::size_t& rows) {
  Options options =
      sampling_options(reading.sampling) +
      Options{lambdas_option(reading.fit.lambdas),
              ratio_lambda_option(reading.fit.shift.ratio.lambda),
              view_threshold_option(reading.fit.shift.view_threshold),
              choice({"--bias"}, reading.fit.shift.bias,
                     "Scaling of the bias: like all inputs jointly, or unscaled (test)"),
              whole({"--components"}, documents.components, allowed::between(1, 100000),
                    "table3: principal components of each language"),
              flag({"--centred"}, documents.centred,
                   "table3: centre documents before projecting; no shift is left then"),
              scale_option(documents.scale)};
  std::erase_if(options, [](const Option& o) {
    return o.flag == "--n-train" || o.flag == "--n-target" || o.flag == "--seed";
  });
  options.push_back(whole({"--rows"}, rows, {.low = 1},
                          "Rows of each sample (default: 100; for table3 half of the documents)"));
  options.back().fallback.clear();
  for (Option& o : options) {
    o.group = "What the paper leaves open";
    o.python.clear();
    if (o.flag == "--lambdas") {
      o.help =
          "Values for cv and iwcv to choose from (default: the paper's 2^-16, 2^-12, 2^-8, 2^-4, "
          "1)";
    }
    if (o.flag == "--scale") o.help = "table3: scaling of the components";
  }
  return options;
}

}  // namespace

void add_reproduce(CLI::App& app, Common& common) {
  auto flags = std::make_shared<ReproduceFlags>();
  std::vector<std::string_view> names(experiments.begin(), experiments.end());
  names.emplace_back("all");
  Option draws = whole({"--draws"}, flags->draws, allowed::between(2, 100000),
                       "Draws for each seed (default: 30; for figures 100)");
  draws.fallback.clear();
  Option seeds =
      whole({"--seeds"}, flags->seeds, allowed::between(1, 1000),
            "Seeds, from --seed on (default: 5 for tables, 1 for the sweep and figures)");
  seeds.fallback.clear();
  add_command(app, common, "reproduce",
              "Reproduce the paper's tables and figures, and vary what it leaves open",
              Options{required(word({"WHAT"}, flags->what, names, "What to reproduce")),
                      text({"--data"}, flags->data, "FOLDER",
                           "Folder with the data sets (see covshift datasets); figures need none"),
                      required(output_file(flags->output, "Folder for the results")), draws,
                      seed_option(flags->seed), seeds} +
                  open_options(flags->reading, flags->documents, flags->rows))
      .callback([flags, &common] {
        if (flags->data.empty() && !flags->what.starts_with("figure")) {
          throw CLI::RequiredError("--data");
        }
        run_reproduce(*flags, common);
      });
}

}  // namespace covshift::cli
