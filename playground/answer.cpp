#include "playground/answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/version.hpp"
#include "covshift/data/readers.hpp"
#include "covshift/lab/figures.hpp"
#include "covshift/model/model.hpp"
#include "covshift/model/scores.hpp"
#include "covshift/options/options.hpp"

namespace covshift::playground {
namespace {

using Json = nlohmann::ordered_json;

// Columns of the points that are drawn here.
constexpr const char* ratio_column = "ratio";
constexpr const char* generalization_column = "log_p_gen";

// --- examples as JSON ---

Json to_json(const Gaussian& g) { return {{"mean", g.mean}, {"covariance", g.covariance}}; }

Gaussian gaussian_from(const Json& json) {
  return {json.at("mean").get<std::vector<double>>(),
          json.at("covariance").get<std::vector<double>>()};
}

Json to_json(const PlaneExample& e) {
  return {{"train", to_json(e.train)},  {"target", to_json(e.target)},
          {"boundary", e.boundary},     {"noise", e.noise},
          {"train_rows", e.train_rows}, {"target_rows", e.target_rows}};
}

PlaneExample example_from(const Json& json) {
  return {gaussian_from(json.at("train")),
          gaussian_from(json.at("target")),
          json.at("boundary").get<std::array<double, 3>>(),
          json.at("noise").get<double>(),
          json.at("train_rows").get<std::size_t>(),
          json.at("target_rows").get<std::size_t>()};
}

/// The panel's fit as flags of the program.
Json to_json(const PanelSetting& panel) {
  const FitOptions& fit = panel.fit;
  Json options = {{"--method", fit.method},
                  {"--features", fit.features},
                  {"--lambda", fmt::format("{}", fit.lambda.value)}};
  if (!fit.shift.automatic) options["--generalized-views"] = fit.shift.generalized_views;
  Json json = {{"title", panel.title}, {"example", to_json(panel.example)}, {"options", options}};
  if (panel.generalization) json["generalization"] = to_json(*panel.generalization);
  return json;
}

Json presets(const Json& /*request*/) {
  Json list = Json::array();
  for (const FigureSetting& figure : {figure1_setting(), figure2_setting(), figure3_setting()}) {
    Json panels = Json::array();
    for (const PanelSetting& panel : figure.panels) panels.push_back(to_json(panel));
    list.push_back({{"name", figure.name},
                    {"title", figure.title},
                    {"low", figure.low},
                    {"high", figure.high},
                    {"panels", std::move(panels)}});
  }
  return {{"version", version()}, {"presets", std::move(list)}};
}

// --- points ---

/// What is known about the densities: the true ratio and P_gen, as columns.
class Densities {
 public:
  explicit Densities(const Json& request) {
    if (!request.value("known", false)) return;
    const PlaneExample example = example_from(request.at("example"));
    ratio_ = gaussian_ratio(example.train, example.target);
    if (!request.contains("generalization")) return;
    generalization_ = gaussian_ratio(example.target, gaussian_from(request["generalization"]));
  }

  [[nodiscard]] std::vector<Column> columns(const MatrixView& x) const {
    std::vector<Column> out;
    const auto add = [&](const char* name, const DensityRatio& log) -> std::vector<double>& {
      out.push_back({name, false, std::vector<double>(x.rows), {}, {}});
      log.log_ratio(x, out.back().numbers);
      return out.back().numbers;
    };
    if (ratio_) {
      for (double& r : add(ratio_column, *ratio_)) r = std::exp(r);
    }
    if (generalization_) add(generalization_column, *generalization_);
    return out;
  }

 private:
  std::unique_ptr<DensityRatio> ratio_, generalization_;
};

std::string csv_of(const PlanePoints& points, const Densities& densities) {
  const std::vector<Column> known = densities.columns(points.view());
  std::string text = "x1,x2,label";
  for (const Column& column : known) text += "," + column.name;
  for (std::size_t i = 0; i < points.y.size(); ++i) {
    // The shortest digits that read back as the same number.
    text += fmt::format("\n{},{},{}", points.x[2 * i], points.x[2 * i + 1],
                        points.y[i] == 1 ? '+' : 'o');
    for (const Column& column : known) text += fmt::format(",{}", column.numbers[i]);
  }
  return text + "\n";
}

Json draw(const Json& request) {
  const Densities densities(request);
  const PlaneDraw drawn =
      draw_plane(example_from(request.at("example")), request.at("seed").get<std::uint64_t>());
  return {{"train", csv_of(drawn.train, densities)}, {"target", csv_of(drawn.target, densities)}};
}

// --- files ---

Table read(const Json& file, const ReadOptions& options) {
  return read_bytes(file.at("name").get<std::string>(), file.at("text").get<std::string>(),
                    options);
}

Json table(const Json& request) {
  const Table table = read(request, {});
  Json columns = Json::array();
  for (const Column& c : table.columns) {
    Json column = {{"name", c.name}, {"numeric", !c.categorical}};
    if (!c.categorical) {  // comparisons with missing values are false
      double low = INFINITY;
      double high = -INFINITY;
      for (const double v : c.numbers) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
      column["low"] = low;
      column["high"] = high;
    }
    columns.push_back(std::move(column));
  }
  return {{"rows", table.rows}, {"columns", std::move(columns)}, {"notes", table.notes}};
}

// --- fits ---

ModelOptions options_of(const Json& request) {
  ModelOptions options;
  options.label = request.at("label").get<std::string>();
  const Options known = model_options(options);
  for (const auto& item : request.at("options").items()) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Option& o) { return o.flag == item.key(); });
    if (found == known.end()) fail_input("there is no option {}", item.key());
    const Json& value = item.value();
    set_option(*found, item.key(),
               value.is_array() ? value.get<std::vector<std::string>>()
                                : std::vector<std::string>{value.get<std::string>()});
  }
  options.fit.promise = request.value("promise", true);
  options.fit.limit_certainty =
      request.value("limit_certainty", true);  // false in the paper's figures
  options.fit.solve.threads = 1;
  return options;
}

