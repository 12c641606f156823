#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/lab/result.hpp"
#include "covshift/lab/statistics.hpp"

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

/// A claim of the paper about every row of a table: a method is better than each of its rivals.
struct Claim {
  const Json& table;
  std::string_view text;
  std::string_view one;
  std::vector<std::string> rivals;  ///< methods, or "guessing"
  bool accuracy = false;            ///< compared by accuracy (table 1 always is)
  bool ties = false;                ///< it is enough not to be significantly worse
  bool worse = false;               ///< the claim is that the method is worse
};

/// A mean with the p of a paired test against a rival.
struct Compared {
  std::string rival;
  double mean = 0, rival_mean = 0, p = 1;
};

/// The best rival by its mean, and the test against it.
Compared best_rival(const Claim& claim, const Json& row, bool larger_is_better) {
  const auto numbers = [&](std::string_view method) -> const Json& {
    const Json& own = find(row["methods"], "method", method);
    return claim.accuracy && own.contains("accuracy") ? own["accuracy"] : own;
  };
  const Json& one = numbers(claim.one);
  Compared best;
  for (const std::string& rival : claim.rivals) {
    Compared next{rival, one["mean"], std::log2(6), 1};
    if (rival == "guessing") {
      const double error = one["standard_error"];
      next.p =
          p_of_t((next.mean - next.rival_mean) / error, claim.table["draws"].get<double>() - 1);
    } else {
      next.rival_mean = numbers(rival)["mean"];
      next.p = one["against"][rival]["p"];
    }
    const double lead = next.rival_mean - best.rival_mean;
    if (best.rival.empty() || (larger_is_better ? lead > 0 : lead < 0)) best = next;
  }
  return best;
}

/// On each data set a claim holds, is open, or is contradicted.
std::string claim_row(const Claim& claim) {
  const bool larger_is_better = claim.accuracy || claim.table["measure"] == "accuracy";
  const double level = claim.table["level"];
  Texts holds;
  Texts open;
  Texts contradicted;
  Texts numbers;
  for (const Json& row : claim.table["rows"]) {
    const std::string name = row["name"];
    const Compared c = best_rival(claim, row, larger_is_better);
    const bool better = (larger_is_better ? c.mean > c.rival_mean : c.mean < c.rival_mean);
    const bool as_claimed = better != claim.worse;
    const bool decided = c.p < level;
    (decided ? (as_claimed ? holds : contradicted) : (claim.ties ? holds : open)).push_back(name);
    numbers.push_back(fmt::format("{} {:.3f} against {} {:.3f} (p = {:.2g})", name, c.mean, c.rival,
                                  c.rival_mean, c.p));
  }
  std::string verdict = fmt::format("holds on {} of {}", holds.size(), claim.table["rows"].size());
  if (!holds.empty()) verdict += fmt::format(": {}", fmt::join(holds, ", "));
  if (!open.empty()) verdict += fmt::format("; not decided: {}", fmt::join(open, ", "));
  if (!contradicted.empty()) {
    verdict += fmt::format("; contradicted: {}", fmt::join(contradicted, ", "));
  }
  return markdown_row(
      {std::string(claim.text), verdict, fmt::format("{}", fmt::join(numbers, "; "))});
}

