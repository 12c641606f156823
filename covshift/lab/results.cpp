#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "covshift/base/error.hpp"
#include "covshift/lab/result.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

const LabResult& find(std::span<const LabResult> results, std::string_view name) {
  for (const LabResult& result : results) {
    if (result.name == name) return result;
  }
  fail_input("the page of results needs {}, which was not run", name);
}

/// The element of a list whose `key` is `value`.
const Json& find(const Json& list, const char* key, std::string_view value) {
  for (const Json& element : list) {
    if (element[key] == value) return element;
  }
  fail_input("the results have no {} '{}'", key, value);
}

double mean_of(const Json& row, std::string_view method) {
  return find(row["methods"], "method", method)["mean"];
}

/// A claim of the paper about every row of a table, and the two methods whose numbers show it.
struct Claim {
  const Json& table;
  std::string_view text;
  std::function<bool(const Json&)> holds;
  std::string_view one, other;
};

/// A row predicate: `one` has a smaller mean than each of the others.
std::function<bool(const Json&)> below(std::string_view one,
                                       const std::vector<std::string_view>& others) {
  return [=](const Json& row) {
    return std::all_of(others.begin(), others.end(), [&](std::string_view other) {
      return mean_of(row, one) < mean_of(row, other);
    });
  };
}

std::string claim_row(const Claim& claim) {
  Texts names;
  Texts numbers;
  for (const Json& row : claim.table["rows"]) {
    const std::string name = row["name"];
    if (claim.holds(row)) names.push_back(name);
    const Json& one = find(row["methods"], "method", claim.one);
    numbers.push_back(fmt::format("{} {:.3f} against {:.3f} (p = {:.2g})", name,
                                  one["mean"].get<double>(), mean_of(row, claim.other),
                                  one["against"][std::string(claim.other)]["p"].get<double>()));
  }
  const std::size_t rows = numbers.size();
  const char* verdict = names.size() == rows ? "holds"
                        : names.empty()      ? "does not hold"
                                             : "holds in part";
  return markdown_row({std::string(claim.text),
                       fmt::format("{}: {} of {}{}{}", verdict, names.size(), rows,
                                   names.empty() ? "" : ", ", fmt::join(names, ", ")),
                       fmt::format("{}", fmt::join(numbers, "; "))});
}

std::string claims(const Json& one, const Json& two, const Json& three) {
  const double guess = std::log2(6);
  const std::vector<Claim> list = {
      {one,
       "Table 1: Robust 0-1 is the best in accuracy, or not distinguishable from it (level 0.1), "
       "on every data set",
       [](const Json& row) {
         return find(row["methods"], "method", "robust01")["best"].get<bool>();
       },
       "robust01", "svm"},
      {one, "Table 1: Robust 0-1 improves on Adv 0-1", below("adv01", {"robust01"}), "robust01",
       "adv01"},
      {two, "Table 2: Robust-View has the lowest mean log loss",
       below("robust-view", {"robust", "lr", "iw"}), "robust-view", "lr"},
      {two, "Table 2: Robust-View improves on Robust", below("robust-view", {"robust"}),
       "robust-view", "robust"},
      {two, "Table 2: Robust has a lower log loss than LR", below("robust", {"lr"}), "robust",
       "lr"},
      {two, "Table 2: Robust has a lower log loss than IW", below("robust", {"iw"}), "robust",
       "iw"},
      {three, "Table 3: LR and IW are worse than guessing (log2 6 = 2.585 bits)",
       [&](const Json& row) { return mean_of(row, "lr") > guess && mean_of(row, "iw") > guess; },
       "lr", "iw"},
      {three, "Table 3: Robust and Robust-View are better than guessing",
       [&](const Json& row) {
         return mean_of(row, "robust") < guess && mean_of(row, "robust-view") < guess;
       },
       "robust-view", "robust"},
      {three, "Table 3: Robust-View improves on Robust", below("robust-view", {"robust"}),
       "robust-view", "robust"},
      {three, "Table 3: Robust-View has a lower log loss than LR", below("robust-view", {"lr"}),
       "robust-view", "lr"}};
  std::string text = markdown_heading({"claim of the paper", "verdict", "numbers"});
  for (const Claim& claim : list) text += claim_row(claim);
  return text;
}

/// Mean over the data sets of a number of one method under one reading of the sweep.
double average(const Json& sweep, std::string_view label, std::string_view method,
               const char* what) {
  const Json& cell = find(sweep["cells"], "label", label);
  const Json& datasets = find(cell["methods"], "method", method)["datasets"];
  double sum = 0;
  for (const Json& numbers : datasets) sum += numbers[what].get<double>();
  return sum / static_cast<double>(datasets.size());
}

/// The mean log losses of methods under readings of the sweep.
std::string compared(const Json& sweep, const Texts& labels, const Texts& methods) {
  Texts head = {"reading"};
  head.insert(head.end(), methods.begin(), methods.end());
  std::string text = markdown_heading(head);
  for (const std::string& label : labels) {
    Texts row = {label};
    for (const std::string& method : methods) {
      row.push_back(fmt::format("{:.2f}", average(sweep, label, method, "mean")));
    }
    text += markdown_row(row);
  }
  return text;
}

std::string severity(std::string_view crossing, std::string_view rule) {
  return fmt::format("{} of the rows cross, ratio {}", crossing, rule);
}