/// Two columns of a table, with the labels and what was found for each row.
Json points_of(const Table& table, const Json& request, const std::vector<int>& labels) {
  const auto numbers = [&](const char* axis) -> const std::vector<double>& {
    const Column& column = table.at(request.at(axis).get<std::string>());
    if (column.categorical) {
      fail_input("{}: the column {} has text; choose one of numbers for the plane", table.source,
                 quoted_excerpt(column.name));
    }
    return column.numbers;
  };
  return {{"x", numbers("x")}, {"y", numbers("y")}, {"label", labels}};
}

/// The probability of every action over a grid of cells, in thousandths, rows from low to high y.
Json map_of(const Model& model, const Json& request) {
  const auto cells = request.at("cells").get<std::size_t>();
  const auto area =
      request.at("area").get<std::array<double, 4>>();  // low x, high x, low y, high y
  std::vector<double> points;
  for (std::size_t i = 0; i < cells * cells; ++i) {
    const auto at = [&](std::size_t k, double low, double high) {
      return low + (static_cast<double>(k) + 0.5) / static_cast<double>(cells) * (high - low);
    };
    points.push_back(at(i % cells, area[0], area[1]));
    points.push_back(at(i / cells, area[2], area[3]));
  }
  Table grid;
  grid.source = "map";
  grid.rows = cells * cells;
  grid.columns = Densities(request).columns(MatrixView::dense(points.data(), grid.rows, 2));
  for (const std::size_t axis : {0U, 1U}) {
    Column column{request.at(axis == 0 ? "x" : "y").get<std::string>(), false, {}, {}, {}};
    for (std::size_t i = 0; i < grid.rows; ++i) column.numbers.push_back(points[2 * i + axis]);
    grid.columns.push_back(std::move(column));
  }
  std::vector<int> thousandths;
  for (const double p : model.predict(grid, 1).p) {
    thousandths.push_back(static_cast<int>(std::lround(1000 * p)));
  }
  return thousandths;
}

/// What is not finite becomes null.
Json scores_json(const Scores& s) {
  return {{"n", s.n},
          {"accuracy", s.accuracy},
          {"log_loss", s.log_loss},
          {"expected_loss", s.expected_loss},
          {"brier", s.brier},
          {"abstained", s.abstained}};
}

Json fit(const Json& request) {
  const ModelOptions options = options_of(request);
  ReadOptions reading;
  reading.text_columns = {options.label};
  const Table train_table = read(request.at("train"), reading);
  Preparation preparation(train_table, inputs_of(options));
  PreparedRows train = preparation.encode_training(train_table, 1);
  const Table target_table = read(request.at("target"), preparation.read_options(reading));
  PreparedRows target = preparation.encode(target_table, 1);
  preparation.fit(train, &target, 1);
  const Model model = Model::fit(std::move(preparation), train, &target, options.fit);

  Json answer = {{"report", model.report_json()},
                 {"classes", model.preparation().classes().names()},
                 {"actions", model.action_names()}};
  for (const PreparedRows* rows : {&train, &target}) {
    for (const std::string& warning : rows->warnings) answer["warnings"].push_back(warning);
  }
  answer["train"] = points_of(train_table, request, train.labels);
  const Shift& shift = model.classifier().shift();
  answer["train"]["log_weight"] =
      shift.weighted() ? shift.at(train.features, GivenDensities::of(train)).log_weight
                       : std::vector<double>(train_table.rows, 0.0);
  std::vector<int> labels(target_table.rows, -1);
  const Predictions predictions = model.predict(target_table, 1);
  if (target_table.find(options.label) != nullptr) {
    labels = model.preparation().classes().codes(target_table, options.label).codes;
    answer["scores"] = scores_json(score(predictions, labels, model.classifier().game()));
  }
  answer["target"] = points_of(target_table, request, labels);
  answer["target"]["p"] = predictions.p;
  answer["target"]["log_ratio"] = predictions.log_ratio;
  if (request.contains("cells")) answer["map"] = map_of(model, request);
  if (request.value("model", false)) answer["model"] = model.to_text();
  return answer;
}

constexpr auto handlers = std::to_array<std::pair<const char*, Json (*)(const Json&)>>(
    {{"presets", presets}, {"draw", draw}, {"table", table}, {"fit", fit}});

}  // namespace

std::string answer(const std::string& request) {
  try {
    const Json json = Json::parse(request);
    const auto what = json.at("do").get<std::string>();
    for (const auto& [name, handle] : handlers) {
      if (name == what) return handle(json).dump();
    }
    fail_input("there is no request '{}'", what);
  } catch (const std::exception& e) {
    return Json{{"error", e.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace covshift::playground

/// For JavaScript: the answer stays valid until the next call.
extern "C" const char* covshift_answer(const char* request) {
  static std::string text;
  text = covshift::playground::answer(request);
  return text.c_str();
}
