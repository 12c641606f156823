// A fit to rows that several holders have, each a part.
#pragma once

#include <cstddef>
#include <string>

#include "covshift/base/reduce.hpp"
#include "covshift/model/model.hpp"

namespace covshift {

struct PartsOptions {
  std::string engine = "parts";  ///< its name, for the report
  /// What a fit decides by itself (maps, assumptions, lambdas, shares) it decides on at most so
  /// many rows of each sample; of all rows, if there are no more.
  std::size_t sample = 20000;
  /// If there are more, so many training and target rows, at most a fifth, have no part in the fit:
  /// the bound on the target loss and prediction sets rest on them (docs/certificate.md).
  std::size_t held_out = 10000;
};

/// What Classifier::fit does to all rows together, where every holder has a part, perhaps an empty
/// one: encoded, scaled rows, with the same columns, classes and views at each holder, and a target
/// at every holder or at none. A meeting of all holders; all get the same model, and the first one
/// also the report of what was tried. An Error of one holder's data is thrown by all.
///
/// With no more rows than the sample, the model is Classifier::fit's up to rounding. With more,
/// what was chosen is the sample's; ratios (those of kernels excepted, which stay the sample's),
/// weights and the certificate are sums over all rows. The result does not depend on how rows are
/// dealt to holders in order, up to rounding.
Classifier fit_parts(const TrainingData& part, const FitOptions& options, const Reducer& reducer,
                     const PartsOptions& parts = {});
/// The same from rows that all holders have prepared alike (null: no target).
Model fit_parts(Preparation preparation, const PreparedRows& train, const PreparedRows* target,
                const FitOptions& options, const Reducer& reducer, const PartsOptions& parts = {});

/// For work that a sample is enough for: rows that the holders have prepared alike become a sample
/// of all holders' rows, at most `most` of each kind (all, if there are no more), at every holder.
/// Does not depend on how rows are dealt to holders in order. Returns the number of rows of all
/// holders.
struct RowCounts {
  std::size_t train = 0, target = 0;
};
RowCounts gather_sample(const Preparation& preparation, PreparedRows& train, PreparedRows& target,
                        const Reducer& reducer, unsigned long long seed, std::size_t most = 20000);

}  // namespace covshift
