#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/file.hpp"
#include "covshift/lab/figures.hpp"
#include "covshift/lab/sweep.hpp"
#include "covshift/lab/tables.hpp"

namespace covshift::cli {
namespace {

struct Flags {
  std::string what, data, output;
  int draws = 0;
  unsigned long long seed = 0;
  std::string ratio_lambda = "stable";
  double view_threshold = 0.1;
  std::string bias = "joint";
  double crossing = 0.1;
  double quantile = 0.5;
  std::vector<double> a = {2, 4};
  std::vector<double> b = {1, 2};
  bool without_replacement = false;
  std::size_t rows = 100;
  std::size_t components = 100;
  bool centred = false;
  std::string scale = "none";
};

const std::vector<std::string> experiments = {"table1",  "table2",  "table3", "figure1",
                                              "figure2", "figure3", "sweep"};

LabResult run_one(const std::string& what, const Flags& flags, const Common& common,
                  ProgressBar& bar) {
  const bool figure = what.starts_with("figure");
  ExperimentOptions options;
  // By default the paper's number of draws, where it states one.
  options.draws = flags.draws > 0 ? flags.draws : what == "table3" ? 10 : figure ? 100 : 30;
  options.seed = flags.seed;
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
  Reading reading = default_reading();
  BiasedSampling& sampling = reading.sampling;
  sampling.crossing = flags.crossing;
  sampling.quantile = flags.quantile;
  sampling.a_low = flags.a[0];
  sampling.a_high = flags.a[1];
  sampling.b_low = flags.b[0];
  sampling.b_high = flags.b[1];
  sampling.replacement = !flags.without_replacement;
  sampling.train = sampling.target = flags.rows;
  reading.shift.ratio.lambda = RatioLambda::parse(flags.ratio_lambda);
  reading.shift.view_threshold = flags.view_threshold;
  reading.shift.bias = flags.bias == "joint" ? BiasAssumption::joint : BiasAssumption::test;
  if (what == "table1") return report(run_table1(flags.data, reading, options));
  if (what == "table2") return report(run_table2(flags.data, reading, options));
  DocumentReading documents;
  documents.components = flags.components;
  documents.centred = flags.centred;
  documents.scale = parse_scale_kind(flags.scale);
  documents.shift = reading.shift;
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

void run(const Flags& flags, const Common& common) {
  catch_interrupt();
  const bool all = flags.what == "all";
  const std::vector<std::string> list = all ? experiments : std::vector{flags.what};
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

}  // namespace

void add_reproduce(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  CLI::App* reproduce = app.add_subcommand(
      "reproduce",
      "The paper's tables and figures, and a sweep over what it leaves open, from the real data");
  std::vector<std::string> names = experiments;
  names.emplace_back("all");
  reproduce
      ->add_option("WHAT", flags->what, "table1|table2|table3|figure1|figure2|figure3|sweep|all")
      ->required()
      ->check(CLI::IsMember(names));
  reproduce->add_option("--data", flags->data,
                        "The folder with the data sets (see covshift datasets); figures need none");
  reproduce->add_option("-o,--output", flags->output, "The folder for the results")->required();
  reproduce
      ->add_option("--draws", flags->draws,
                   "Repetitions; by default 30, for table3 10, for figures 100")
      ->check(CLI::Range(2, 100000));
  reproduce->add_option("--seed", flags->seed, "Of whatever is random")->capture_default_str();
  constexpr auto open = "What the paper leaves open";
  reproduce
      ->add_option("--ratio-lambda", flags->ratio_lambda,
                   "Regularisation of the density ratio: a number|paper|cv|stable")
      ->check(valid([](const std::string& text) { RatioLambda::parse(text); }))
      ->capture_default_str()
      ->group(open);
  reproduce
      ->add_option("--view-threshold", flags->view_threshold,
                   "Views whose symmetric KL is below this generalize")
      ->check(non_negative_number())
      ->capture_default_str()
      ->group(open);
  reproduce->add_option("--bias", flags->bias, "The assumption the bias is under: joint|test")
      ->check(CLI::IsMember({"joint", "test"}))
      ->capture_default_str()
      ->group(open);
  reproduce
      ->add_option(
          "--crossing", flags->crossing,
          "The probability that a row goes to the other side of the split; 0: a hard split")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str()
      ->group(open);
  reproduce->add_option("--quantile", flags->quantile, "Where a random feature is split")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str()
      ->group(open);
  reproduce->add_option("--a", flags->a, "Interval of a: the centre is min + (max - min)/a")
      ->expected(2)
      ->capture_default_str()
      ->group(open);
  reproduce->add_option("--b", flags->b, "Interval of b: the spread is std/b")
      ->expected(2)
      ->capture_default_str()
      ->group(open);
  reproduce->add_option("--rows", flags->rows, "Rows of each sample (the paper: 100)")
      ->check(CLI::Range(10, 100000))
      ->capture_default_str()
      ->group(open);
  reproduce->add_flag("--without-replacement", flags->without_replacement, "Draw no row twice")
      ->group(open);
  reproduce
      ->add_option("--components", flags->components,
                   "table3: principal components of each language (the paper: 100)")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group(open);
  reproduce
      ->add_flag("--centred", flags->centred,
                 "table3: centre documents before projecting; then there is no shift to see")
      ->group(open);
  reproduce
      ->add_option("--scale", flags->scale, "table3: scaling of components: unit|standard|none")
      ->check(CLI::IsMember({"unit", "standard", "none"}))
      ->capture_default_str()
      ->group(open);
  add_common(*reproduce, common);
  reproduce->callback([flags, &common] {
    if (flags->data.empty() && !flags->what.starts_with("figure")) {
      throw CLI::RequiredError("--data");
    }
    run(*flags, common);
  });
}

}  // namespace covshift::cli
