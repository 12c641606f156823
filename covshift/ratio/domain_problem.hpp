// The logistic ratio as a problem of learn/, and the choice of its lambda; private to ratio/.
#pragma once

#include <Eigen/Cholesky>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "covshift/data/matrix.hpp"
#include "covshift/data/pooled_rows.hpp"
#include "covshift/game/game.hpp"
#include "covshift/learn/examples.hpp"
#include "covshift/learn/solve.hpp"
#include "covshift/ratio/ratio.hpp"
#include "covshift/ratio/samples.hpp"

namespace covshift {

/// min over u, b   1/S sum_i s_i log(1 + exp(-t_i (u.x_i + b)))  +  lambda ||u||^2
/// over the pooled sample: training rows (t = -1), then target rows (t = +1); S = sum_i s_i. In
/// learn/ these are classes 0 and 1 of log loss with a free bias. There T_1 = -T_0 = u/2, so that
/// lambda ||u||^2 is 2 lambda ||T||^2. Dense rows are centred: the free bias makes that a matter of
/// conditioning only. Many rows are read in place, few are copied.
class DomainProblem {
 public:
  /// At most `most` rows, evenly spaced; samples of fewer rows are taken whole. Of several holders'
  /// samples all rows are taken: fits and polish() are of all holders together, log_odds() and
  /// leave_one_out() of this one's rows.
  DomainProblem(const Samples& samples, std::size_t most);

  struct Fit {
    std::vector<double> weights;  ///< u
    double intercept = 0;         ///< b: log P(te|x)/P(tr|x) = u.x + b
    Solution solution;            ///< of learn/: where another fit may start
  };
  /// `weight` replaces s_i (empty: as they are). None if it did not converge.
  [[nodiscard]] std::optional<Fit> solve(double lambda, double tolerance, int threads,
                                         const Fit* start = nullptr,
                                         std::span<const double> weight = {}) const;

  /// Newton's last steps with the factored Hessian, to the last digits; one or none where that is
  /// much work. The gap, an absolute number, does not see them where lambda is tiny.
  void polish(Fit& fit, double lambda, int threads) const;

  [[nodiscard]] std::size_t size() const { return labels_.size(); }
  [[nodiscard]] std::size_t dims() const { return rows_.dims(); }
  [[nodiscard]] bool sparse() const { return sparse_; }
  /// The share of all rows that these are.
  [[nodiscard]] double sampled() const { return sampled_; }
  [[nodiscard]] std::span<const double> weight() const { return weight_; }
  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] bool is_target(std::size_t i) const { return labels_[i] == 1; }
  /// u.x_i + b of every row.
  [[nodiscard]] std::vector<double> log_odds(const Fit& fit, int threads) const;
  /// Of every row, by a fit without it (learn/leave_one_out.hpp).
  [[nodiscard]] std::vector<double> leave_one_out(double lambda, std::span<const double> log_odds,
                                                  int threads) const;

 private:
  /// The Hessian at log odds, with a unit diagonal: scale^-1 L L' scale^-1.
  struct Factored {
    Eigen::VectorXd scale;
    Eigen::LLT<Eigen::MatrixXd> root;
  };
  [[nodiscard]] std::optional<Factored> factor(double lambda, std::span<const double> log_odds,
                                               int threads) const;
  /// In u, then b.
  [[nodiscard]] Eigen::VectorXd gradient(const Fit& fit, double lambda,
                                         std::span<const double> log_odds, int threads) const;
  void centre();
  void copy();
  /// Calls f(column, value) for the entries of row i.
  template <typename F>
  void each(std::size_t i, std::vector<double>& buffer, F&& f) const;
  /// The rows with their own weights, kept from call to call: one call at a time.
  [[nodiscard]] Examples& examples(double lambda, int threads) const;
  [[nodiscard]] Problem problem(double lambda, std::span<const double> weight) const;

  const Reducer* reducer_;
  PooledRows rows_;
  bool sparse_;
  double sampled_ = 1;
  double total_ = 0;
  std::optional<Matrix> copy_;  // of the rows, centred; dense ones with padding behind each
  std::vector<int> labels_;
  std::vector<double> weight_;
  std::unique_ptr<Game> game_;
  mutable std::unique_ptr<Examples> examples_;
};

/// LambdaSelection's gain at one lambda, by approximate leave-one-out; none for more than 500
/// columns.
std::optional<double> leave_one_out_gain(const DomainProblem& problem,
                                         const DomainProblem::Fit& fit, double lambda, int threads);

struct LambdaSelection {
  double lambda = 0;
  /// Mean log-likelihood of held-out rows' domains at lambda, minus that of the domains' shares.
  double gain = 0;
  nlohmann::json report;  ///< the path, and what was left out
};

/// The lambda under which held-out rows' domains are likeliest, along a path from strong to weak
/// regularisation that ends where it can only get worse. Held out by approximate leave-one-out
/// (copies of a row are held out together) for up to 500 columns, by folds for more; with many
/// rows, on a sample. A point that does not converge, or that comes after the time limit, is left
/// out with a note in the report.
///
/// The choice is a smooth function of the data: the scores, interpolated between the points of the
/// path, weigh log lambda by the likelihood of all rows (pseudo-Bayesian model averaging, Geisser
/// and Eddy 1979), instead of the largest alone deciding. Rows are assigned to folds along the
/// projection on the difference of the means: nearly equal data get nearly equal folds.
/// `all`: the problem of all rows, which is used where no sample is needed.
LambdaSelection select_lambda(const Samples& samples, const DomainProblem& all,
                              const RatioOptions& options, int folds);

}  // namespace covshift
