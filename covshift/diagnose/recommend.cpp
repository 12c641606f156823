#include "covshift/diagnose/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covshift/base/names.hpp"
#include "covshift/diagnose/trust.hpp"

namespace covshift {
namespace {

// The share of the target without support in training above which no method can help; if no view is
// stable, above most_unsupported.
constexpr double all_unsupported = 0.9;
constexpr double weighting_suffices = 0.5;  // effective sample size, as a share of the rows

// Nothing is measured here that would tell methods apart, so the choice is left to where it is.
constexpr std::string_view default_fit =
    "Use the default fit: it tries logistic regression and models that allow for the shift, and "
    "mixes them by what held-out rows show. No single method does as well over many tasks.";

/// A list for a sentence: the first names and the number of the others.
std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::vector<std::string_view> words(names.begin(), names.end());
  if (words.size() <= most) return listed(words, ", ");
  const std::string others = fmt::format("{} more", words.size() - most);
  words.resize(most);
  words.push_back(others);
  return listed(words, " and ");
}

class Writer {
 public:
  explicit Writer(const Diagnosis& d)
      : d_(d), ess_(d.effective_sample_size / static_cast<double>(d.train_rows)) {
    std::vector<const ViewDivergence*> order;
    for (const ViewDivergence& v : d.views) order.push_back(&v);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::max(a->kl, a->kl_binned) > std::max(b->kl, b->kl_binned);
    });
    for (const ViewDivergence* v : order) {
      (v->stable ? out_.stable_views : out_.shifted_views).push_back(v->name);
    }
  }

  Recommendation write() {
    out_.why = std::string(default_fit);
    if (d_.test.folds == 0) {
      set(Verdict::undetermined, "Too few rows to test for shift; provide more.");
      reason("rows", static_cast<double>(std::min(d_.train_rows, d_.target_rows)), 2,
             "A sample has only one row: holding it out leaves none to compare it with.");
      return std::move(out_);
    }
    reason("p-value", d_.test.p_value, d_.level,
           fmt::format("A classifier separates training from target with an AUC of {:.3f} (0.5 is "
                       "chance); {} of {} random relabellings did as well (p = {:.3g}).",
                       d_.test.auc, extreme(), d_.test.permutations, d_.test.p_value));
    if (!d_.shifted()) {
      no_shift();
      return std::move(out_);
    }
    where();
    how_bad();
    decide();
    return std::move(out_);
  }

 private:
  void set(Verdict verdict, std::string summary) {
    out_.verdict = verdict;
    out_.summary = std::move(summary);
  }
  void reason(std::string code, double value, double threshold, std::string text) {
    out_.reasons.push_back({std::move(code), value, threshold, std::move(text)});
  }
  [[nodiscard]] long extreme() const {
    return std::lround(d_.test.p_value * (d_.test.permutations + 1)) - 1;
  }

  [[nodiscard]] double unsupported_limit() const {
    return out_.stable_views.empty() ? most_unsupported : all_unsupported;
  }

  void no_shift() {
    const double power = d_.test.power.value_or(0);
    set(Verdict::none,
        power < enough_power
            ? "No shift detected, but there is too little power to detect a small one."
            : "No shift detected: training and target cannot be told apart.");
    reason("power", power, enough_power,
           fmt::format("The test detects {:.0f}% of shifts of half a standard deviation planted in "
                       "these rows; below {:.0f}%, \"no shift\" means little.",
                       100 * power, 100 * enough_power));
    out_.shifted_views.clear();
    out_.stable_views.clear();
    for (const ViewDivergence& v : d_.views) out_.stable_views.push_back(v.name);
  }

  void where() {
    if (out_.shifted_views.empty()) {
      double largest = 0;
      for (const ViewDivergence& v : d_.views) largest = std::max(largest, v.kl);
      reason("joint-shift", largest, d_.view_threshold,
             "No single view moved much: the shift is small, or in the dependence between inputs.");
    } else {
      double largest = 0;
      for (const ViewDivergence& v : d_.views) largest = std::max({largest, v.kl, v.kl_binned});
      reason("shifted-views", largest, d_.view_threshold,
             fmt::format("What moved: {} (symmetric KL up to {:.2f}; the threshold is {:.2g}).",
                         first_few(out_.shifted_views), largest, d_.view_threshold));
    }
    std::vector<std::string> blind;
    double largest = 0;
    for (const ViewDivergence& v : d_.views) {
      if (!v.generalized || v.stable) continue;
      blind.push_back(v.name);
      largest = std::max(largest, v.kl_binned);
    }
    blind_ = !blind.empty();
    if (!blind_) return;
    reason("ratio-blind", largest, d_.view_threshold,
           fmt::format("{} changed {} rather than {} (binned KL {}{:.2f}), which the {} density "
                       "ratio does not follow: compare with --ratio ulsif or gaussian.",
                       first_few(blind), blind.size() == 1 ? "its shape" : "their shapes",
                       blind.size() == 1 ? "its mean" : "their means",
                       blind.size() == 1 ? "" : "up to ", largest, d_.ratio));
  }

  void how_bad() {
    reason("effective-sample-size", ess_, weighting_suffices,
           fmt::format("Weighted to look like the target, the {} training rows are equivalent to "
                       "{:.1f} target rows ({:.0f}%).",
                       d_.train_rows, d_.effective_sample_size, 100 * ess_));
    const Support& s = d_.support;
    reason("support", s.share, unsupported_limit(),
           fmt::format("{:.1f}% of the target rows ({}) lie outside the training data; {:.1f}% "
                       "would without shift.",
                       100 * s.share, s.rows, 100 * s.expected));
  }

  void decide() {
    const Support& s = d_.support;
    const bool some = s.share >= some_unsupported && s.share > 2 * s.expected;
    if (s.share >= unsupported_limit()) {
      out_.collect_labels = true;
      set(Verdict::no_overlap,
          fmt::format("{:.0f}% of the target lies where there are no training data: no method can "
                      "know the labels there. Collect some there.",
                      100 * s.share));
      out_.why +=
          " Outside the training data its predictions move halfway to uninformative; --caution 1 "
          "moves them all the way.";
      return;
    }
    out_.collect_labels = some;
    const std::string label =
        some
            ? fmt::format(" {:.0f}% of the target has no training support: label rows there first.",
                          100 * s.share)
            : "";
    if (ess_ >= weighting_suffices && !blind_) {
      set(Verdict::mild,
          fmt::format("Mild shift: {:.0f}% of the training sample remains after weighting.",
                      100 * ess_) +
              label);
    } else if (!out_.stable_views.empty() && !out_.shifted_views.empty()) {
      set(Verdict::views, fmt::format("Strong shift in {}, but {} of {} views hardly moved ({}).",
                                      first_few(out_.shifted_views), out_.stable_views.size(),
                                      d_.views.size(), first_few(out_.stable_views)) +
                              label);
    } else {
      out_.collect_labels = true;
      set(Verdict::strong,
          "Strong shift in everything: labels from the target would help most." + label);
    }
  }

  const Diagnosis& d_;
  double ess_;
  bool blind_ = false;  // a view changed in a way that the ratio does not capture
  Recommendation out_;
};

}  // namespace

Recommendation recommend(const Diagnosis& diagnosis) {
  Recommendation r = Writer(diagnosis).write();
  r.trust = trust(trust_evidence(diagnosis));
  return r;
}

TrustEvidence trust_evidence(const Diagnosis& d) {
  return {.train_rows = d.train_rows,
          .target_rows = d.target_rows,
          .tested = d.test.folds > 0,
          .shift = d.shifted(),
          .auc = d.test.auc,
          .power = d.test.power.value_or(0),
          .effective_sample_size = d.effective_sample_size,
          .unsupported = d.support.share,
          .unsupported_by_chance = d.support.expected,
          .expected = {}};
}

}  // namespace covshift
