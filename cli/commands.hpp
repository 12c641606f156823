// cli/: the covshift program: the only part that prints, reads argv or exits.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"

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

/// A wrong call if the output is one of the inputs: writing it would destroy what was read.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace covshift::cli
