#include "covshift/options/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <set>

#include "covshift/base/words.hpp"

namespace covshift {
namespace {

using ::testing::HasSubstr;

const Option& row(const Options& table, const std::string& flag) {
  for (const Option& o : table) {
    if (o.flag == flag || o.python == flag) return o;
  }
  throw std::out_of_range(flag);
}

/// The error message for a value; empty if it was accepted.
std::string complaint(const Options& table, const std::string& flag,
                      const std::vector<std::string>& given) {
  try {
    set_option(row(table, flag), flag, given);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Options, AreParsedFromText) {
  ModelOptions o;
  const Options table = model_options(o);
  const auto set = [&](const char* flag, std::vector<std::string> given) {
    EXPECT_EQ(complaint(table, flag, given), "");
  };
  set("--generalize", {"temper:0.25"});
  EXPECT_EQ(o.fit.generalize->g, 0.25);
  set("--generalize", {"temper:auto"});
  EXPECT_TRUE(o.fit.choose_temper);
  set("--generalize", {"column:d"});
  EXPECT_EQ(o.generalization_column, "d");
  set("--ratio", {"kmm"});
  EXPECT_EQ(o.fit.shift.ratio.method, RatioMethod::kmm);
  set("--ratio", {"column:w"});
  EXPECT_EQ(o.ratio_column, "w");
  set("--bias", {"test"});
  EXPECT_EQ(o.fit.shift.bias, BiasAssumption::test);
  set("--bias", {"none"});
  EXPECT_FALSE(o.fit.bias);
  set("--generalized-views", {"a", "b"});
  EXPECT_FALSE(o.fit.shift.automatic);
  set("--generalized-views", {"auto"});
  EXPECT_TRUE(o.fit.shift.automatic && o.fit.shift.generalized_views.empty());
  set("--lambdas", {"0.5", "2"});
  EXPECT_EQ(o.fit.lambdas, (std::vector<double>{0.5, 2}));
  set("--lambda", {"0.5"});
  EXPECT_EQ(o.fit.lambda.value, 0.5);
  set("--lambda", {"auto"});
  EXPECT_EQ(o.fit.lambda.kind, LambdaChoice::Kind::automatic);
  set("--seed", {"18446744073709551615"});
  EXPECT_EQ(o.fit.solve.seed, ~0ULL);
  EXPECT_EQ(method_of("zero-one", Assumption::Kind::views).name, "robust01-view");
  EXPECT_EQ(method_of("squared", Assumption::Kind::none).name, "lr");
  EXPECT_EQ(method_of("log", Assumption::Kind::temper).name, "robust");
}

TEST(Options, MessagesNameTheOptionAndItsValues) {
  ModelOptions o;
  const Options table = model_options(o);
  EXPECT_EQ(complaint(table, "--scale", {"units"}),
            "--scale must be unit, standard or none, not 'units'; did you mean 'unit'?");
  EXPECT_EQ(
      complaint(table, "--max-iterations", {"-1"}),
      "--max-iterations must be a whole number >= 0 (0 means the solver's own limit), not '-1'");
  EXPECT_EQ(complaint(table, "--folds", {"2.5"}),
            "--folds must be a whole number from 2 to 1000000, not '2.5'");
  EXPECT_EQ(complaint(table, "--tolerance", {"nan"}),
            "--tolerance must be a number > 0, not 'nan'");
  for (const char* const delta : {"1", "0", "1e-17"}) {
    EXPECT_EQ(complaint(table, "--delta", {delta}),
              fmt::format("--delta must be a number from 1e-09 to 0.999999999, not '{}'", delta));
  }
  EXPECT_THAT(complaint(table, "--method", {"rubost"}), HasSubstr("did you mean 'robust'?"));
  EXPECT_THAT(complaint(table, "--loss", {"zero_one"}), HasSubstr("did you mean 'zero-one'?"));
  EXPECT_THAT(complaint(table, "--loss", {"abstain:A"}), HasSubstr("'abstain:A' needs a number"));
  EXPECT_THAT(complaint(table, "--generalize", {"temper:2"}), HasSubstr("[0, 1]"));
  EXPECT_THAT(complaint(table, "--ratio", {"magic"}), ::testing::Not(HasSubstr("did you mean")));
  EXPECT_NE(complaint(table, "--lambda", {"-1"}), "");
  EXPECT_NE(complaint(table, "--lambdas", {"1", "cv"}), "");
}

TEST(Options, DefaultsAreThoseOfTheStructures) {
  ModelOptions model;
  DiagnoseOptions diagnosis;
  PreparationOptions inputs = for_comparison();
  RatioOptions ratio;
  EXPECT_EQ(row(model_options(model), "--view-threshold").fallback, "0.1");
  EXPECT_EQ(row(model_options(model), "--ratio-lambda").fallback, "stable");
  EXPECT_EQ(row(diagnose_options(diagnosis, inputs), "--ratio-lambda").fallback, "stable");
  EXPECT_EQ(row(ratio_options(RatioMethod::rulsif, ratio), "alpha").fallback, "0.1");
  EXPECT_EQ(row(ratio_options(RatioMethod::ulsif, ratio), "alpha").fallback, "0");
  model.fit.folds = 7;
  EXPECT_EQ(row(model_options(model), "--folds").fallback, "7");
}

TEST(Options, EveryListedValueIsAccepted) {
  ModelOptions model;
  DiagnoseOptions diagnosis;
  PreparationOptions inputs = for_comparison();
  CompareOptions comparison;
  for (const Options& table : {model_options(model), diagnose_options(diagnosis, inputs),
                               compare_options(comparison, inputs)}) {
    std::set<std::string> seen;
    for (const Option& o : table) {
      EXPECT_TRUE(seen.insert(o.flag).second) << o.flag;
      std::string values = o.values;
      std::replace(values.begin(), values.end(), '|', ',');
      for (const std::string& word : split(values)) {
        if (word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos &&
            word.size() > 1) {
          EXPECT_EQ(complaint(table, o.flag, {word}), "");
        }
      }
      if (!o.fallback.empty() && o.type != OptionType::flag) {
        EXPECT_EQ(complaint(table, o.flag, {o.fallback}), "");
      }
    }
  }
}

TEST(Options, NumbersDoNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  // With a decimal comma where such a locale is installed; what follows holds, and strtod fails it,
  // in any locale.
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
  }
  ModelOptions o;
  const Options table = model_options(o);
  EXPECT_EQ(complaint(table, "--generalize", {"temper:0.25"}), "");
  EXPECT_EQ(o.fit.generalize->g, 0.25);
  EXPECT_NE(complaint(table, "--generalize", {"temper:0,25"}), "");
  EXPECT_EQ(complaint(table, "--loss", {"abstain:0.3"}), "");
  EXPECT_EQ(complaint(table, "--view-threshold", {"0.25"}), "");
  EXPECT_EQ(o.fit.shift.view_threshold, 0.25);
  // strtod follows the locale and rejects this; the parser of numbers must not.
  EXPECT_EQ(complaint(table, "--generalize", {"temper:0.5 "}), "");
  // strtod accepts hexadecimal numbers; the parser must not.
  EXPECT_NE(complaint(table, "--generalize", {"temper:0x1p-1"}), "");
  std::setlocale(LC_NUMERIC, before.c_str());
}

}  // namespace
}  // namespace covshift
