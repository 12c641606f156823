#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/options/options.hpp"
#include "covshift/shift/sampling.hpp"

namespace covshift::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SampleFlags {
  std::string data, label, train_output, target_output, feature = "random";
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

/// Of the columns but the label and identifiers, each value of which would be a feature of one row.
Preparation inputs_of(const Table& table, const std::string& label) {
  PreparationOptions inputs;
  inputs.columns.drop = {label};
  Preparation preparation(table, inputs);
  const Encoder& encoder = preparation.encoder();
  for (std::size_t s = 0; s < encoder.source_count(); ++s) {
    if (!encoder.ids(s)) continue;
    inputs.columns.drop.push_back(encoder.source_name(s));
    warn(fmt::format("{}: column {} holds identifiers; the samples do not depend on it",
                     table.source, quoted_excerpt(inputs.columns.drop.back())));
  }
  return inputs.columns.drop.size() == 1 ? preparation : Preparation(table, inputs);
}

void run_sample(SampleFlags flags, const Common& common) {
  if (flags.train_output == "-" || flags.target_output == "-") {
    throw CLI::ValidationError("-", "sample writes two files; name both");
  }
  refuse_overwriting(flags.train_output, {flags.data}, "--train-output");
  refuse_overwriting(flags.target_output, {flags.data, flags.train_output}, "--target-output");
  check_output(flags.train_output, common);
  check_output(flags.target_output, common);
  ReadOptions read = common.read;
  read.threads = common.threads;
  read.text_columns = {flags.label};
  const Table table = read_data(flags.data, read);
  if (table.sparse) fail_input("{}: sample reads files of columns, not svmlight", flags.data);
  static_cast<void>(table.at(flags.label));  // an Error where there is none
  const Preparation preparation = inputs_of(table, flags.label);
  const Encoder& encoder = preparation.encoder();
  const PreparedRows rows = preparation.encode(table, common.threads);
  BiasedSampling& sampling = flags.sampling;
  if (flags.feature != "random") {
    for (std::size_t j = 0; j < encoder.cols(); ++j) {
      if (encoder.name(j) == flags.feature) sampling.feature = static_cast<int>(j);
    }
    if (sampling.feature < 0) {
      fail_input("{}: there is no numeric column '{}' to split by", flags.data, flags.feature);
    }
  }
  const BiasedSample sample = biased_sample(rows.features, sampling);
  const std::array<FileContent, 2> files = {
      FileContent{flags.train_output, rows_csv(table, sample.train)},
      FileContent{flags.target_output, rows_csv(table, sample.target)}};
  for (const FileContent& file : files) {
    if (file.path == "-") fail_input("sample writes two files; name both");
  }
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
               printable(feature), sample.threshold, sample.train.size(),
               printable(flags.train_output), sample.target.size(), printable(flags.target_output));
  }
}

}  // namespace

void add_sample(CLI::App& app, Common& common) {
  auto flags = std::make_shared<SampleFlags>();
  add_command(app, common, "sample",
              "Draw a training and a target sample under shift, as in the paper",
              Options{required(text({"DATA"}, flags->data, "FILE",
                                    "Labelled data: a table of columns, not svmlight")),
                      required(text({"--label"}, flags->label, "COLUMN", "Column of the class")),
                      required(output_file(flags->train_output, "CSV file for the training sample",
                                           "--train-output")),
                      required(output_file(flags->target_output,
                                           "CSV file for the target sample, with its labels",
                                           "--target-output")),
                      text({"--feature"}, flags->feature, "random|COLUMN", "Column to split by")} +
                  sampling_options(flags->sampling) + file_options(common.read))
      .callback([flags, &common] { run_sample(*flags, common); });
}

}  // namespace covshift::cli
