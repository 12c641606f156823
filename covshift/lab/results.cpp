#include "covshift/lab/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

const LabResult& find(std::span<const LabResult> results, std::string_view name) {
  for (const LabResult& result : results) {
    if (result.name == name) return result;
  }
  fail_input("the page of results needs {}, which was not run", name);
}

const Json& of_method(const Json& methods, std::string_view name) {
  for (const Json& method : methods) {
    if (method["method"] == name) return method;
  }
  fail_input("there is no method {} among the results", name);
}

double mean_of(const Json& row, std::string_view method) {
  return of_method(row["methods"], method)["mean"];
}

/// p of the paired t-test between two methods of a table's row.
double p_of(const Json& row, std::string_view one, std::string_view other) {
  return of_method(row["methods"], one)["against"][std::string(other)]["p"];
}

/// Rows of a table where something holds, by name, and how many there are.
struct Rows {
  std::string names;
  std::size_t count = 0, of = 0;
};
Rows rows_where(const Json& table, const std::function<bool(const Json&)>& holds) {
  Rows out;
  for (const Json& row : table["rows"]) {
    ++out.of;
    if (!holds(row)) continue;
    ++out.count;
    out.names += (out.names.empty() ? "" : ", ") + row["name"].get<std::string>();
  }
  return out;
}

std::string_view verdict(const Rows& rows) {
  if (rows.count == rows.of) return "holds";
  return rows.count == 0 ? "does not hold" : "holds in part";
}

std::string claim(std::string_view what, const Rows& rows, const std::string& numbers) {
  return fmt::format("| {} | {}: {} of {}{}{} | {} |\n", what, verdict(rows), rows.count, rows.of,
                     rows.names.empty() ? "" : ", ", rows.names, numbers);
}

/// "Seed 0.51 against 1.74; ...": the means of two methods in every row.
std::string against(const Json& table, std::string_view one, std::string_view other) {
  std::string text;
  for (const Json& row : table["rows"]) {
    text += fmt::format("{}{} {:.3f} against {:.3f} (p = {:.2g})", text.empty() ? "" : "; ",
                        row["name"].get<std::string>(), mean_of(row, one), mean_of(row, other),
                        p_of(row, one, other));
  }
  return text;
}

bool better(const Json& row, std::string_view one, std::string_view other, bool high) {
  return high ? mean_of(row, one) > mean_of(row, other) : mean_of(row, one) < mean_of(row, other);
}

std::string claims(const Json& one, const Json& two, const Json& three) {
  std::string text = "| claim of the paper | verdict | numbers |\n|---|---|---|\n";
  text += claim(
      "Table 1: Robust 0-1 is the best in accuracy, or not distinguishable from it (level "
      "0.1), on every data set",
      rows_where(one,
                 [](const Json& row) {
                   return of_method(row["methods"], "robust01")["best"].get<bool>();
                 }),
      against(one, "robust01", "svm"));
  text +=
      claim("Table 1: Robust 0-1 improves on Adv 0-1",
            rows_where(one, [](const Json& row) { return better(row, "robust01", "adv01", true); }),
            against(one, "robust01", "adv01"));
  text += claim("Table 2: Robust-View has the lowest mean log loss",
                rows_where(two,
                           [](const Json& row) {
                             return better(row, "robust-view", "robust", false) &&
                                    better(row, "robust-view", "lr", false) &&
                                    better(row, "robust-view", "iw", false);
                           }),
                against(two, "robust-view", "lr"));
  text += claim(
      "Table 2: Robust-View improves on Robust",
      rows_where(two, [](const Json& row) { return better(row, "robust-view", "robust", false); }),
      against(two, "robust-view", "robust"));
  text += claim("Table 2: Robust has a lower log loss than LR",
                rows_where(two, [](const Json& row) { return better(row, "robust", "lr", false); }),
                against(two, "robust", "lr"));
  text += claim("Table 2: Robust has a lower log loss than IW",
                rows_where(two, [](const Json& row) { return better(row, "robust", "iw", false); }),
                against(two, "robust", "iw"));
  const double guess = std::log2(6);
  text += claim("Table 3: LR and IW are worse than guessing (log2 6 = 2.585 bits)",
                rows_where(three,
                           [&](const Json& row) {
                             return mean_of(row, "lr") > guess && mean_of(row, "iw") > guess;
                           }),
                against(three, "lr", "iw"));
  text += claim("Table 3: Robust and Robust-View are better than guessing",
                rows_where(three,
                           [&](const Json& row) {
                             return mean_of(row, "robust") < guess &&
                                    mean_of(row, "robust-view") < guess;
                           }),
                against(three, "robust-view", "robust"));
  text +=
      claim("Table 3: Robust-View improves on Robust",
            rows_where(three,
                       [](const Json& row) { return better(row, "robust-view", "robust", false); }),
            against(three, "robust-view", "robust"));
  text += claim(
      "Table 3: Robust-View has a lower log loss than LR",
      rows_where(three, [](const Json& row) { return better(row, "robust-view", "lr", false); }),
      against(three, "robust-view", "lr"));
  return text;
}

