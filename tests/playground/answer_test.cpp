// The answers behind the page, natively: the same as those of the library's own functions.
#include "playground/answer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/lab/figures.hpp"
#include "covshift/model/scores.hpp"

namespace covshift {
namespace {

using Json = nlohmann::json;

Json ask(const Json& request) { return Json::parse(playground::answer(request.dump())); }

/// The request of a panel of a figure, as the page makes it.
Json panel_request(const Json& panel, std::uint64_t seed) {
  Json drawing = {{"do", "draw"}, {"example", panel["example"]}, {"seed", seed}, {"known", true}};
  Json options = panel["options"];
  options["--ratio"] = "column:ratio";
  options["--classes"] = {"o", "+"};
  options["--scale"] = "none";
  options["--views"] = "each";
  if (panel.contains("generalization")) {
    drawing["generalization"] = panel["generalization"];
    options["--generalize"] = "column:log_p_gen";
  }
  const Json drawn = ask(drawing);
  Json request = drawing;
  request["do"] = "fit";
  for (const char* which : {"train", "target"}) {
    request[which] = {{"name", std::string(which) + ".csv"}, {"text", drawn[which]}};
  }
  request.update({{"label", "label"},
                  {"x", "x1"},
                  {"y", "x2"},
                  {"options", options},
                  {"promise", false},
                  {"limit_certainty", false},
                  {"cells", 4},
                  {"area", {-4, 4, -4, 4}}});
  return request;
}

TEST(Playground, ShowsTheFiguresAsTheLabFitsThem) {
  const Json presets = ask({{"do", "presets"}})["presets"];
  const std::vector<FigureSetting> figures = {figure1_setting(), figure2_setting(),
                                              figure3_setting()};
  ASSERT_EQ(presets.size(), figures.size());
  for (std::size_t f = 0; f < figures.size(); ++f) {
    ASSERT_EQ(presets[f]["panels"].size(), figures[f].panels.size());
    for (std::size_t p = 0; p < figures[f].panels.size(); ++p) {
      SCOPED_TRACE(figures[f].panels[p].title);
      const PanelSetting& panel = figures[f].panels[p];
      const PlaneDraw draw = draw_plane(panel.example, 7);
      const Classifier model = fit_panel(panel, draw, 1);
      const Predictions wanted = predict_panel(panel, model, draw.target.view(), 1);
      const Scores scores = score(wanted, draw.target.y, model.game());
      const Json found = ask(panel_request(presets[f]["panels"][p], 7));
      ASSERT_FALSE(found.contains("error")) << found["error"];
      EXPECT_NEAR(found["report"]["game_value"].get<double>(), model.certificate().game_value,
                  1e-9);
      EXPECT_NEAR(found["scores"]["expected_loss"].get<double>(), scores.expected_loss, 1e-9);
      ASSERT_EQ(found["target"]["p"].size(), wanted.p.size());
      for (std::size_t i = 0; i < wanted.p.size(); ++i) {
        EXPECT_NEAR(found["target"]["p"][i].get<double>(), wanted.p[i], 1e-9);
      }
      EXPECT_EQ(found["target"]["label"].get<std::vector<int>>(), draw.target.y);
    }
  }
}

TEST(Playground, DrawsTheMapOfTheModelItReports) {
  Json request = panel_request(ask({{"do", "presets"}})["presets"][1]["panels"][1], 3);
  // The centres of the cells are target points too, so their probabilities are known.
  const Json first = ask(request);
  const double x = first["target"]["x"][0];
  const double y = first["target"]["y"][0];
  request["cells"] = 1;
  request["area"] = {x - 1, x + 1, y - 1, y + 1};
  const Json map = ask(request)["map"];
  ASSERT_EQ(map.size(), 2U);
  EXPECT_NEAR(map[1].get<double>(), 1000 * first["target"]["p"][1].get<double>(), 0.51);
  // From low to high y: the cell above is another one.
  request["cells"] = 2;
  const Json four = ask(request)["map"];
  request["cells"] = 1;
  request["area"] = {x - 1, x, y, y + 1};
  EXPECT_EQ(four[2 * 2], ask(request)["map"][0]);
}

TEST(Playground, WeighsTrainingPointsByTheKnownRatio) {
  const Json panel = ask({{"do", "presets"}})["presets"][0]["panels"][1];
  const Json request = panel_request(panel, 3);
  const Json found = ask(request);
  const FigureSetting figure = figure1_setting();
  const PlaneDraw draw = draw_plane(figure.panels[1].example, 3);
  std::vector<double> wanted(draw.train.y.size());
  gaussian_ratio(figure.panels[1].example.train, figure.panels[1].example.target)
      ->log_ratio(draw.train.view(), wanted);
  ASSERT_EQ(found["train"]["log_weight"].size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found["train"]["log_weight"][i].get<double>(), wanted[i], 1e-9);
  }
  Json plain = request;
  plain["options"]["--method"] = "lr";
  const Json unweighted = ask(plain)["train"]["log_weight"];
  for (const Json& w : unweighted) EXPECT_EQ(w.get<double>(), 0);
}

TEST(Playground, TellsTheColumnsOfAFile) {
  const Json table =
      ask({{"do", "table"}, {"name", "a.csv"}, {"text", "age,town\n3,Ulm\n,Bonn\n-1,Ulm\n"}});
  EXPECT_EQ(table["rows"], 3);
  ASSERT_EQ(table["columns"].size(), 2U);
  EXPECT_EQ(table["columns"][0],
            Json({{"name", "age"}, {"numeric", true}, {"low", -1}, {"high", 3}}));
  EXPECT_EQ(table["columns"][1], Json({{"name", "town"}, {"numeric", false}}));
}

TEST(Playground, ReadsATargetWithoutLabels) {
  Json request = panel_request(ask({{"do", "presets"}})["presets"][0]["panels"][1], 3);
  request["options"]["--ratio"] = "logistic";
  request["options"]["--drop"] = {"ratio"};
  request["target"]["text"] = "x1,x2\n1,2\n-1,0.5\n0,0\n2,-1\n";
  request.erase("known");
  const Json found = ask(request);
  ASSERT_FALSE(found.contains("error")) << found["error"];
  EXPECT_FALSE(found.contains("scores"));
  EXPECT_EQ(found["target"]["label"], Json({-1, -1, -1, -1}));
  EXPECT_EQ(found["target"]["p"].size(), 8U);
}

std::string error_of(Json request, const Json& changes) {
  request.merge_patch(changes);
  return ask(request).value("error", "none");
}

TEST(Playground, AnswersMistakesInWords) {
  const Json request = panel_request(ask({{"do", "presets"}})["presets"][0]["panels"][1], 3);
  EXPECT_EQ(error_of(request, {{"do", "fly"}}), "there is no request 'fly'");
  EXPECT_EQ(error_of(request, {{"options", {{"--fly", "1"}}}}), "there is no option --fly");
  EXPECT_NE(error_of(request, {{"options", {{"--loss", "zero"}}}}).find("--loss"),
            std::string::npos);
  EXPECT_NE(error_of(request, {{"x", "label"}}).find("has text"), std::string::npos);
  EXPECT_NE(error_of(request, {{"label", "class"}}).find("class"), std::string::npos);
  EXPECT_NE(error_of(request, {{"train", {{"text", "x1,x2,label\n1,2\n"}}}}).find("train.csv:2"),
            std::string::npos);
  EXPECT_EQ(error_of(request, Json::object()), "none");
  EXPECT_NE(playground::answer("{").find("\"error\""), std::string::npos);
}

}  // namespace
}  // namespace covshift
