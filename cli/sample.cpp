#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/data/encoder.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/shift/sampling.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string data, label, train_output, target_output, feature = "random";
  std::vector<double> a = {2, 4};
  std::vector<double> b = {1, 2};
  bool without_replacement = false;
  BiasedSampling sampling;
};

/// The chosen rows as the file has them.
std::string rows_csv(const Table& table, const std::vector<std::size_t>& rows) {
  std::string text;
  const auto add = [&](const auto& field_of) {
    for (const Column& column : table.columns) {
      text += csv_field(field_of(column));
      text += &column == &table.columns.back() ? '\n' : ',';
    }
  };
  add([](const Column& column) { return column.name; });
  for (const std::size_t row : rows) add([&](const Column& column) { return column.text(row); });
  return text;
}

Json draw_json(const BiasedSample::Draw& draw, const std::vector<std::size_t>& rows) {
  const std::set<std::size_t> distinct(rows.begin(), rows.end());
  return {{"rows", rows.size()},
          {"distinct", distinct.size()},
          {"component", draw.component + 1},
          {"a", draw.a},
          {"b", draw.b},
          {"mu", draw.mu},
          {"sigma", draw.sigma}};
}

void run(Flags flags, const Common& common) {
  refuse_overwriting(flags.train_output, {flags.data});
  refuse_overwriting(flags.target_output, {flags.data, flags.train_output});
  ReadOptions read;
  read.threads = common.threads;
  read.text_columns = {flags.label};
  const Table table = read_table(flags.data, read);
  if (table.sparse) fail_input("{}: sample reads files of columns, not svmlight", flags.data);
  static_cast<void>(table.at(flags.label));  // an Error where there is none
  const Encoder encoder = Encoder::fit(table, {flags.label});
  const Matrix matrix = encoder.encode(table).matrix;
  BiasedSampling& sampling = flags.sampling;
  sampling.a_low = flags.a[0];
  sampling.a_high = flags.a[1];
  sampling.b_low = flags.b[0];
  sampling.b_high = flags.b[1];
  sampling.replacement = !flags.without_replacement;
  if (flags.feature != "random") {
    for (std::size_t j = 0; j < encoder.cols(); ++j) {
      if (encoder.name(j) == flags.feature) sampling.feature = static_cast<int>(j);
    }
    if (sampling.feature < 0) {
      fail_input("{}: there is no numeric column '{}' to split by", flags.data, flags.feature);
    }
  }
  const BiasedSample sample = biased_sample(matrix.view(), sampling);
  const std::array<FileContent, 2> files = {
      FileContent{flags.train_output, rows_csv(table, sample.train)},
      FileContent{flags.target_output, rows_csv(table, sample.target)}};
  write_whole(files);
  const std::string feature = encoder.name(static_cast<std::size_t>(sample.feature));
  if (common.json) {
    print_json({{"feature", feature},
                {"threshold", sample.threshold},
                {"seed", sampling.seed},
                {"train", draw_json(sample.train_draw, sample.train)},
                {"target", draw_json(sample.target_draw, sample.target)}});
  } else if (!common.quiet) {
    fmt::print("split by {} at {:.6g}: {} training rows written to {}, {} target rows to {}\n",
               feature, sample.threshold, sample.train.size(), flags.train_output,
               sample.target.size(), flags.target_output);
  }
}

}  // namespace

void add_sample(CLI::App& app, Common& common) {
  auto flags = std::make_shared<Flags>();
  CLI::App* sample = app.add_subcommand(
      "sample", "Draw a training and a target sample under shift from one file (the paper's way)");
  sample->add_option("DATA", flags->data, "Labelled data: CSV (.gz), ARFF or NPY")->required();
  sample->add_option("--label", flags->label, "The column of the class")->required();
  sample->add_option("--train-output", flags->train_output, "CSV file for the training sample")
      ->required();
  sample
      ->add_option("--target-output", flags->target_output,
                   "CSV file for the target sample (with its labels, for evaluation)")
      ->required();
  sample->add_option("--feature", flags->feature, "The column to split by, or random")
      ->capture_default_str();
  sample
      ->add_option("--quantile", flags->sampling.quantile,
                   "Rows up to this quantile of it are for training, the others the target")
      ->capture_default_str();
  sample
      ->add_option("--crossing", flags->sampling.crossing,
                   "The probability that a row goes to the other side of the split")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  sample->add_option("--a", flags->a, "Interval of a: the centre is min + (max - min)/a")
      ->expected(2)
      ->capture_default_str();
  sample->add_option("--b", flags->b, "Interval of b: the spread is std/b")
      ->expected(2)
      ->capture_default_str();
  sample->add_option("--n-train", flags->sampling.train, "Rows of the training sample")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sample->add_option("--n-target", flags->sampling.target, "Rows of the target sample")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sample->add_flag("--without-replacement", flags->without_replacement, "Draw no row twice");
  sample->add_option("--seed", flags->sampling.seed, "Of whatever is random")
      ->capture_default_str();
  add_common(*sample, common);
  sample->callback([flags, &common] { run(*flags, common); });
}

}  // namespace covshift::cli
