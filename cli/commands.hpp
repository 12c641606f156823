// cli/: the covshift program: the only part that prints, reads argv or exits.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift::cli {

/// What every command knows.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
};

/// Each adds one command to the program; the command's callback does the work and throws Error.
void add_fit(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_sample(CLI::App& app, Common& common);
void add_diagnose(CLI::App& app, Common& common);
void add_compare(CLI::App& app, Common& common);
void add_demo(CLI::App& app, Common& common);
void add_reproduce(CLI::App& app, Common& common);
void add_datasets(CLI::App& app, Common& common);
void add_completion(CLI::App& app);

void add_common(CLI::App& command, Common& common);

/// A value that CLI11 itself cannot judge: whatever the parser says is a wrong call.
template <typename F>
CLI::Validator valid(F parse) {
  return CLI::Validator(
      [parse](std::string& text) -> std::string {
        try {
          parse(text);
          return {};
        } catch (const Error& e) {
          return e.what();
        }
      },
      "");
}

/// A finite number that is positive, or at least not negative.
CLI::Validator positive_number();
CLI::Validator non_negative_number();

/// How the shift between two files is looked at: what diagnose and compare have in common.
template <typename Flags>
void add_look(CLI::App& command, Flags& flags) {
  command.add_option("--views", flags.views, "Groups of columns: all|each|FILE")
      ->capture_default_str();
  command
      .add_option("--view-threshold", flags.view_threshold,
                  "Views whose symmetric KL is below this hardly moved")
      ->check(non_negative_number())
      ->capture_default_str();
  command
      .add_option("--ratio", flags.ratio, "Density ratio: logistic|gaussian|ulsif|rulsif|kliep|kmm")
      ->check(valid([](const std::string& text) { parse_ratio_method(text); }))
      ->capture_default_str();
  command
      .add_option("--ratio-lambda", flags.ratio_lambda,
                  "Regularisation of the logistic ratio: a number|paper|cv|stable")
      ->check(valid([](const std::string& text) { RatioLambda::parse(text); }))
      ->capture_default_str();
  command.add_option("--scale", flags.scale, "Features: unit|standard|none")
      ->check(CLI::IsMember({"unit", "standard", "none"}))
      ->capture_default_str();
}

/// The parts of a,b,c.
std::vector<std::string> split(const std::string& text);

/// A wrong call if the output is one of the inputs: writing it would destroy what was read.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs,
                        const std::string& flag = "--output");

}  // namespace covshift::cli