/// What was added to the paper's methods, against the best of LR and IW and against Robust-View.
std::string beyond_page(const LabResult& result) {
  const Json& table = result.json;
  std::string text =
      "## What makes the paper's idea win\n\nThe draws of table 2, with assumptions that the paper "
      "does not have: `overlap` (r = min(P_train/P_test, 1): evidence fades where training data "
      "are "
      "scarce and is never amplified) and tempering (r = (P_train/P_test)^(1-g), g fixed or chosen "
      "by IWCV), and a Nystroem map of all columns (`nystroem:50`). A method wins where it is "
      "significantly better than the better one of LR and IW, "
      "and loses where it is significantly worse (paired t-test).\n\n" +
      markdown_heading({"method", "wins", "loses", "mean over data sets",
                        "against the better of LR "
                        "and IW"});
  for (const Json& method : table["rows"][0]["methods"]) {
    const std::string name = method["method"];
    if (name == "lr" || name == "iw") continue;
    Texts wins;
    Texts losses;
    Texts numbers;
    double total = 0;
    for (const Json& row : table["rows"]) {
      const Compared c = best_rival({table, "", name, {"lr", "iw"}}, row, false);
      const std::string data = row["name"];
      if (c.p < table["level"].get<double>())
        (c.mean < c.rival_mean ? wins : losses).push_back(data);
      total += c.mean / static_cast<double>(table["rows"].size());
      numbers.push_back(fmt::format("{} {:+.3f} (p = {:.2g})", data, c.mean - c.rival_mean, c.p));
    }
    const auto listed = [](const Texts& names) {
      return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    };
    text += markdown_row({name, listed(wins), listed(losses), fmt::format("{:.3f}", total),
                          fmt::format("{}", fmt::join(numbers, "; "))});
  }
  return text + "\n";
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

std::string claims_table(const Json& one, const Json& two, const Json& three) {
  const std::vector<Claim> list = {
      {one,
       "Table 1: Robust 0-1 is the best in accuracy, or not distinguishable from it",
       "robust01",
       {"adv01", "svm", "iw-svm"},
       false,
       true},
      {one, "Table 1: Robust 0-1 improves on Adv 0-1", "robust01", {"adv01"}},
      {one,
       "Table 1: Robust 0-1 is better than all others (the paper: except on Seed)",
       "robust01",
       {"adv01", "svm", "iw-svm"}},
      {two, "Table 2: Robust-View has the lowest log loss", "robust-view", {"robust", "lr", "iw"}},
      {two,
       "Table 2: Robust-View improves on Robust in log loss (the paper: comparable on Seed)",
       "robust-view",
       {"robust"}},
      {two,
       "Table 2: Robust-View improves on Robust in accuracy (the paper: comparable on Vehicle)",
       "robust-view",
       {"robust"},
       true},
      {two, "Table 2: Robust has a lower log loss than LR and IW", "robust", {"lr", "iw"}},
      {two,
       "Table 2: Robust is comparable with LR and IW in accuracy",
       "robust",
       {"lr", "iw"},
       true,
       true},
      {three,
       "Table 3: LR is worse than guessing (log2 6 = 2.585 bits)",
       "lr",
       {"guessing"},
       false,
       false,
       true},
      {three, "Table 3: IW is worse than guessing", "iw", {"guessing"}, false, false, true},
      {three, "Table 3: Robust is better than guessing", "robust", {"guessing"}},
      {three, "Table 3: Robust-View is better than guessing", "robust-view", {"guessing"}},
      {three,
       "Table 3: Robust-View has the lowest log loss",
       "robust-view",
       {"robust", "lr", "iw"}},
      {three, "Table 3: Robust-View improves on Robust in log loss", "robust-view", {"robust"}},
      {three,
       "Table 3: Robust-View improves on Robust in accuracy",
       "robust-view",
       {"robust"},
       true}};
  std::string text = markdown_heading({"claim of the paper", "verdict", "against its best rival"});
  for (const Claim& claim : list) text += claim_row(claim);
  return text;
}

std::string results_page(std::span<const LabResult> results) {
  const Json& one = find(results, "table1").json;
  const Json& two = find(results, "table2").json;
  const Json& three = find(results, "table3").json;
  const Json& sweep = find(results, "sweep").json;
  std::string text = fmt::format(
      "# Which of the paper's claims hold\n\nMade by `covshift reproduce all --data DIR -o OUT "
      "--seed {}`: every number and verdict on this page is computed from that run. Tables 1 and 2 "
      "are judged on {} draws over {} seeds, table 3 on {}. A claim holds on a data set if the "
      "method "
      "differs from its best rival as claimed by a paired t-test over the draws, at the paper's "
      "level ({} for accuracy, {} for log loss); it is contradicted if it differs significantly "
      "the "
      "other way, and not decided otherwise. Where the paper claims no more than a tie, a "
      "difference "
      "that is not significant is enough.\n\nThe paper does not say by "
      "which feature the data are split, where, how sharply, or how a and b are drawn. A hard "
      "split at the median of a random feature makes the two samples perfectly separable. Here one "
      "row in ten crosses the split, because accuracies are then close to the paper's (see \"How "
      "sharp the split was\"). This is the default reading; the map shows others.\n\n## Claim by "
      "claim\n\n",
      one["seed"].get<unsigned long long>(), one["draws"].get<int>(), one["seeds"].get<int>(),
      three["draws"].get<int>(), one["level"].get<double>(), two["level"].get<double>());
  text += claims_table(one, two, three);
  text += "\nThe figures' claims are judged in docs/figures.md, with the numbers below.\n\n";
  text += beyond_page(find(results, "beyond"));
  text += "## Why\n\n" + reasons(one, sweep) + "\n";
  for (const char* name :
       {"table1", "table2", "table3", "beyond", "sweep", "figure1", "figure2", "figure3"}) {
    text += included(find(results, name));
  }
  return text;
}

}  // namespace covshift
