#include "covshift/lab/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/pca.hpp"
#include "covshift/data/rows.hpp"
#include "covshift/lab/statistics.hpp"

namespace covshift {
namespace {

using Kind = LambdaChoice::Kind;

/// Documents projected on principal components, one matrix for each language.
std::vector<Matrix> reduced(const Documents& documents, const DocumentReading& reading) {
  std::vector<Matrix> views;
  for (const Matrix& view : documents.views) {
    const Pca pca = Pca::fit(view.view(), std::min({reading.components, view.rows, view.cols}));
    Matrix scores = pca.transform(view.view());
    for (std::size_t j = 0; j < scores.cols && !reading.centred; ++j) {
      const double* direction = pca.directions().data() + j * pca.cols();
      const double offset =
          std::inner_product(pca.mean().begin(), pca.mean().end(), direction, 0.0);
      for (std::size_t i = 0; i < scores.rows; ++i) scores.values[i * scores.cols + j] += offset;
    }
    views.push_back(std::move(scores));
  }
  return views;
}

/// Two dense matrices side by side.
Matrix beside(const Matrix& first, const Matrix& second) {
  Matrix out;
  out.rows = first.rows;
  out.cols = first.cols + second.cols;
  for (std::size_t i = 0; i < out.rows; ++i) {
    for (const Matrix* block : {&first, &second}) {
      const auto begin = block->values.begin() + static_cast<std::ptrdiff_t>(i * block->cols);
      out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(block->cols));
    }
  }
  return out;
}

/// A random half of the documents in two languages for training; the other half, with `after` in
/// place of the first language, as the target. languages: before, after, kept.
Split document_split(const Documents& documents, const std::array<const Matrix*, 3>& languages,
                     const DocumentReading& reading, std::uint64_t seed) {
  std::vector<std::size_t> order(documents.labels.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  random.shuffle(std::span(order));
  const std::span<const std::size_t> all(order);
  const std::size_t rows = reading.rows > 0 ? reading.rows : all.size() / 2;
  if (2 * rows > all.size()) {
    fail_input("{} documents are too few for two samples of {} rows", all.size(), rows);
  }
  const auto train = all.first(rows);
  const auto target = reading.rows > 0 ? all.subspan(rows, rows) : all.subspan(rows);
  const auto& [before, after, kept] = languages;
  PreparationOptions options;
  options.scale = reading.scale;
  options.view_groups = {{"changed", {}}, {"kept", {}}};
  for (std::size_t j = 0; j < before->cols + kept->cols; ++j) {
    options.view_groups[j < before->cols ? 0 : 1].columns.push_back(fmt::format("c{}", j + 1));
  }
  return {take_rows(beside(*before, *kept).view(), train),
          take<int>(documents.labels, train),
          take_rows(beside(*after, *kept).view(), target),
          take<int>(documents.labels, target),
          documents.classes,
          std::move(options)};
}

/// The paper's criterion for two languages: of the two views, the one with the lower KL
/// generalizes.
FitOptions with_stable_view(FitOptions fit, const Split& split, unsigned long long seed) {
  ShiftOptions estimate = fit.shift;
  estimate.ratio.seed = seed;
  estimate.ratio.threads = 1;
  const TrainingData data(split.preparation, split.train, &split.target);
  const Shift shift = Shift::fit({Assumption::Kind::views}, estimate, data.views, data.features,
                                 split.target.features, {}, {}, {});
  const auto lowest = std::min_element(
      shift.views().begin(), shift.views().end(),
      [](const ViewShift& one, const ViewShift& other) { return one.kl < other.kl; });
  fit.shift.automatic = false;
  fit.shift.generalized_views = {lowest->name};
  return fit;
}

TableRun log_loss_table(std::string name, std::string title) {
  TableRun run;
  run.name = std::move(name);
  run.title = std::move(title);
  run.measure = "log loss (bits)";
  run.accuracy = false;
  run.level = 0.05;
  run.contestants = log_loss_contestants();
  return run;
}

/// The four UCI data sets, with the paper's numbers for each.
TableRun run_uci(TableRun run, const std::array<std::vector<double>, 4>& paper,
                 const std::string& folder, const Reading& reading,
                 const ExperimentOptions& options) {
  constexpr std::array<const char*, 4> names = {"seeds", "vertebral", "vehicle", "spam"};
  run.reading = reading;
  run.options = options;
  for (std::size_t r = 0; r < names.size(); ++r) {
    const Dataset data = load_dataset(names[r], folder);
    run.rows.push_back(
        {data.title, run_draws(data, run.contestants, reading, part_of(options, r, names.size())),
         paper[r]});
  }
  return run;
}

}  // namespace

Reading default_reading() {
  Reading reading;
  reading.sampling.crossing = 0.1;
  return reading;
}

std::vector<Contestant> log_loss_contestants() {
  return {{"robust-view", {Kind::iwcv}},
          {"robust", {Kind::iwcv}},
          {"lr", {Kind::cv}},
          {"iw", {Kind::iwcv}}};
}

std::vector<bool> TableRun::best(std::size_t row) const {
  std::size_t top = 0;
  std::vector<std::vector<double>> all;
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    all.push_back(values(row, c));
    const double lead = mean(all[c]) - mean(all[top]);
    if (accuracy ? lead > 0 : lead < 0) top = c;
  }
  std::vector<bool> marks;
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    marks.push_back(c == top || (all[c].size() > 1 && paired_t_test(all[c], all[top]).p >= level));
  }
  return marks;
}