const Json& cell(const Json& sweep, std::string_view label) {
  for (const Json& entry : sweep["cells"]) {
    if (entry["label"] == label) return entry;
  }
  fail_input("the sweep has no reading '{}'", label);
}

/// Mean over the data sets of a number of one method under one reading.
double average(const Json& entry, std::string_view method, const char* what) {
  double sum = 0;
  double n = 0;
  for (const auto& [name, numbers] : of_method(entry["methods"], method)["datasets"].items()) {
    sum += numbers[what].get<double>();
    n += 1;
  }
  return sum / n;
}

std::string compared(const Json& sweep, std::span<const std::string> labels,
                     std::span<const std::string> methods) {
  std::string text = "| reading |";
  for (const std::string& method : methods) text += fmt::format(" {} |", method);
  text += "\n|---|";
  for (std::size_t i = 0; i < methods.size(); ++i) text += "---|";
  text += "\n";
  for (const std::string& label : labels) {
    const Json& entry = cell(sweep, label);
    text += fmt::format("| {} |", label);
    for (const std::string& method : methods) {
      text += fmt::format(" {:.2f} |", average(entry, method, "mean"));
    }
    text += "\n";
  }
  return text;
}

/// Accuracies of lr by how sharp the split is, beside the paper's.
std::string sharpness(const Json& one, const Json& sweep) {
  std::string text =
      "### How sharp the split was\n\nAccuracy of lr by the share of rows that cross the split, "
      "and "
      "the accuracies of the paper's table 1 from the worst to the best of its methods:\n\n"
      "| data set | hard split | 0.05 | 0.1 | 0.2 | 0.5 | the paper "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const Json& row : one["rows"]) {
    const std::string name = row["name"];
    text += fmt::format("| {} |", name);
    for (const char* crossing : {"0", "0.05", "0.1", "0.2", "0.5"}) {
      const Json& entry = cell(sweep, fmt::format("{} of the rows cross, ratio stable", crossing));
      const double accuracy = of_method(entry["methods"], "lr")["datasets"][name]["mean_accuracy"];
      text += fmt::format(" {:.2f} |", accuracy);
    }
    double low = 1;
    double high = 0;
    for (const Json& method : row["methods"]) {
      low = std::min(low, method["paper"].get<double>());
      high = std::max(high, method["paper"].get<double>());
    }
    text += fmt::format(" {:.2f} to {:.2f} |\n", low, high);
  }
  return text + "\n";
}

