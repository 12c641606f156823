#include "covshift/options/options.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "covshift/base/words.hpp"
#include "covshift/data/feature_map.hpp"

namespace covshift {
namespace {

using Type = OptionType;

constexpr std::string_view column_prefix = "column:";

/// The parts of ALL,VIEW=column:NAME,...: what is said of all inputs, and of single views.
struct ByView {
  std::string all;
  std::vector<std::pair<std::string, std::string>> columns;  ///< a view and its column
};
ByView by_view(const std::string& text) {
  ByView parts;
  std::string* last = &parts.all;
  bool first = true;
  for (const std::string& part : split(text)) {
    const std::size_t equals = part.find("=" + std::string(column_prefix));
    if (equals != std::string::npos && equals > 0) {
      parts.columns.emplace_back(part.substr(0, equals),
                                 part.substr(equals + 1 + column_prefix.size()));
      last = &parts.columns.back().second;
    } else {  // a name may contain commas
      *last += (first ? "" : ",") + part;
    }
    first = false;
  }
  if (parts.all.empty()) {
    fail_input("'{}' has no value for all inputs; put it first, as in X,VIEW=column:NAME", text);
  }
  return parts;
}

/// The columns of densities of this view, to be filled in.
PreparationOptions::ViewColumns& columns_of_view(PreparationOptions& o, const std::string& view) {
  for (auto& own : o.view_columns) {
    if (own.view == view) return own;
  }
  return o.view_columns.emplace_back(PreparationOptions::ViewColumns{view, "", ""});
}

/// True, and the name, if the text is column:NAME.
bool column_name(const std::string& text, std::string& name) {
  if (!text.starts_with(column_prefix)) return false;
  name = text.substr(column_prefix.size());
  return true;
}

std::vector<std::string_view> with(std::span<const std::string_view> words,
                                   std::initializer_list<std::string_view> more) {
  std::vector<std::string_view> all(words.begin(), words.end());
  all.insert(all.end(), more);
  return all;
}

/// Throws Error unless the text is one of the words, some of which end in a value (abstain:A) or
/// may (views[:D]).
void check_form(const std::string& text, const std::vector<std::string_view>& known) {
  const bool fits = std::any_of(known.begin(), known.end(), [&](std::string_view word) {
    const std::size_t value = word.find_first_of("[:");
    const std::string_view stem = word.substr(0, value);
    if (text == stem) return value == word.npos || word[value] == '[';
    return value != word.npos && text.starts_with(fmt::format("{}:", stem));
  });
  if (!fits) fail_name("", text, known);
}

Options with_more(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::vector<std::string_view> method_names(std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> known;
  for (const Method& m : methods()) known.push_back(m.name);
  known.insert(known.end(), others);
  return known;
}

Option methods_option(std::vector<std::string>& x) {
  const std::vector<std::string_view> known = method_names({"auto", "tempered"});
  return row({"--methods", "methods"}, Type::list, joined(known, ","), "",
             "Methods to compare; tempered is robust with --generalize temper:auto (default: all)",
             [&x, known](const std::vector<std::string>& given) {
               std::set<std::string> seen;
               for (const std::string& name : given) {
                 if (!seen.insert(one_of(name, known)).second)
                   fail_input("'{}' is named twice", name);
               }
               x = given;
             });
}

/// A file of costs is read later: an error in a file is not a usage error.
Option loss_option(std::string& x) {
  return parsed(
      {"--loss", "loss", "log"}, Type::text, joined(with(loss_names(), {"cost:FILE"})), x,
      "Loss instead of the method's own; absolute and squared need ordered classes, abstaining "
      "costs A, FILE has a row of costs for each action and a column for each class",
      [&x](const std::string& text) {
        check_form(text, with(loss_names(), {"cost:FILE"}));
        if (text == "cost:") fail_name("", text, with(loss_names(), {"cost:FILE"}));
        if (!text.starts_with("cost:")) make_game(text, 3);
        x = text;
      });
}

Option generalize_option(ModelOptions& o) {
  const std::vector<std::string_view> known =
      with(assumption_values, {"temper:auto", "column:NAME"});
  return parsed(
      {"--generalize", "generalize", "auto"}, Type::text, joined(known), "",
      "Where training evidence is trusted; overrides the method's assumption. temper:auto selects "
      "G; column:NAME reads log P_gen/P_target; append ,VIEW=column:NAME for a single view",
      [&o, known](const std::string& given) {
        const auto [text, columns] = by_view(given);
        check_form(text, known);
        for (const auto& [view, column] : columns) {
          columns_of_view(o, view).generalization = column;
        }
        if (text == "temper:auto") {
          o.fit.choose_temper = true;
        } else if (column_name(text, o.generalization_column)) {
          o.fit.generalize = Assumption{Assumption::Kind::given};
        } else {
          o.fit.generalize = parse_assumption(text);
        }
      });
}

Option model_ratio_option(ModelOptions& o) {
  Option option = ratio_option(o.fit.shift.ratio.method);
  option.values += "|column:NAME";
  option.help += "; column:NAME reads P_target/P_train; append ,VIEW=column:NAME for a single view";
  option.set = [&o, estimated = option.set](const std::vector<std::string>& given) {
    const auto [text, columns] = by_view(given.at(0));
    for (const auto& [view, column] : columns) columns_of_view(o, view).ratio = column;
    if (column_name(text, o.ratio_column)) return;
    estimated({one_of(text, with(names_of<RatioMethod>(), {"column:NAME"}))});
  };
  return option;
}

std::string lambda_values() {
  std::string values = "NUMBER";
  for (const auto& [kind, name] : names<LambdaChoice::Kind>) {
    if (kind != LambdaChoice::Kind::fixed) values += fmt::format("|{}", name);
  }
  return values;
}

Option bias_option(FitOptions& o) {
  const std::vector<std::string_view> known = with(names_of<BiasAssumption>(), {"none"});
  return parsed({"--bias", "bias"}, Type::text, joined(known), "joint",
                "Scaling of the bias: like all inputs jointly, unscaled (test), or no bias",
                [&o, known](const std::string& text) {
                  o.bias = one_of(text, known) != "none";
                  o.shift.bias = o.bias ? parse_name<BiasAssumption>(text) : BiasAssumption::joint;
                });
}

}  // namespace

Option views_option(std::string& x, const std::string& otherwise) {
  return text({"--views", "views"}, x, "all|each|FILE",
              "Groups of columns: one group, each column, or FILE with lines 'name = column, col* "
              ": map'" +
                  otherwise);
}

Option features_option(std::string& x) {
  return parsed(
      {"--features", "features"}, Type::text, map_values(), x,
      fmt::format(
          "Feature maps for views without one of their own; join several with +. nystroem:200:1.5 "
          "also sets the kernel width (default: median distance). auto tries linear, {} and, if no "
          "shift is detected, {} (default: auto for the method auto, else linear)",
          smooth_map, bends_map),
      [&x](const std::string& text) {
        parse_maps(text);
        x = text;
      });
}

Option view_threshold_option(double& x) {
  return number({"--view-threshold", "view_threshold"}, x, ShiftOptions::thresholds,
                "Views with a symmetric KL between training and target below this are stable");
}

Option ratio_option(RatioMethod& x) {
  return choice({"--ratio", "ratio"}, x, "Estimator of the density ratio P_target/P_train");
}

Option ratio_lambda_option(RatioLambda& x) {
  return parsed(
      {"--ratio-lambda", "ratio_lam"}, Type::text_or_number,
      "NUMBER|" + joined(names_of<RatioLambda::Rule>()), to_string(x),
      "Regularisation of the logistic and quadratic ratios; stable is cv, increased until the "
      "effective sample size is at least half the rows or 100",
      [&x](const std::string& text) { x = RatioLambda::parse(text); });
}

Option scale_option(ScaleKind& x) {
  return choice({"--scale", "scale"}, x,
                "Feature scaling, fitted on the training data: to [0, 1], or to mean 0 and "
                "standard deviation "
                "1, clipped at 8 standard deviations");
}

Option lambdas_option(std::vector<double>& x) {
  const std::vector<double> grid = default_lambdas();
  return row({"--lambdas", "lams"}, Type::list, "a,b,c", "",
             fmt::format("Values of lambda to choose from (default: {}, {}, 1/{}, ..., 2^{}, and "
                         "between them)",
                         grid[0], grid[1], 1 / grid[2], std::log2(grid.back())),
             [&x](const std::vector<std::string>& given) {
               x.clear();
               for (const std::string& part : given) x.push_back(parse_in(allowed::positive, part));
             });
}

Option folds_option(int& x) {
  return whole({"--folds", "folds"}, x, allowed::fold_counts, "Number of cross-validation folds");
}

Option threads_option(int& x) {
  return whole({"--threads", "threads"}, x, {.low = 0, .high = 4096, .note = "0 means all cores"},
               "Threads to use");
}

Options file_options(ReadOptions& o) {
  return {
      choice({"--header"}, o.header,
             "Whether CSV files name their columns in the first line (auto: by comparing it with "
             "the lines below)"),
      choice({"--encoding"}, o.encoding,
             "Character encoding of text files (auto: UTF-8, or UTF-16 if marked)")};
}

Options memory_options(MemoryOptions& o) {
  return {
      parsed({"--memory"}, OptionType::text, "SIZE", "",
             "Read files a block at a time, and keep rows in a cache on disk, so that data take "
             "about this much memory: 512M, 2G (default: files are read as a whole)",
             [&o](const std::string& text) { o.bytes = MemoryOptions::parse(text); }),
      text({"--cache-dir"}, o.folder, "FOLDER",
           "Directory for that cache, which is removed on exit (default: TMPDIR, /tmp or "
           "/var/tmp)")};
}

Options column_options(ColumnOptions& o) {
  return {
      list({"--drop"}, o.drop, "a,b", "Columns to leave out"),
      list({"--keep"}, o.keep, "a,b",
           "Columns to leave out and copy beside predictions and named rows, such as an id"),
      list({"--numeric"}, o.numeric, "a,b",
           "Columns of numbers, also with decimal commas (1.234,5) or commas between thousands "
           "(1,234.5)"),
      list({"--categorical"}, o.categorical, "a,b",
           "Columns of categories, even if they look like numbers"),
      list({"--dates", "dates"}, o.dates, "a,b",
           "Columns of dates, which become numbers: year, month, weekday and days"),
      choice(
          {"--missing", "missing"}, o.missing,
          "Missing values: reject; impute the training median or most frequent category; or impute "
          "and add an indicator (categories: a separate level)")};
}

Options model_options(ModelOptions& o) {
  FitOptions& fit = o.fit;
  Options options = {
      word({"--method"}, fit.method, method_names({"auto"}),
           "Method to fit; auto chooses by held-out rows: a mixture for log loss, else one method"),
      loss_option(fit.loss),
      generalize_option(o),
      views_option(o.views,
                   "; the method auto tries to trust the groups that hardly shift (default: each "
                   "for the assumption views, else all)"),
      features_option(fit.features),
      row({"--generalized-views", "generalized_views"}, Type::list, "auto|a,b", "auto",
          "Views to trust under the assumption 'views'",
          [&shift = fit.shift](const std::vector<std::string>& given) {
            shift.automatic = given.size() == 1 && given[0] == "auto";
            shift.generalized_views = shift.automatic ? std::vector<std::string>{} : given;
          }),
      view_threshold_option(fit.shift.view_threshold),
      parsed(
          {"--caution", "caution"}, Type::number, "NUMBER", "",
          fmt::format("How strongly predictions are damped outside the training data, from 0 "
                      "(extrapolate) to 1 (as in the paper); default: {} for auto, else 1",
                      auto_caution),
          [&fit](const std::string& text) { fit.caution = parse_in(FitOptions::cautions, text); }),
      parsed({"--lambda", "lam"}, Type::text_or_number, lambda_values(), "auto",
             "Regularisation; cv is cross validation, iwcv the same with held-out losses weighted "
             "by the density ratio; auto is half of each, cv without a target",
             [&fit](const std::string& text) { fit.lambda = LambdaChoice::parse(text); }),
      lambdas_option(fit.lambdas),
      choice({"--penalty", "penalty"}, fit.penalty,
             "Penalty: squared L2 norm of the weights, or the norm itself (the paper's epsilon), "
             "which gives the same solutions at a different lambda"),
      folds_option(fit.folds),
      model_ratio_option(o),
      ratio_lambda_option(fit.shift.ratio.lambda),
      scale_option(o.scale),
      bias_option(fit),
      list({"--classes", "classes"}, o.classes, "a,b,c",
           "Classes in order, for ordinal losses and cost matrices (default: sorted)"),
      text({"--weight"}, o.weight, "COLUMN",
           "Column of sample weights; a weight of 2 counts the row twice"),
      number({"--delta", "delta"}, fit.delta, FitOptions::deltas,
             "Probability that the promised bound on the target loss may fail"),
      number({"--tolerance", "tol"}, fit.solve.tolerance, SolveOptions::tolerances,
             "Duality gap to reach, relative to the objective"),
      whole({"--max-iterations", "max_iter"}, fit.solve.max_iterations,
            {.low = 0, .note = "0 means the solver's own limit"}, "Maximum number of iterations"),
      number({"--time-limit", "time_limit"}, fit.solve.time_limit,
             {.low = 0, .note = "0 means no limit"},
             "Seconds for the final fit, and for the choice of the ratio's lambda"),
      seed_option(fit.solve.seed),
  };
  return with_more(std::move(options), column_options(o.columns));
}

PreparationOptions for_comparison() {
  PreparationOptions inputs;
  inputs.views.clear();
  return inputs;
}

PreparationOptions for_diagnosis() {
  PreparationOptions inputs;
  inputs.views = "each";
  inputs.cut = false;
  return inputs;
}

Options diagnose_options(DiagnoseOptions& o, PreparationOptions& inputs) {
  Options options = {
      views_option(inputs.views),
      view_threshold_option(o.view_threshold),
      ratio_option(o.ratio.method),
      ratio_lambda_option(o.ratio.lambda),
      scale_option(inputs.scale),
      whole({"--permutations", "permutations"}, o.permutations, DiagnoseOptions::permutation_counts,
            "Random relabellings in the test for shift"),
      number({"--level", "level"}, o.level, DiagnoseOptions::levels,
             "p-values up to this count as shift"),
      whole({"--rows"}, o.examples, allowed::between(1, 200),
            "Rows to show, and rows to label first"),
      seed_option(o.seed),
  };
  return with_more(std::move(options), column_options(inputs.columns));
}

Options compare_options(CompareOptions& o, PreparationOptions& inputs) {
  Options options = {
      methods_option(o.methods),
      choice({"--metric", "metric"}, o.metric, "Score that decides"),
      number({"--level", "level"}, o.level, CompareOptions::levels,
             "Significance level of the comparison with the best, for all methods together"),
      views_option(inputs.views, " (default: as in fit, for each method)"),
      features_option(o.fit.features),
      view_threshold_option(o.fit.shift.view_threshold),
      ratio_option(o.fit.shift.ratio.method),
      ratio_lambda_option(o.fit.shift.ratio.lambda),
      scale_option(inputs.scale),
      folds_option(o.fit.folds),
      seed_option(o.fit.solve.seed),
  };
  return with_more(std::move(options), column_options(inputs.columns));
}

Options estimate_options(EstimateOptions& o) {
  return {
      number({"--level", "level"}, o.level, EstimateOptions::levels,
             "Probability that an interval contains the true value"),
      ratio_option(o.ratio.method),
      ratio_lambda_option(o.ratio.lambda),
      folds_option(o.ratio.folds),
      seed_option(o.ratio.seed),
  };
}

namespace {

/// Of training, or of the target if it has its own.
Option sampling_interval(OptionName name, auto& x, std::string fallback, std::string help) {
  return interval(name, std::move(fallback), std::move(help), [&x](double low, double high) {
    x = BiasedSampling::Interval{low, high};
  });
}
std::string interval_text(const BiasedSampling::Interval& x) {
  return fmt::format("{} {}", x.low, x.high);
}

}  // namespace

Options sampling_options(BiasedSampling& o) {
  return {
      number({"--quantile", "quantile"}, o.quantile, BiasedSampling::quantiles,
             "Quantile of the feature at which rows are split into training and target"),
      number({"--crossing", "crossing"}, o.crossing, BiasedSampling::crossings,
             "Probability that a row crosses to the other side of the split"),
      sampling_interval({"--a", "a"}, o.a, interval_text(o.a),
                        "Range of a: the centre is min + (max - min)/a"),
      sampling_interval({"--b", "b"}, o.b, interval_text(o.b), "Range of b: the spread is std/b"),
      sampling_interval({"--target-a", "target_a"}, o.target_a, "",
                        "Range of a for the target portion (default: as for training)"),
      sampling_interval({"--target-b", "target_b"}, o.target_b, "",
                        "Range of b for the target portion (default: as for training)"),
      whole({"--n-train", "n_train"}, o.train, {.low = 1}, "Rows of the training sample"),
      whole({"--n-target", "n_target"}, o.target, {.low = 1}, "Rows of the target sample"),
      flag({"--without-replacement", "replacement"}, o.replacement,
           "Sample without replacement (Python: replacement=False)", false),
      seed_option(o.seed),
  };
}

Options ratio_options(RatioMethod method, RatioOptions& o) {
  const Option width = number_or_cv({"", "kernel_width"}, o.kernel_width,
                                    RatioOptions::kernel_values, "Width of the Gaussian kernels");
  const Option lambda =
      number_or_cv({"", "lam"}, o.kernel_lambda, RatioOptions::kernel_values, "Regularisation");
  const Option centres = whole({"", "centres"}, o.centres, RatioOptions::centre_counts,
                               "Target rows that are centres of kernels, at most all");
  Options table;
  switch (method) {
    case RatioMethod::logistic:
      table = {ratio_lambda_option(o.lambda)};
      table[0].python = "lam";
      break;
    case RatioMethod::ulsif:
      o.alpha = 0;  // uLSIF is RuLSIF with alpha 0
      [[fallthrough]];
    case RatioMethod::rulsif:
      table = {
          width, lambda, centres,
          number({"", "alpha"}, o.alpha, RatioOptions::alphas,
                 "RuLSIF estimates P_target/(alpha P_target + (1 - alpha) P_train); 0 is uLSIF")};
      break;
    case RatioMethod::kliep:
      table = {width, centres};
      break;
    case RatioMethod::kmm:
      table = {width, lambda,
               number({"", "bound"}, o.kmm_bound, RatioOptions::kmm_bounds, "Largest weight"),
               parsed({"", "slack"}, Type::number, "NUMBER", "",
                      "Largest distance of the mean weight from 1 (default: 1/sqrt(n_samples))",
                      [&o](const std::string& text) {
                        o.kmm_slack = parse_in(RatioOptions::kmm_slacks, text);
                      })};
      break;
    default:
      return {};
  }
  table.push_back(folds_option(o.folds));
  return table;
}

std::vector<std::pair<std::string, Options>> python_options() {
  ModelOptions model;
  DiagnoseOptions diagnose;
  PreparationOptions inputs = for_diagnosis();
  CompareOptions compare;
  PreparationOptions compared = for_comparison();
  BiasedSampling sampling;
  EstimateOptions estimate;
  RatioOptions ratio;
  ScaleKind scale = ModelOptions().scale;
  RatioOptions alone;  // without a classifier, a ratio is not smoothed
  alone.lambda.rule = RatioLambda::Rule::cv;
  std::vector<std::pair<std::string, Options>> tables = {
      {"RobustClassifier", model_options(model)},
      {"diagnose", diagnose_options(diagnose, inputs)},
      {"compare", compare_options(compare, compared)},
      {"estimate", estimate_options(estimate)},
      {"biased_sample", sampling_options(sampling)}};
  for (const auto& [name, method] : std::initializer_list<std::pair<const char*, RatioMethod>>{
           {"LogisticRatio", RatioMethod::logistic},
           {"GaussianRatio", RatioMethod::gaussian},
           {"ULSIF", RatioMethod::ulsif},
           {"KLIEP", RatioMethod::kliep},
           {"KMM", RatioMethod::kmm}}) {
    tables.emplace_back(name, ratio_options(method, alone));
    tables.back().second.push_back(scale_option(scale));
    tables.back().second.push_back(seed_option(alone.seed));
  }
  for (auto& [name, table] : tables) {
    if (name != "biased_sample") table.push_back(threads_option(ratio.threads));
    std::erase_if(table, [](const Option& o) { return o.python.empty(); });
    for (Option& o : table) o.set = nullptr;  // bound to local variables
  }
  return tables;
}

}  // namespace covshift