TableRun run_table1(const std::string& folder, const Reading& reading,
                    const ExperimentOptions& options) {
  TableRun run;
  run.name = "table1";
  run.title = "Accuracy under shift, zero-one and hinge losses";
  run.measure = "accuracy";
  run.contestants = {{"robust01", {Kind::iwcv}},
                     {"adv01", {Kind::iwcv}},
                     {"svm", {Kind::iwcv}},
                     {"iw-svm", {Kind::iwcv}}};
  return run_uci(std::move(run),
                 {{{0.834, 0.820, 0.820, 0.820},
                   {0.823, 0.805, 0.748, 0.748},
                   {0.547, 0.535, 0.497, 0.497},
                   {0.757, 0.711, 0.724, 0.724}}},
                 folder, reading, options);
}

TableRun run_table2(const std::string& folder, const Reading& reading,
                    const ExperimentOptions& options) {
  return run_uci(log_loss_table("table2", "Log loss under shift, each feature a view"),
                 {{{1.039, 1.105, 1.385, 1.299},
                   {0.577, 0.830, 0.811, 0.810},
                   {1.68, 1.82, 2.82, 2.59},
                   {0.853, 1.804, 1.981, 0.969}}},
                 folder, reading, options);
}

TableRun run_beyond(const std::string& folder, const Reading& reading,
                    const ExperimentOptions& options) {
  TableRun run = log_loss_table("beyond", "Beyond the paper: log loss with other assumptions");
  run.contestants.push_back({"overlap", {Kind::iwcv}});
  run.contestants.push_back({"robust", {Kind::iwcv}, "temper:0.5"});
  run.contestants.push_back({"robust", {Kind::iwcv}, "temper:auto"});
  run.contestants.push_back({"lr", {Kind::cv}, "", "nystroem:50"});
  run.contestants.push_back({"robust", {Kind::iwcv}, "", "nystroem:50"});
  run.contestants.push_back({"overlap", {Kind::iwcv}, "", "nystroem:50"});
  return run_uci(std::move(run), {}, folder, reading, options);
}

TableRun run_table3(const std::string& folder, const DocumentReading& reading,
                    const ExperimentOptions& options) {
  struct Languages {
    const char *changed, *changed_to, *kept;
    std::vector<double> paper;
  };
  const std::vector<Languages> settings = {{"EN", "GR", "FR", {1.88, 2.44, 11.04, 10.39}},
                                           {"EN", "FR", "GR", {1.69, 2.38, 6.53, 6.15}},
                                           {"IT", "FR", "GR", {1.96, 2.48, 8.40, 7.59}},
                                           {"EN", "GR", "IT", {1.94, 2.54, 12.72, 8.31}}};
  const Documents documents = load_documents(folder);
  const std::vector<Matrix> views = reduced(documents, reading);
  const auto view_of = [&](const char* language) {
    const auto at = std::find(documents.languages.begin(), documents.languages.end(), language);
    return &views[static_cast<std::size_t>(at - documents.languages.begin())];
  };
  TableRun run = log_loss_table("table3", "Log loss on documents, one of two languages changed");
  run.reading.fit = reading.fit;
  run.documents = reading;
  run.options = options;
  const std::size_t draws = all_draws(options);
  for (const Languages& s : settings) {
    run.rows.push_back({fmt::format("{} {} - {} {}", s.changed, s.kept, s.changed_to, s.kept),
                        Outcomes(draws), s.paper});
  }
  run_tasks(options, settings.size() * draws, [&](std::size_t task) {
    const Languages& s = settings[task % settings.size()];
    const std::size_t draw = task / settings.size();
    const auto per_seed = static_cast<std::size_t>(options.draws);
    const unsigned long long seed = options.seed + draw / per_seed;
    const Split split =
        document_split(documents, {view_of(s.changed), view_of(s.changed_to), view_of(s.kept)},
                       reading, seed * 1'000'003 + draw % per_seed);
    const FitOptions fit = with_stable_view(reading.fit, split, seed + draw % per_seed);
    run.rows[task % settings.size()].outcomes[draw] =
        run_split(split, run.contestants, fit, seed + draw % per_seed);
  });
  return run;
}

}  // namespace covshift
