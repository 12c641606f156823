#include "cli/compare_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/output.hpp"

namespace covshift::cli {
namespace {

std::string with_error(const Estimate& e, bool reliable, double unit = 1) {
  if (!std::isfinite(e.value)) return "-";
  return fmt::format("{:.3f} +-{:.3f}{}", e.value / unit, e.standard_error / unit,
                     reliable ? "" : "?");
}

std::string promised(const Compared& m) {
  if (!m.certificate.bound) return "-";
  return fmt::format("{:.3f}", *m.certificate.bound / (m.loss == "log" ? std::log(2.0) : 1.0));
}

}  // namespace

void print_comparison(const Comparison& c) {
  std::vector<std::vector<std::string>> table = {{"method", "lambda", "error", "log loss (bits)",
                                                  "Brier", "sure", "right", "promised", "gap", ""}};
  for (const Compared& m : c.methods) {
    const Judgement& j = c.by_truth ? *m.truth : m.estimated;
    table.push_back({m.name, fmt::format("{:.2g}", m.lambda), with_error(j.error, j.reliable),
                     with_error(j.log_loss, j.reliable, std::log(2.0)),
                     with_error(j.brier, j.reliable), fmt::format("{:.0f}%", 100 * j.confidence),
                     fmt::format("{:.0f}%{}", 100 * (1 - j.error.value), j.reliable ? "" : "?"),
                     promised(m), fmt::format("{:.0e}", m.certificate.gap),
                     m.name == c.best ? "best"
                     : m.tied         ? "tied"
                                      : ""});
  }
  fmt::print("{}:\n", c.by_truth ? fmt::format("On {} labelled rows of the target", c.truth_rows)
                                 : fmt::format("On the target, estimated from held-out training "
                                               "rows by their weights (effective sample size "
                                               "{:.1f})",
                                               c.effective_sample_size));
  print_table(table);
  fmt::print(
      "{}sure: the mean probability of its own answer; right: how often that was the label. "
      "promised: "
      "a bound\non the loss on the target (bits, or the method's own loss) that holds with "
      "probability {}%, computed\nwithout target labels; - where none can be given. gap: how "
      "exactly the training problem is solved.\n\n{}\n",
      (c.by_truth ? *c.methods[0].truth : c.methods[0].estimated).reliable
          ? ""
          : "?: a guess; the rows are too few, or the target is too far from them, for a score or "
            "its error\nto mean anything. ",
      percent_that_holds(c.methods[0].certificate.delta), c.statement);
}

}  // namespace covshift::cli
