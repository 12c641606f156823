// cli/: the covshift program: the only part that prints, reads argv or exits.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/options/option.hpp"

namespace covshift::cli {

/// Shared by all commands.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  /// Several processes share the rows (mpirun); null: this one has them all.
  const Reducer* reducer = nullptr;
  ReadOptions read;  ///< of the files of commands with file_options
  std::vector<std::pair<CLI::App*, Options>> commands;  ///< with their options
};
/// The only process, or the first of several: the one that writes.
inline bool is_first(const Common& common) {
  return common.reducer == nullptr || common.reducer->holder() == 0;
}

/// Each adds one command to the program; the command's callback does the work and throws Error.
void add_fit(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_estimate(CLI::App& app, Common& common);
void add_export(CLI::App& app, Common& common);
void add_sample(CLI::App& app, Common& common);
void add_diagnose(CLI::App& app, Common& common);
void add_compare(CLI::App& app, Common& common);
void add_demo(CLI::App& app, Common& common);
void add_reproduce(CLI::App& app, Common& common);
void add_datasets(CLI::App& app, Common& common);
void add_completion(CLI::App& app, Common& common);
void add_options_page(CLI::App& app, Common& common);

/// Adds a command with these options, and --json, --quiet and --threads where it `prints` results.
CLI::App& add_command(CLI::App& app, Common& common, const std::string& name,
                      const std::string& summary, Options options, bool prints = true);

/// The file that an option's value names, if it does: FILE of all|each|FILE or cost:FILE.
std::string views_file(const std::string& views);
std::string cost_file(const std::string& loss);

/// The flags of fit for what is estimated or assumed of the shift: without effect on a method that
/// ignores it.
const std::set<std::string>& shift_flags();

/// The options of `more` after those of `options`.
Options operator+(Options options, Options more);

// Options that only the program has, and several commands share.
Option train_file(std::string& path);
Option target_file(std::string& path);
Option label_column(std::string& name);
Option output_file(std::string& path, const std::string& help, const char* flag = "-o,--output");

/// A usage error if two of the inputs are standard input, or the output is one of them: writing it
/// would destroy what was read.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs,
                        const std::string& flag = "--output");

/// A usage error if the model is to come from standard input: that is for data.
void check_model(const std::string& path);
/// Throws Error where the output (empty: none) could not be written: better before the work than
/// after it.
void check_output(const std::string& path, const Common& common);

}  // namespace covshift::cli
