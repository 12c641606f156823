#include "covshift/lab/tables.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/pca.hpp"
#include "covshift/data/scaling.hpp"
#include "covshift/lab/statistics.hpp"

namespace covshift {
namespace {

using Kind = LambdaChoice::Kind;

struct PaperRow {
  const char* dataset;
  std::vector<double> numbers;
};

TableRun run_uci(TableRun run, const std::vector<PaperRow>& rows, const std::string& folder,
                 const ExperimentOptions& options) {
  run.options = options;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Dataset data = load_dataset(rows[r].dataset, folder);
    ExperimentOptions part = options;
    part.progress = [&](double share) {
      if (!options.progress) return;
      options.progress((static_cast<double>(r) + share) / static_cast<double>(rows.size()));
    };
    run.rows.push_back(
        {data.title, run_draws(data, run.contestants, run.reading, part), rows[r].numbers});
  }
  return run;
}

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

/// Two blocks of columns side by side, for some rows.
Matrix beside(const Matrix& first, const Matrix& second, std::span<const std::size_t> rows) {
  Matrix out;
  out.rows = rows.size();
  out.cols = first.cols + second.cols;
  for (const std::size_t i : rows) {
    for (const Matrix* block : {&first, &second}) {
      const auto begin = block->values.begin() + static_cast<std::ptrdiff_t>(i * block->cols);
      out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(block->cols));
    }
  }
  return out;
}

struct Setting {
  const char *changed, *changed_to, *kept;
  std::vector<double> paper;
};

}  // namespace

Reading default_reading() {
  Reading reading;
  reading.name = "default";
  reading.sampling.crossing = 0.1;
  return reading;
}

std::vector<Contestant> log_loss_contestants() {
  return {{"robust-view", {Kind::iwcv}},
          {"robust", {Kind::iwcv}},
          {"lr", {Kind::cv}},
          {"iw", {Kind::iwcv}}};
}

std::vector<double> TableRun::values(std::size_t row, std::size_t contestant) const {
  std::vector<double> out;
  for (const std::vector<Outcome>& draw : rows[row].outcomes) {
    out.push_back(accuracy ? draw[contestant].accuracy : draw[contestant].log_loss);
  }
  return out;
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
                     {"svm", {Kind::cv}},
                     {"iw-svm", {Kind::iwcv}}};
  run.reading = reading;
  return run_uci(std::move(run),
                 {{"seeds", {0.834, 0.820, 0.820, 0.820}},
                  {"vertebral", {0.823, 0.805, 0.748, 0.748}},
                  {"vehicle", {0.547, 0.535, 0.497, 0.497}},
                  {"spam", {0.757, 0.711, 0.724, 0.724}}},
                 folder, options);
}

TableRun run_table2(const std::string& folder, const Reading& reading,
                    const ExperimentOptions& options) {
  TableRun run;
  run.name = "table2";
  run.title = "Log loss under shift, each feature a view";
  run.measure = "log loss (bits)";
  run.accuracy = false;
  run.level = 0.05;
  run.contestants = log_loss_contestants();
  run.reading = reading;
  return run_uci(std::move(run),
                 {{"seeds", {1.039, 1.105, 1.385, 1.299}},
                  {"vertebral", {0.577, 0.830, 0.811, 0.810}},
                  {"vehicle", {1.68, 1.82, 2.82, 2.59}},
                  {"spam", {0.853, 1.804, 1.981, 0.969}}},
                 folder, options);
}

TableRun run_table3(const std::string& folder, const DocumentReading& reading,
                    const ExperimentOptions& options) {
  const Documents documents = load_documents(folder);
  const std::vector<Matrix> views = reduced(documents, reading);
  const auto view_of = [&](const char* language) -> const Matrix& {
    const auto at = std::find(documents.languages.begin(), documents.languages.end(), language);
    return views[static_cast<std::size_t>(at - documents.languages.begin())];
  };
  const std::vector<Setting> settings = {{"EN", "GR", "FR", {1.88, 2.44, 11.04, 10.39}},
                                         {"EN", "FR", "GR", {1.69, 2.38, 6.53, 6.15}},
                                         {"IT", "FR", "GR", {1.96, 2.48, 8.40, 7.59}},
                                         {"EN", "GR", "IT", {1.94, 2.54, 12.72, 8.31}}};
  TableRun run;
  run.name = "table3";
  run.title = "Log loss on documents, one of two languages changed";
  run.measure = "log loss (bits)";
  run.accuracy = false;
  run.level = 0.05;
  run.contestants = log_loss_contestants();
  run.reading.name = "documents";
  run.reading.shift = reading.shift;
  run.documents = reading;
  run.options = options;
  for (const Setting& setting : settings) {
    run.rows.push_back({fmt::format("{} {} - {} {}", setting.changed, setting.kept,
                                    setting.changed_to, setting.kept),
                        std::vector<std::vector<Outcome>>(static_cast<std::size_t>(options.draws)),
                        setting.paper});
  }
  std::mutex mutex;
  int done = 0;
  const std::size_t tasks = settings.size() * static_cast<std::size_t>(options.draws);
  parallel_tasks(options.threads, tasks, [&](std::size_t task) {
    if (options.cancelled && options.cancelled()) throw Error(Error::Kind::stopped, "stopped");
    const Setting& setting = settings[task % settings.size()];
    const std::size_t draw = task / settings.size();
    std::vector<std::size_t> order(documents.labels.size());
    std::iota(order.begin(), order.end(), 0);
    Random random(options.seed * 1'000'003 + draw);
    random.shuffle(std::span(order));
    const std::span<const std::size_t> all(order);
    const auto train = all.first(all.size() / 2);
    const auto target = all.subspan(all.size() / 2);
    Split split;
    split.train = beside(view_of(setting.changed), view_of(setting.kept), train);
    split.target = beside(view_of(setting.changed_to), view_of(setting.kept), target);
    const Scaler scaler = Scaler::fit(reading.scale, split.train);
    scaler.apply(split.train);
    scaler.apply(split.target);
    for (const std::size_t i : train) split.train_labels.push_back(documents.labels[i]);
    for (const std::size_t i : target) split.target_labels.push_back(documents.labels[i]);
    split.classes = documents.classes;
    split.views.names = {"changed", "kept"};
    split.views.view_of.assign(split.train.cols, 1);
    std::fill_n(split.views.view_of.begin(), view_of(setting.changed).cols, 0);
    run.rows[task % settings.size()].outcomes[draw] =
        run_split(split, run.contestants, reading.shift, options.seed + draw);
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(tasks));
  });
  return run;
}

}  // namespace covshift