/// Accuracies of lr by how sharp the split is, beside the paper's.
std::string sharpness(const Json& one, const Json& sweep) {
  std::string text =
      "### How sharp the split was\n\nAccuracy of lr by the share of rows that cross the split, "
      "and the accuracies of the paper's table 1 from the worst to the best of its methods:\n\n" +
      markdown_heading({"data set", "hard split", "0.05", "0.1", "0.2", "0.5", "the paper"});
  for (const Json& row : one["rows"]) {
    Texts cells = {row["name"]};
    for (const char* crossing : {"0", "0.05", "0.1", "0.2", "0.5"}) {
      const Json& cell = find(sweep["cells"], "label", severity(crossing, "stable"));
      const Json& lr = find(cell["methods"], "method", "lr")["datasets"][cells[0]];
      cells.push_back(fmt::format("{:.2f}", lr["mean_accuracy"].get<double>()));
    }
    std::vector<double> paper;
    for (const Json& method : row["methods"]) paper.push_back(method["paper"]);
    const auto [low, high] = std::minmax_element(paper.begin(), paper.end());
    cells.push_back(fmt::format("{:.2f} to {:.2f}", *low, *high));
    text += markdown_row(cells);
  }
  return text + "\n";
}

std::string reasons(const Json& one, const Json& sweep) {
  const Texts all = {"robust-view", "robust", "lr", "iw"};
  const Texts shifted = {"robust-view", "robust", "iw"};
  const std::string now = severity("0.1", "stable");
  std::string text =
      "Tables without data sets show log losses in bits, averaged over the four data sets of the "
      "sweep.\n\n" +
      sharpness(one, sweep) +
      "### Regularisation of the ratio\n\nRobust divides its potentials by the density ratio. With "
      "a ratio near 1 it is LR; with extreme ratios it guesses, and importance weighting is left "
      "with a handful of examples. Cross validation of the ratio prefers extreme ratios as soon as "
      "the samples can be told apart; the paper's formula, applied to a mean loss, gives a ratio "
      "of about 1. The rule `stable` (the default) is cross validation with enough regularisation "
      "to leave the weights an effective sample of half the rows, at most 100.\n\n";
  Texts labels;
  for (const char* crossing : {"0", "0.1", "0.3"}) {
    for (const char* rule : {"cv", "stable"}) labels.push_back(severity(crossing, rule));
  }
  text += "Before (cv) and after (stable):\n\n" + compared(sweep, labels, all);
  constexpr const char* size = "mean_effective_sample_size";
  text += fmt::format("\nEffective sample size of 100 rows: cv {:.0f}, stable {:.0f}.\n\n",
                      average(sweep, severity("0.1", "cv"), "iw", size),
                      average(sweep, now, "iw", size));
  labels = {"ratio lambda paper", "ratio lambda 0.1", "ratio lambda 0.03", "ratio lambda 0.01",
            "ratio lambda 0.001"};
  text += compared(sweep, labels, all);
  text += fmt::format(
      "\n### Model selection\n\nThe grid's smallest lambda is chosen most of the time (mean log2 "
      "lambda: lr {:.1f}, iw {:.1f}, robust {:.1f}): held-out training rows, weighted or not, lie "
      "where the training data are, and less regularisation is better there. On the target, LR and "
      "IW pay for it. (Copies of a row, which sampling with replacement creates, are held out "
      "together.) The results of one lambda for all methods:\n\n",
      average(sweep, now, "lr", "mean_log2_lambda"), average(sweep, now, "iw", "mean_log2_lambda"),
      average(sweep, now, "robust", "mean_log2_lambda"));
  labels = {now};
  for (const int power : {-16, -12, -8, -4, 0}) {
    labels.push_back(fmt::format("lambda 2^{} for all", power));
  }
  text += compared(sweep, labels, all);
  text += fmt::format(
      "\n### Views\n\nA generalized view has r near 1: its evidence counts as in LR. So "
      "Robust-View lies between Robust and importance weighting, closer to the latter the more "
      "views generalize; it gains where Robust is too cautious and loses where LR is "
      "overconfident. With the threshold 0.1, {:.1f} views generalize on average.\n\n",
      average(sweep, now, "robust-view", "mean_generalized_views"));
  text += compared(sweep, {"view threshold 0", "view threshold 0.01", now, "view threshold 1"},
                   shifted);
  text +=
      "\n### The bias\n\nThe bias is under the joint assumption. Letting it generalize fully (r = "
      "1) extends the training sample's class shares to regions without training data:\n\n";
  return text + compared(sweep, {now, "the bias generalizes fully (r = 1)"}, shifted);
}

/// A result's own page with its headings one level down.
std::string included(const LabResult& result) {
  std::string text = "#" + result.markdown;
  for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos; at += 2) {
    text.insert(at + 1, 1, '#');
  }
  return text + "\n";
}

}  // namespace

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_heading(const std::vector<std::string>& cells) {
  std::string text = markdown_row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += "---|";
  return text + "\n";
}

std::string results_page(std::span<const LabResult> results) {
  const Json& one = find(results, "table1").json;
  const Json& two = find(results, "table2").json;
  const Json& three = find(results, "table3").json;
  const Json& sweep = find(results, "sweep").json;
  std::string text = fmt::format(
      "# Which of the paper's claims hold\n\nMade by `covshift reproduce all --data DIR -o OUT "
      "--seed {}`: every number and verdict on this page is computed from that run. A claim about "
      "means holds on a data set if the means are in the claimed order; p is that of the paired "
      "t-test over the draws, to tell a real difference from chance.\n\nThe paper does not say by "
      "which feature the data are split, where, how sharply, or how a and b are drawn. A hard "
      "split at the median of a random feature makes the two samples perfectly separable. Here one "
      "row in ten crosses the split, because accuracies are then close to the paper's (see \"How "
      "sharp the split was\"). This is the default reading; the map shows others.\n\n## Claim by "
      "claim\n\n",
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
