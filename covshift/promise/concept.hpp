// When some labels of the target are known: has P(y|x) changed?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/promise/estimate.hpp"

namespace covshift {

/// One quantity whose mean over the labelled target rows is compared with what the inputs predict.
struct ConceptCheck {
  int of_class = -1;    ///< its share of the rows; -1: the log loss
  double observed = 0;  ///< mean over the labelled target rows
  double expected = 0;  ///< the same if P(y|x) had not changed
  double error = 0;     ///< standard error of observed - expected
  double p_value = 1;
};

struct ConceptTest {
  Evidence evidence;  ///< of the labelled training rows for these target rows
  /// The mean log loss on the training rows and on the target rows; the difference is the sum of
  /// what the inputs explain and what they do not.
  double train_loss = 0, target_loss = 0;
  double explained = 0, unexplained = 0;
  std::vector<ConceptCheck> checks;  ///< the log loss, then the share of each class
  double p_value = 1;                ///< of the smallest, times their number (Bonferroni)
  double ratio_p_value = 1;          ///< test_ratio()
  bool differs = false;              ///< p_value is at most the level
  bool changed = false;              ///< and it is not the density ratio that is wrong
};

/// `data.target` are target rows with known classes `truth`. If P(y|x) is the same in both, then
/// the mean of any function of x and y over the target is what the regression estimate of it from
/// the weighted training rows says; each check divides the difference by its standard error.
ConceptTest test_concept(const EstimateData& data, std::span<const int> truth,
                         const RatioOptions& ratio, double level = 0.05);

nlohmann::ordered_json to_json(const ConceptTest& test, const std::vector<std::string>& classes);
/// The verdict, and what to do.
std::string describe(const ConceptTest& test);

}  // namespace covshift
