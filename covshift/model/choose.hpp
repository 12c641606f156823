// What a fit decides by itself: components, their lambdas and shares (docs/choice.md); private to
// model/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "covshift/model/classifier.hpp"

namespace covshift {

/// What is open, and how it is decided.
struct Plan {
  enum class Rule {
    only,     ///< one candidate; lambda alone
    least,    ///< the candidate of the smallest held-out loss
    margin,   ///< the same, but the baseline is left only for evidence: two standard errors
    mixture,  ///< log loss: shares of all
  };
  Rule rule = Rule::only;
  std::string method;             ///< of the table of methods, or auto
  std::string features;           ///< of views that name no maps
  std::vector<std::string> maps;  ///< to try for views that leave them open (auto)
  std::vector<Assumption> assumptions;
  /// One more candidate: the first map and assumption at lambda by plain cross validation, that is
  /// logistic regression, or its like with another loss.
  bool baseline = false;
  double caution = 1;
  LambdaChoice lambda;

  /// Whether anything depends on the density ratio. A method that ignores the shift does not wait
  /// for it: it is the same with a target as without.
  [[nodiscard]] bool uses_ratio() const;
};
/// Throws Error if the data lack what the options need.
Plan plan_of(const TrainingData& data, const FitOptions& options);

/// A component to fit to all rows.
struct Chosen {
  std::string features;
  Assumption assumption;
  double lambda = 0;
  double share = 1;
};
struct Mapped;
struct Choice {
  std::vector<Chosen> components;  ///< the largest share first
  std::vector<Candidate> tried;
  std::string reason;  ///< in words
  /// The features of all rows by their maps; empty if a sample of the rows chose.
  std::map<std::string, std::shared_ptr<const Mapped>> mapped = {};
};
/// `shift`: estimated, under any assumption.
Choice choose(const Plan& plan, const TrainingData& data, const Shift& shift, const Game& game,
              const FitOptions& options);

/// Cross validation with the options of the fit.
CrossValidation cross_validation(const FitOptions& options);

}  // namespace covshift
