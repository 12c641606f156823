#include "covshift/diagnose/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace covshift {
namespace {

// docs/diagnose.md has the study of these.
constexpr double tolerated_drop = 0.05;  // of the accuracy, for "yes"

/// A share in whole percent, without calling anything nothing or everything.
std::string percent(double share) {
  const double x = 100 * share;
  if (x > 0 && x < 0.5) return "less than 1%";
  if (x < 100 && x >= 99.5) return "more than 99%";
  return fmt::format("{:.0f}%", x);
}

/// 1,234: as the page writes numbers of rows.
std::string count(std::size_t rows) {
  const std::string digits = fmt::format("{}", rows);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

bool many_unsupported(const TrustEvidence& e) {
  return e.unsupported >= some_unsupported && e.unsupported > 2 * e.unsupported_by_chance;
}

struct Ruling {
  Trust trust;
  const char* code;
  std::string headline;
};

/// The rows that most of the interval of the drop is due to.
const char* scarce_rows(const TrustEvidence& e) {
  const std::size_t labels = e.expected->labels;
  if (labels > 0) return labels < e.train_rows ? "labelled new rows" : "training rows";
  return e.shift ? "training rows like them" : "training rows";
}

/// By how good the model is on the target; labels need no other argument.
Ruling by_performance(const TrustEvidence& e) {
  const Expected& p = *e.expected;
  if (p.gain <= 0) {
    return {
        Trust::no, "uninformed",
        "On the new rows the model knows no more than how frequent each class was in training."};
  }
  if (p.largest_drop <= tolerated_drop) {
    return {Trust::yes, "small-drop",
            e.shift ? "The new rows differ from the training rows, but the model does about as "
                      "well on them."
                    : "The new rows look like the training rows, and the model does about as well "
                      "on them."};
  }
  if (p.least_drop > 0) {
    return {Trust::partly, "drop",
            fmt::format("The model is right less often on the new rows: on {}, against {} of "
                        "training rows.",
                        percent(p.accuracy), percent(p.training))};
  }
  return {Trust::partly, "uncertain",
          fmt::format("The model may do as well on the new rows as on training rows, but there are "
                      "too few {} to be sure.",
                      scarce_rows(e))};
}

Ruling decide(const TrustEvidence& e) {
  const bool known = e.expected && e.expected->reliable;
  if (known && (e.expected->labels > 0 || e.expected->gain <= 0)) return by_performance(e);
  if (!e.tested) {
    return {Trust::no, "untested", "There are too few rows to tell whether anything has changed."};
  }
  if (e.unsupported >= most_unsupported) {
    return {Trust::no, "unsupported",
            "Most new rows are unlike anything seen in training: what a model says about them is "
            "a guess."};
  }
  if (!e.shift && e.power < enough_power) {
    return {Trust::partly, "few-rows",
            fmt::format("Nothing has visibly changed, but {} rows are too few to notice a small "
                        "change.",
                        count(std::min(e.train_rows, e.target_rows)))};
  }
  if (!e.shift) {
    return {Trust::yes, "no-shift",
            "The new rows look like the training rows: expect what was seen in training."};
  }
  if (many_unsupported(e)) {
    return {Trust::partly, "some-unsupported",
            fmt::format("Not on the {} of the new rows that are unlike anything seen in training.",
                        percent(e.unsupported))};
  }
  if (!e.expected) {
    return {Trust::partly, "shift",
            "The new rows differ from the training rows; what that costs a model is not measured "
            "here."};
  }
  if (!known) {
    return {Trust::partly, "no-estimate",
            "The new rows are in places where the training rows are too few to say how good the "
            "model is."};
  }
  return by_performance(e);
}

void describe_performance(TrustAnswer& a) {
  const TrustEvidence& e = a.from;
  if (!e.expected) {
    a.performance = "Not measured";
    a.basis =
        "A diagnosis looks at the inputs and fits no model. A comparison of methods estimates "
        "how good each will be.";
    return;
  }
  const Expected& p = *e.expected;
  const std::string before =
      fmt::format("On training rows it had not seen it was right on {}.", percent(p.training));
  if (!p.reliable) {
    a.performance = "Unknown";
    a.basis = fmt::format(
        "{} {}",
        p.labels > 0
            ? fmt::format("{} labelled new rows are too few to measure it.", count(p.labels))
            : "It cannot be estimated from training rows; labels of some new rows "
              "would tell.",
        before);
    return;
  }
  a.performance = fmt::format("Right on {}{} of the new rows", p.labels > 0 ? "" : "about ",
                              percent(p.accuracy));
  const std::string interval =
      fmt::format("{:.4g}% interval {} to {}", 100 * p.level, percent(p.low), percent(p.high));
  a.basis = p.labels > 0
                ? fmt::format("Measured on {} labelled new rows; {}. {}", count(p.labels), interval,
                              before)
                : fmt::format(
                      "An estimate from training rows weighted to look like the new rows; {}, if "
                      "equal rows still have equal labels. {}",
                      interval, before);
}

void describe_evidence(TrustAnswer& a) {
  const TrustEvidence& e = a.from;
  if (!e.tested) {
    a.evidence = {"A sample has only one row: there is nothing to compare it with."};
    return;
  }
  a.evidence.push_back(
      many_unsupported(e)
          ? fmt::format("{} of the new rows are unlike anything seen in training ({} by chance).",
                        percent(e.unsupported), percent(e.unsupported_by_chance))
          : fmt::format(
                "Only {} of the new rows are unlike anything seen in training ({} expected by "
                "chance).",
                percent(e.unsupported), percent(e.unsupported_by_chance)));
  a.evidence.push_back(
      e.shift ? fmt::format("A classifier tells new rows from training rows in {} of pairs (50% is "
                            "chance).",
                            percent(e.auc))
              : fmt::format("A test cannot tell new rows from training rows better than chance; it "
                            "would notice {} of changes by half a standard deviation.",
                            percent(e.power)));
  if (e.shift && e.unsupported < most_unsupported) {  // weights say nothing about rows elsewhere
    a.evidence.push_back(fmt::format(
        "After weighting, the {} training rows are equivalent to {} new rows.", count(e.train_rows),
        count(static_cast<std::size_t>(std::round(e.effective_sample_size)))));
  }
}

/// What to do with a classifier that exists already.
std::string advice_for_use(const TrustAnswer& a, bool elsewhere) {
  if (a.trust == Trust::yes) return "Use it on the new rows.";
  if (a.trust == Trust::no) {
    return "Do not act on its answers unchecked. Label some of the new rows, best those that the "
           "report lists, and train on them too.";
  }
  return elsewhere ? "Use it, but check its answers on the rows that the report lists, and label "
                     "those first."
                   : "Use it, and check some of its answers.";
}

std::string advice(const TrustAnswer& a) {
  if (a.code == "untested") return "Collect more rows.";
  const bool elsewhere = a.code == "some-unsupported" || a.code == "no-estimate";
  if (a.from.expected && a.from.expected->model.empty()) return advice_for_use(a, elsewhere);
  const std::string model = a.from.expected ? a.from.expected->model : "the default model";
  if (a.trust == Trust::yes) return fmt::format("Fit {} with the new rows.", model);
  if (a.trust == Trust::no) {
    return fmt::format(
        "Label some of the new rows, best those that the report lists, and train on them too. "
        "Until "
        "then fit {} with the new rows, and do not act on its answers unchecked.",
        model);
  }
  return fmt::format(
      "Fit {} with the new rows{}", model,
      elsewhere ? "; check its answers on the rows that the report lists, and label those first."
                : ", and check some of its answers.");
}

}  // namespace

TrustAnswer trust(const TrustEvidence& evidence) {
  Ruling ruling = decide(evidence);
  TrustAnswer a;
  a.trust = ruling.trust;
  a.code = ruling.code;
  a.headline = std::move(ruling.headline);
  a.from = evidence;
  describe_performance(a);
  describe_evidence(a);
  a.next = advice(a);
  return a;
}

nlohmann::ordered_json to_json(const TrustAnswer& a) {
  using Json = nlohmann::ordered_json;
  Json expected = nullptr;
  if (a.from.expected) {
    const Expected& p = *a.from.expected;
    expected = {{"model", p.model},
                {"labels", p.labels},
                {"reliable", p.reliable},
                {"accuracy", p.accuracy},
                {"level", p.level},
                {"low", p.low},
                {"high", p.high},
                {"training", p.training},
                {"least_drop", p.least_drop},
                {"largest_drop", p.largest_drop},
                {"gain", p.gain}};
  }
  return {{"answer", to_string(a.trust)},
          {"code", a.code},
          {"headline", a.headline},
          {"performance", a.performance},
          {"basis", a.basis},
          {"evidence", a.evidence},
          {"next", a.next},
          {"expected", std::move(expected)}};
}

}  // namespace covshift