std::string reasons(const Json& one, const Json& sweep) {
  const std::vector<std::string> all = {"robust-view", "robust", "lr", "iw"};
  const std::vector<std::string> shifted = {"robust-view", "robust", "iw"};
  const std::string now = "0.1 of the rows cross, ratio stable";
  std::string text =
      "Numbers in tables without data sets are log losses in bits, averaged over the four data "
      "sets "
      "of the sweep.\n\n" +
      sharpness(one, sweep) +
      "### The ratio's regularisation decides\n\n"
      "Robust divides its potentials by the density ratio. A ratio near 1 makes it LR; an extreme "
      "one makes it a guess, and leaves importance weighting a handful of examples. Cross "
      "validation of the ratio asks for extreme ones as soon as the samples can be told apart; the "
      "paper's formula, taken for a mean loss, for a ratio of about 1. The rule `stable` (the "
      "default) is cross validation with enough regularisation to leave the weights an effective "
      "sample of half the rows, at most 100.\n\n";
  std::vector<std::string> labels;
  for (const char* crossing : {"0", "0.1", "0.3"}) {
    for (const char* rule : {"cv", "stable"}) {
      labels.push_back(fmt::format("{} of the rows cross, ratio {}", crossing, rule));
    }
  }
  text += "Before (cv) and after (stable):\n\n" + compared(sweep, labels, all);
  text += "\nEffective sample size of 100 rows: ";
  for (const char* rule : {"cv", "stable"}) {
    text += fmt::format("{} {:.0f}{}", rule,
                        average(cell(sweep, fmt::format("0.1 of the rows cross, ratio {}", rule)),
                                "iw", "mean_effective_sample_size"),
                        std::string_view(rule) == "cv" ? ", " : ".\n\n");
  }
  labels = {"ratio lambda paper", "ratio lambda 0.1", "ratio lambda 0.03", "ratio lambda 0.01",
            "ratio lambda 0.001"};
  text += compared(sweep, labels, all);
  text += fmt::format(
      "\n### Model selection\n\nThe grid's smallest lambda is chosen most of the time (mean log2 "
      "lambda: lr {:.1f}, iw {:.1f}, robust {:.1f}): held-out training rows, weighted or not, lie "
      "where the training data are, and there less regularisation is better. On the target it is "
      "LR and IW that pay for it. (Copies of a row, which sampling with replacement makes, are "
      "held "
      "out together.) What one lambda for all would have given:\n\n",
      average(cell(sweep, now), "lr", "mean_log2_lambda"),
      average(cell(sweep, now), "iw", "mean_log2_lambda"),
      average(cell(sweep, now), "robust", "mean_log2_lambda"));
  labels = {now};
  for (const int power : {-16, -12, -8, -4, 0}) {
    labels.push_back(fmt::format("lambda 2^{} for all", power));
  }
  text += compared(sweep, labels, all);
  text += fmt::format(
      "\n### Views\n\nA generalized view has r near 1: its evidence counts as in LR. So "
      "Robust-View "
      "lies between Robust and importance weighting, the nearer to the latter the more views "
      "generalize, and it gains where Robust is too careful and loses where LR is too bold. With "
      "the threshold 0.1, {:.1f} views generalize on average.\n\n",
      average(cell(sweep, now), "robust-view", "mean_generalized_views"));
  labels = {"view threshold 0", "view threshold 0.01", now, "view threshold 1"};
  text += compared(sweep, labels, shifted);
  text +=
      "\n### The bias\n\nThe bias is under the joint assumption. Letting it generalize fully (r "
      "= 1) carries the training sample's class shares to where there are no training "
      "data:\n\n";
  labels = {now, "the bias generalizes fully (r = 1)"};
  text += compared(sweep, labels, shifted);
  return text;
}

/// A result's own page below a heading of level 2.
std::string included(const LabResult& result) {
  std::string text;
  for (std::size_t at = 0; at < result.markdown.size();) {
    const std::size_t end =
        std::min(result.markdown.find('\n', at), result.markdown.size() - 1) + 1;
    const std::string line = result.markdown.substr(at, end - at);
    text += (line.starts_with('#') ? "#" : "") + line;
    at = end;
  }
  return text + "\n";
}

}  // namespace

std::string results_page(std::span<const LabResult> results) {
  const Json& one = find(results, "table1").json;
  const Json& two = find(results, "table2").json;
  const Json& three = find(results, "table3").json;
  const Json& sweep = find(results, "sweep").json;
  std::string text = fmt::format(
      "# What of the paper holds\n\nMade by `covshift reproduce all --data DIR -o OUT --seed {}`: "
      "every number and verdict on this page is computed from that run. A claim about means holds "
      "on a data set if the means are in the claimed order; p is of the paired t-test over the "
      "draws, so that the reader can tell an order from an accident.\n\n"
      "The paper leaves open by which feature the data are split, where, how sharply, and how a "
      "and b are drawn. A hard split at the median of a random feature makes the two samples "
      "perfectly separable. Here one row in ten crosses the split, because accuracies then come "
      "near "
      "the paper's (see \"How sharp the split was\"); that is the default reading, and the map has "
      "the "
      "others.\n\n## Claim by claim\n\n",
      one["seed"].get<unsigned long long>());
  text += claims(one, two, three);
  text += "\nThe figures' claims are judged in docs/figures.md, with the numbers below.\n\n";
  text += "## Why\n\n" + reasons(one, sweep) + "\n";
  for (const char* name :
       {"table1", "table2", "table3", "sweep", "figure1", "figure2", "figure3"}) {
    text += included(find(results, name));
  }
  return text;
}

}  // namespace covshift
