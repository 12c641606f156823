// The answer to whether a model can be trusted, as a function of what was measured.
#include "covshift/diagnose/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace covshift {
namespace {

using testing::HasSubstr;

Expected as_good() {
  return {.model = "auto",
          .labels = 0,
          .reliable = true,
          .accuracy = 0.85,
          .level = 0.95,
          .low = 0.82,
          .high = 0.88,
          .training = 0.86,
          .least_drop = -0.01,
          .largest_drop = 0.03,
          .gain = 0.1};
}

TrustEvidence shifted() {
  return {.train_rows = 1000,
          .target_rows = 800,
          .tested = true,
          .shift = true,
          .auc = 0.8,
          .power = 0.99,
          .effective_sample_size = 400,
          .unsupported = 0.02,
          .unsupported_by_chance = 0.01,
          .expected = as_good()};
}

TEST(Trust, YesNeedsASmallDropEvenInTheWorstCaseOfItsInterval) {
  TrustEvidence e = shifted();
  EXPECT_EQ(trust(e).trust, Trust::yes);
  e.expected->largest_drop = 0.0501;
  EXPECT_EQ(trust(e).trust, Trust::partly);
  EXPECT_EQ(trust(e).code, "uncertain");
  e.expected->least_drop = 0.001;
  EXPECT_EQ(trust(e).code, "drop");
}

TEST(Trust, DoubtNamesTheRowsThatAreScarce) {
  TrustEvidence e = shifted();
  e.expected->largest_drop = 0.2;
  EXPECT_THAT(trust(e).headline, HasSubstr("too few training rows like them"));
  e.expected->labels = 2000;
  EXPECT_THAT(trust(e).headline, HasSubstr("too few training rows to be sure"));
  e.expected->labels = 200;
  EXPECT_THAT(trust(e).headline, HasSubstr("too few labelled new rows"));
}

TEST(Trust, AClassifierThatExistsIsUsedNotFitted) {
  TrustEvidence e = shifted();
  EXPECT_THAT(trust(e).next, HasSubstr("Fit auto"));
  e.expected->model.clear();
  EXPECT_EQ(trust(e).next, "Use it on the new rows.");
  e.expected->largest_drop = 0.1;
  EXPECT_EQ(trust(e).next, "Use it, and check some of its answers.");
  e.unsupported = 0.2;
  EXPECT_THAT(trust(e).next, HasSubstr("the rows that the report lists"));
  e.unsupported = 0.9;
  EXPECT_THAT(trust(e).next, HasSubstr("Do not act on its answers unchecked"));
}

TEST(Trust, SomeRowsWithoutSupportMakeItPartlyAndMostMakeItNo) {
  TrustEvidence e = shifted();
  e.unsupported = 0.05;
  EXPECT_EQ(trust(e).code, "some-unsupported");
  EXPECT_EQ(trust(e).trust, Trust::partly);
  e.unsupported_by_chance = 0.03;  // few training rows: chance alone leaves as many out
  EXPECT_EQ(trust(e).trust, Trust::yes);
  e.unsupported = 0.54;
  const TrustAnswer a = trust(e);
  EXPECT_EQ(a.trust, Trust::no);
  EXPECT_EQ(a.evidence[0],
            "54% of the new rows are unlike anything seen in training (3% by chance).");
}

TEST(Trust, LabelsOfTheTargetOverruleEverythingElse) {
  TrustEvidence e = shifted();
  e.unsupported = 0.9;
  e.expected->labels = 500;
  EXPECT_EQ(trust(e).trust, Trust::yes);
  EXPECT_THAT(trust(e).basis,
              HasSubstr("Measured on 500 labelled new rows; 95% interval 82% to 88%"));
  e.shift = false;
  e.unsupported = 0.01;
  e.expected->least_drop = 0.1;  // the labels have changed where the inputs have not
  e.expected->largest_drop = 0.2;
  EXPECT_EQ(trust(e).code, "drop");
  e.expected->gain = -0.01;
  EXPECT_EQ(trust(e).trust, Trust::no);
}

TEST(Trust, TooFewLabelsDecideNothing) {
  TrustEvidence e = shifted();
  e.expected->labels = 10;
  e.expected->reliable = false;
  e.unsupported = 0.9;
  EXPECT_EQ(trust(e).trust, Trust::no);
  EXPECT_EQ(trust(e).performance, "Unknown");
  EXPECT_THAT(trust(e).basis, HasSubstr("10 labelled new rows are too few"));
}

TEST(Trust, AModelThatKnowsNothingIsNotTrustedWhateverTheShift) {
  TrustEvidence e = shifted();
  e.expected->gain = 0;
  EXPECT_EQ(trust(e).code, "uninformed");
  e.shift = false;
  EXPECT_EQ(trust(e).trust, Trust::no);
}

TEST(Trust, AnEstimateThatMeansNothingIsNotShown) {
  TrustEvidence e = shifted();
  e.expected->reliable = false;
  const TrustAnswer a = trust(e);
  EXPECT_EQ(a.code, "no-estimate");
  EXPECT_EQ(a.performance, "Unknown");
  EXPECT_THAT(a.basis, testing::Not(HasSubstr("85%")));
  EXPECT_THAT(a.basis, HasSubstr("86%"));  // of training
}

TEST(Trust, ADiagnosisAloneSaysWhatTheInputsSay) {
  TrustEvidence e = shifted();
  e.expected.reset();
  EXPECT_EQ(trust(e).code, "shift");
  EXPECT_EQ(trust(e).performance, "Not measured");
  e.shift = false;
  EXPECT_EQ(trust(e).trust, Trust::yes);
  e.tested = false;
  EXPECT_EQ(trust(e).trust, Trust::no);
  EXPECT_TRUE(to_json(trust(e))["expected"].is_null());
}

TEST(Trust, ATestThatWouldFindNothingIsNoEvidence) {
  TrustEvidence e = shifted();
  e.shift = false;
  e.power = 0.8;
  EXPECT_EQ(trust(e).code, "no-shift");
  EXPECT_EQ(trust(e).trust, Trust::yes);
  e.power = 0.79;
  EXPECT_EQ(trust(e).code, "few-rows");
  EXPECT_EQ(trust(e).trust, Trust::partly);
  EXPECT_THAT(trust(e).headline, HasSubstr("800 rows are too few"));
  EXPECT_THAT(trust(e).evidence[1], HasSubstr("would notice 79% of changes"));
  e.shift = true;  // the power matters only where nothing was found
  EXPECT_EQ(trust(e).trust, Trust::yes);
}

TEST(Trust, AnIntervalIsNamedByItsLevel) {
  TrustEvidence e = shifted();
  EXPECT_THAT(trust(e).basis, HasSubstr("95% interval 82% to 88%"));
  e.expected->level = 0.995;
  EXPECT_THAT(trust(e).basis, HasSubstr("99.5% interval 82% to 88%"));
  e.expected->labels = 500;
  EXPECT_THAT(trust(e).basis, HasSubstr("500 labelled new rows; 99.5% interval"));
  EXPECT_EQ(to_json(trust(e))["expected"]["level"], 0.995);
}

TEST(Trust, SharesAreNeverRoundedToNothingOrAll) {
  TrustEvidence e = shifted();
  e.unsupported = 0.996;
  EXPECT_THAT(trust(e).evidence[0], HasSubstr("more than 99% of the new rows"));
  e.unsupported = 0.001;
  EXPECT_THAT(trust(e).evidence[0], HasSubstr("less than 1%"));
  e.unsupported = 1;
  EXPECT_THAT(trust(e).evidence[0], HasSubstr("100% of the new rows"));
}

TEST(Trust, NumbersOfRowsAreGrouped) {
  TrustEvidence e = shifted();
  e.train_rows = 1234567;
  e.effective_sample_size = 999.4;
  EXPECT_EQ(trust(e).evidence[2],
            "After weighting, the 1,234,567 training rows are equivalent to 999 new rows.");
  e.effective_sample_size = 12345.6;
  EXPECT_THAT(trust(e).evidence[2], HasSubstr("equivalent to 12,346 new rows."));
}

TEST(Trust, NextNamesTheModelAndTheAnswerSaysHowFarToGo) {
  TrustEvidence e = shifted();
  e.expected->model = "robust-view";
  EXPECT_EQ(trust(e).next, "Fit robust-view with the new rows.");
  e.unsupported = 0.7;
  EXPECT_THAT(trust(e).next, HasSubstr("Label some of the new rows"));
  EXPECT_THAT(trust(e).next, HasSubstr("robust-view"));
}

}  // namespace
}  // namespace covshift
