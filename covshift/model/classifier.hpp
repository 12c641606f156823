// model/: fitted models: fitting, prediction, certificate, file format.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/base/range.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/game/game.hpp"
#include "covshift/learn/solve.hpp"
#include "covshift/model/certificate.hpp"
#include "covshift/model/component.hpp"
#include "covshift/promise/conformal.hpp"
#include "covshift/select/cross_validation.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift {

/// The regularisation weight: a number, or chosen by cross validation on a grid.
struct LambdaChoice {
  enum class Kind {
    automatic,  ///< held-out losses count half by cv, half by iwcv; cv where the ratio is not used
    fixed,
    cv,
    iwcv,  ///< as in the paper
  };
  Kind kind = Kind::automatic;
  double value = 0;

  /// A positive number, "auto", "cv" or "iwcv"; throws Error otherwise.
  static LambdaChoice parse(const std::string& text);
};

template <>
inline constexpr auto names<LambdaChoice::Kind> =
    std::to_array<Named<LambdaChoice::Kind>>({{LambdaChoice::Kind::automatic, "auto"},
                                              {LambdaChoice::Kind::fixed, "fixed"},
                                              {LambdaChoice::Kind::cv, "cv"},
                                              {LambdaChoice::Kind::iwcv, "iwcv"}});

/// The paper's grid: 2^-16, 2^-12, 2^-8, 2^-4, 1.
std::vector<double> paper_lambdas();
/// 2^2, 1, ..., 2^-18: wide enough that its ends are hardly ever chosen.
std::vector<double> default_lambdas();

/// What the method auto uses if nothing is given (docs/choice.md has the study of it): the caution,
/// and the maps to try beside linear, for anything smooth of all columns and for each column's own
/// bends.
inline constexpr double auto_caution = 0.5;
inline constexpr const char* smooth_map = "nystroem:150";
inline constexpr const char* bends_map = "splines:8";

struct FitOptions {
  /// A row of the table of methods, or "auto": what held-out rows support (docs/choice.md).
  std::string method = "auto";
  std::string loss;                      ///< empty: the method's, log for auto
  std::optional<CostMatrix> costs;       ///< the loss, if it is a cost matrix
  std::optional<Assumption> generalize;  ///< empty: the method's; given, auto leaves it alone
  bool choose_temper = false;            ///< temper with g chosen by importance-weighted CV
  /// The maps of views that name none themselves: `nystroem:200`, `linear + splines`, ...; auto:
  /// several are tried (docs/choice.md). Empty: auto for the method auto, else linear.
  std::string features;
  ShiftOptions shift;
  LambdaChoice lambda;
  /// Empty: default_lambdas(), and between them.
  std::vector<double> lambdas;
  /// How the prediction treats rows beyond all training rows: 0 trusts the evidence there as at the
  /// least supported training row, 1 fades it as the assumption says. Empty: 1, for auto
  /// auto_caution.
  std::optional<double> caution;
  static constexpr Range cautions = allowed::between(0, 1);
  /// Claim no more of any row than the training rows can show: certainty_limit(). The paper's fits
  /// have no such limit.
  bool limit_certainty = true;
  Penalty penalty = Penalty::squared;
  int folds = 5;
  bool bias = true;
  double delta = 0.05;  ///< how often what the certificate promises may fail
  static constexpr Range deltas = allowed::probability;
  bool promise = true;  ///< bound the loss on the target, keep scores for prediction sets
  /// The sample weights have factors of classes that say what errors cost, not how often rows
  /// occur: then nothing is promised.
  bool class_costs = false;
  bool held_out = false;  ///< also predict every training row with a fit that has not seen it
  SolveOptions solve;     ///< threads and seed are for all parts; the observer sees the last fit
  std::function<bool()> cancelled;  ///< called by several threads; true: throws Error (stopped)
  /// The stage and the share of it that is done; called by one thread at a time.
  std::function<void(std::string_view, double)> progress;
};

/// Whether a fit minimises log loss: the one of the method, unless another is given.
bool has_log_loss(const FitOptions& options);

/// Training data in the caller's memory.
struct TrainingData {
  TrainingData() = default;
  TrainingData(const Preparation& preparation, const PreparedRows& train,
               const PreparedRows* unlabelled);

  MatrixView features;
  std::span<const int> labels;
  int classes = 0;
  std::span<const double> sample_weight;
  /// All rows of a class weigh the same, those of another class otherwise: FitOptions::class_costs.
  bool class_costs = false;
  const MatrixView* target = nullptr;  ///< unlabelled inputs from where the model will be used
  /// Share of the target rows with a category, or a missing value, that training never saw.
  double unlike = 0;
  Views views;
  std::vector<std::int32_t> ids;  ///< columns that name rows: density ratios leave them out
  GivenDensities given_train, given_target;
  /// The shift between features and target if already estimated with these views, for several fits
  /// to the same data; null: estimated.
  const Shift* shift = nullptr;
};

struct RatioSummary {
  double effective_sample_size = 0;
  double largest_share = 0;  ///< of one example in the total weight
};

/// What was tried.
struct Candidate {
  std::string method;
  std::string features;  ///< of the views that leave their maps open
  std::string generalize;
  std::vector<CrossValidated> path;
  double lambda = 0;
  std::string lambda_choice;
  double loss = 0;            ///< held out, at lambda
  double standard_error = 0;  ///< of that loss
  double share = 0;           ///< in the model; 0: not used
};

