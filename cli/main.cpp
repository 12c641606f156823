#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/version.hpp"

namespace covshift::cli {

void add_common(CLI::App& command, Common& common) {
  command.add_flag("--json", common.json, "Print one JSON object on stdout");
  command.add_flag("-q,--quiet", common.quiet, "No progress and no summary");
  command.add_option("--threads", common.threads, "Threads to use; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

namespace {

CLI::Validator number_above(double least, bool or_equal, const char* what) {
  return valid([=](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool enough = or_equal ? value >= least : value > least;
    if (text.empty() || *end != '\0' || !std::isfinite(value) || !enough) {
      fail_input("'{}' is not {}", text, what);
    }
  });
}

}  // namespace

CLI::Validator positive_number() { return number_above(0, false, "a positive number"); }
CLI::Validator non_negative_number() { return number_above(0, true, "a number of at least 0"); }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs,
                        const std::string& flag) {
  for (const std::string& input : inputs) {
    if (!output.empty() && (output == input || same_file(output, input))) {
      throw CLI::ValidationError(
          flag, fmt::format("{} would overwrite {}; choose another name", output, input));
    }
  }
}

}  // namespace covshift::cli

int main(int argc, char** argv) {
  using namespace covshift;
  CLI::App app(
      "covshift: classifiers that stay honest when the data they will meet differ from the data "
      "they were trained on.\n\n"
      "Start here:\n"
      "  covshift demo                                    see what it does, no files needed\n"
      "  covshift diagnose train.csv new.csv --label y    is there shift, and what to do\n"
      "  covshift compare train.csv new.csv --label y --report report.html\n"
      "  covshift fit train.csv --target new.csv --label y -o model.json\n"
      "  covshift predict model.json new.csv -o predictions.csv\n"
      "  covshift evaluate model.json labelled.csv");
  app.name("covshift");
  app.set_version_flag("--version", "covshift " + std::string(version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  cli::Common common;
  cli::add_fit(app, common);
  cli::add_predict(app, common);
  cli::add_evaluate(app, common);
  cli::add_diagnose(app, common);
  cli::add_compare(app, common);
  cli::add_sample(app, common);
  cli::add_demo(app, common);
  cli::add_reproduce(app, common);
  cli::add_datasets(app, common);
  cli::add_completion(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and version are no errors; everything else is a wrong call.
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  } catch (const Error& e) {
    cli::message(e.what());
    return e.kind() == Error::Kind::stopped ? 130 : 1;
  } catch (const std::bad_alloc&) {
    cli::message("out of memory; use fewer rows or columns");
    return 1;
  } catch (const std::exception& e) {
    cli::message(e.what());
    return 1;
  }
  return 0;
}
