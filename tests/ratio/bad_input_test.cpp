#include <limits>

#include "tests/ratio/support.hpp"

namespace covshift::testing {
namespace {

using ::testing::HasSubstr;

const Matrix& sample() {
  static const Matrix m = normals(20, 3, 0, 1, 1);
  return m;
}

std::string fit_message(const RatioOptions& options, const Matrix& train = sample(),
                        const Matrix& target = sample(), std::vector<double> weight = {}) {
  return message_of([&] { (void)fit_ratio(options, train.view(), target.view(), weight); });
}

TEST(BadInput, Data) {
  const RatioOptions options;
  EXPECT_THAT(fit_message(options, dense(0, 3, {})), HasSubstr("needs training rows"));
  EXPECT_THAT(fit_message(options, sample(), dense(0, 3, {})), HasSubstr("needs target rows"));
  EXPECT_THAT(fit_message(options, sample(), normals(5, 2, 0, 1, 2)),
              HasSubstr("the training data have 3 columns, the target 2"));
  EXPECT_THAT(fit_message(options, dense(2, 0, {}), dense(2, 0, {})), HasSubstr("needs columns"));
  Matrix holes = sample();
  holes.values[3 * 4 + 1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(fit_message(options, holes),
              HasSubstr("the training data: feature 2 of row 5 is nan"));
  EXPECT_THAT(fit_message(options, sample(), to_sparse(holes)),
              HasSubstr("the target data: feature 2 of row 5 is nan"));
  holes.values[3 * 4 + 1] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(fit_message(options, holes), HasSubstr("is inf"));
  Matrix outside = to_sparse(sample());
  outside.columns[4] = 3;
  EXPECT_THAT(fit_message(options, outside), HasSubstr("row 2 has an entry in column 4"));
  EXPECT_THAT(fit_message(options, sample(), sample(), {1, 2}),
              HasSubstr("2 weights for 20 training rows"));
  EXPECT_THAT(fit_message(options, sample(), sample(), std::vector<double>(20, -1.0)),
              HasSubstr("weight of training row 1 is -1"));
  EXPECT_THAT(fit_message(options, sample(), sample(), std::vector<double>(20, 0.0)),
              HasSubstr("add up to 0"));
}

TEST(BadInput, Options) {
  for (const double lambda : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(fit_message(logistic_with(lambda)), HasSubstr("lambda must be a positive number"));
  }
  const auto change = [](const std::function<void(RatioOptions&)>& edit) {
    RatioOptions options;
    edit(options);
    return fit_message(options);
  };
  EXPECT_THAT(change([](RatioOptions& o) { o.columns = {1, 3}; }), HasSubstr("names column 4"));
  EXPECT_THAT(change([](RatioOptions& o) { o.columns = {-1}; }), HasSubstr("names column 0"));
  EXPECT_THAT(change([](RatioOptions& o) { o.columns = {1, 0, 1}; }), HasSubstr("column 2 twice"));
  EXPECT_THAT(change([](RatioOptions& o) { o.kernel_width = 0; }), HasSubstr("kernel width"));
  EXPECT_THAT(change([](RatioOptions& o) { o.kernel_lambda = -1; }), HasSubstr("regularisation"));
  EXPECT_THAT(change([](RatioOptions& o) { o.centres = 0; }),
              HasSubstr("centres must be a number >= 1"));
  EXPECT_THAT(change([](RatioOptions& o) { o.folds = 1; }),
              HasSubstr("folds must be a number from 2"));
  EXPECT_THAT(change([](RatioOptions& o) { o.alpha = 1; }),
              HasSubstr("alpha must be a number in [0, 1)"));
  EXPECT_THAT(change([](RatioOptions& o) { o.kmm_bound = 0.5; }), HasSubstr("from 1 to"));
  EXPECT_THAT(change([](RatioOptions& o) { o.kmm_slack = -1; }), HasSubstr("slack"));
  EXPECT_THAT(change([](RatioOptions& o) { o.method = static_cast<RatioMethod>(99); }),
              HasSubstr("no density ratio number 99"));
}

TEST(BadInput, Words) {
  EXPECT_EQ(parse_ratio_method("kliep"), RatioMethod::kliep);
  EXPECT_THAT(message_of([] { (void)parse_ratio_method("klieb"); }),
              HasSubstr("must be logistic, quadratic"));
  EXPECT_EQ(RatioLambda::parse("0.25").value, 0.25);
  EXPECT_EQ(RatioLambda::parse("1e-3").rule, RatioLambda::Rule::value);
  for (const char* text : {"", "0", "-1", "nan", "inf", "0.1x", "Paper", "1e999"}) {
    EXPECT_THAT(message_of([&] { (void)RatioLambda::parse(text); }),
                HasSubstr("a positive number, paper, cv or stable"))
        << text;
  }
}

TEST(BadInput, Prediction) {
  const auto ratio = fit_ratio(logistic_with(0.1), sample().view(), sample().view());
  EXPECT_THAT(message_of([&] { (void)ratio->log_ratio(normals(2, 2, 0, 1, 3).view()); }),
              HasSubstr("fitted on 3 columns, the data have 2"));
  std::vector<double> room(3);
  EXPECT_THAT(message_of([&] { ratio->log_ratio(sample().view(), room); }),
              HasSubstr("room for 3 log ratios, but 20 rows"));
  Matrix holes = sample();
  holes.values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message_of([&] { (void)ratio->log_ratio(holes.view()); }),
              HasSubstr("feature 1 of row 1 is nan"));
}

TEST(BadInput, Overflow) {
  Matrix huge = sample();
  for (double& v : huge.values) v *= 1e200;
  for (const RatioMethod method : {RatioMethod::logistic, RatioMethod::gaussian, RatioMethod::ulsif,
                                   RatioMethod::kliep, RatioMethod::kmm}) {
    RatioOptions options = with(method);
    options.lambda = {RatioLambda::Rule::value, 0.1};
    EXPECT_THAT(message_of([&] { (void)fit_ratio(options, huge.view(), sample().view()); },
                           Error::Kind::numeric),
                HasSubstr("scale the features"))
        << to_string(method);
  }
}

TEST(BadInput, EveryBrokenMemberIsRefused) {
  for (const char* name : {"none", "logistic", "gaussian", "ulsif", "rulsif", "kliep", "kmm"}) {
    for (const bool sparse : {false, true}) {
      RatioOptions options = with(parse_ratio_method(name));
      Matrix train = normals(20, 12, 0, 1, 4);
      for (std::size_t i = 0; i < train.values.size(); ++i) {
        if (sparse && i % 7 != 0) train.values[i] = 0;
      }
      options.columns = {0, 1, 2, 3, 5, 7, 8, 11};
      const nlohmann::json good = fit_ratio(options, train.view(), train.view())->to_json();
      ASSERT_NO_THROW((void)ratio_from_json(good));
      const auto refused = [&](const nlohmann::json& json) {
        EXPECT_FALSE(message_of([&] { (void)ratio_from_json(json); }).empty())
            << json.dump().substr(0, 500);
      };
      for (const auto& [key, value] : good.items()) {
        if (key == "columns") continue;  // all columns, if it is missing: refused by the sizes
        nlohmann::json broken = good;
        broken.erase(key);
        if (key != "bound") refused(broken);  // none in files of earlier versions
        if (key == "report") continue;
        broken[key] = nullptr;
        refused(broken);
        broken[key] = "what";
        refused(broken);
        if (value.is_array()) {
          broken[key] = value;
          broken[key].erase(0);
          refused(broken);
          broken[key] = value;
          broken[key][0] = nullptr;
          refused(broken);
        }
      }
      nlohmann::json broken = good;
      broken["columns"] = {1, 99};
      refused(broken);
      broken["columns"] = "x";
      refused(broken);
      if (good.contains("centres")) {
        for (const auto& [key, value] : good["centres"].items()) {
          broken = good;
          broken["centres"][key] = 1234567;
          refused(broken);
          broken["centres"].erase(key);
          refused(broken);
        }
      }
    }
  }
  for (const char* text : {"null", "[]", "3", "{}", R"({"method":"other","cols":3,"report":{}})",
                           R"({"method":"none","cols":-1,"report":{}})",
                           R"({"method":"none","cols":0,"report":{}})"}) {
    EXPECT_FALSE(message_of([&] { (void)ratio_from_json(nlohmann::json::parse(text)); }).empty());
  }
}

}  // namespace
}  // namespace covshift::testing