/// How a fit to rows that several holders have went (engine/fit_parts.hpp).
struct PartsReport {
  std::string engine;
  std::size_t parts = 0;
  std::size_t rows = 0, target_rows = 0;                ///< of all parts
  std::size_t sample_rows = 0, sample_target_rows = 0;  ///< what decided all that was open
  std::size_t held_out_rows = 0,
              held_out_target_rows = 0;  ///< of no part of the fit: the promise's
  std::size_t passes = 0;                ///< over each part's rows
  double sample_seconds = 0;             ///< of the sample: what is open is decided
  double fit_seconds = 0;                ///< of all rows
};

struct FitReport {
  /// Without its weights; of several components, values by share and the worst status.
  Solution solution;
  double lambda = 0;          ///< of the first component
  std::string lambda_choice;  ///< auto, fixed, cv or iwcv
  Penalty penalty = Penalty::squared;
  std::vector<Candidate> candidates;  ///< what was tried, if something was chosen
  std::string choice;                 ///< why this, in words; empty: nothing but lambda was open
  std::optional<RatioSummary> ratio;  ///< if anything depends on it
  std::vector<double> held_out;       ///< potentials, rows x K, if requested
  std::optional<PartsReport> parts;   ///< if several holders had the rows
  double seconds = 0;                 ///< in total: ratio, selection and fit
};

struct Predictions {
  std::size_t rows = 0;
  int actions = 0;
  std::vector<double> p;          ///< rows x actions
  std::vector<double> psi;        ///< rows x K, the potentials
  std::vector<double> log_ratio;  ///< log P_test(x)/P_train(x)
  std::vector<int> action;        ///< the likeliest
};

/// A model on encoded features: what all of its components share, and these.
class Classifier {
 public:
  static Classifier fit(const TrainingData& data, const FitOptions& options);

  /// Fits the ratios and weights of this model, which was fitted to a sample, again to all rows:
  /// those of `part` and those of the other holders, by way of options.solve.reducer. Maps,
  /// assumptions and shares stay as chosen, and lambdas count as many rows of evidence as before.
  /// `target_weight`: how often each target row counts (empty: once); rows of weight 0 are left out
  /// of the estimates. `share`: how much of the weight of all training rows the sample has;
  /// `pooled_share`: the same for training and target rows together. The result has no bound on the
  /// target loss: see promise_by().
  [[nodiscard]] Classifier refit(const TrainingData& part, const FitOptions& options,
                                 std::span<const double> target_weight, double share,
                                 double pooled_share) const;
  /// Bound and prediction sets from rows that no part of the fit has seen.
  void promise_by(const TrainingData& held_out, const FitOptions& options);
  /// Those of a fit to the same rows, with its list of what was tried.
  void promise_of(const Classifier& other);
  void set_report(FitReport report) { report_ = std::move(report); }

  /// Each row is predicted independently of the others.
  [[nodiscard]] Predictions predict(const MatrixView& x, const GivenDensities& given = {},
                                    int threads = 0) const;
  /// psi of each row, rows x K.
  [[nodiscard]] std::vector<double> potentials(const MatrixView& x,
                                               const GivenDensities& given = {},
                                               int threads = 0) const;

  [[nodiscard]] const std::string& method() const { return method_; }
  [[nodiscard]] const Game& game() const { return *game_; }
  [[nodiscard]] const Shift& shift() const { return shift_; }
  /// The assumption of the one component, or "auto".
  [[nodiscard]] std::string generalize() const;
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  [[nodiscard]] const FitReport& report() const { return report_; }
  [[nodiscard]] std::size_t cols() const { return components_.front().cols(); }
  /// One, or several with log loss, whose probabilities are mixed by their shares; the largest
  /// share first.
  [[nodiscard]] const std::vector<Component>& components() const { return components_; }
  /// For each row of `predictions` and each class, 1 if it is in a set that holds the true class
  /// with probability 1 - alpha on the target (promise/conformal.hpp). Throws Error if alpha is not
  /// in (0, 1), or the model predicts no probabilities of classes or keeps no held-out scores.
  [[nodiscard]] std::vector<std::uint8_t> sets(const Predictions& predictions, double alpha) const;

  /// What the model file stores.
  /// `every_view`: and the ratios of views that refit() needs.
  [[nodiscard]] nlohmann::json to_json(bool every_view = false) const;
  /// Report and certificate of the fit, as `covshift fit --json` prints them.
  [[nodiscard]] nlohmann::ordered_json report_json() const;
  static Classifier from_json(const nlohmann::json& json, const Views& views, int classes);

 private:
  explicit Classifier(Shift shift) : shift_(std::move(shift)) {}
  /// Solves the problem of a component and adds it, with its shares in certificate and report.
  void add_component(const struct Mapped& mapped, const struct Setting& setting,
                     const struct Chosen& chosen, std::span<const double> start,
                     const TrainingData& data, const FitOptions& options);
  /// Potentials and log ratios: of a few rows, and of all rows with threads.
  void evaluate(const MatrixView& x, const GivenDensities& given, double* psi,
                double* log_ratio) const;
  void evaluate_all(const MatrixView& x, const GivenDensities& given, int threads,
                    std::vector<double>& psi, std::vector<double>& log_ratio) const;

  std::string method_;
  std::shared_ptr<const Game> game_;
  std::optional<CostMatrix> costs_;
  Shift shift_;
  std::vector<Component> components_;
  Certificate certificate_;
  Calibration calibration_;  ///< scores of held-out rows; empty: none are kept
  FitReport report_;
};

/// `statement`: the certificate in words; omitted if empty.
nlohmann::ordered_json to_json(const Certificate& certificate, const std::string& statement = {});
nlohmann::ordered_json to_json(const std::vector<ViewShift>& views);
nlohmann::ordered_json to_json(const std::vector<Candidate>& tried);

}  // namespace covshift
