#include "covshift/engine/fit_model.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/data/summary.hpp"

namespace covshift {
namespace {

std::size_t rows_of(const Input* input) {
  if (input == nullptr) return 0;
  return input->table != nullptr ? input->table->rows : input->matrix.rows;
}
bool sparse(const Input* input) {
  return rows_of(input) > 0 && input->table == nullptr && input->matrix.storage.index() >= 2;
}

/// What all holders have of this one's kind of rows.
struct Census {
  Census(const ModelPart& part, const Reducer& reducer) {
    const std::size_t own = rows_of(part.train);
    const bool here = sparse(part.train) || sparse(part.target);
    const std::vector<std::string> all = reducer.gather(fmt::format("{} {}", own, here ? 1 : 0));
    for (std::size_t h = 0; h < all.size(); ++h) {
      const std::size_t rows = std::stoull(all[h]);
      if (h < reducer.holder()) place.first += rows;
      place.total += rows;
      sparse_rows = sparse_rows || all[h].back() == '1';
    }
  }
  Summary::Place place;
  bool sparse_rows = false;
};

/// The rows of a holder that has none.
PreparedRows no_rows(const Preparation& preparation, bool as_sparse) {
  static constexpr std::int64_t no_offsets = 0;
  PreparedRows rows;
  rows.features = MatrixView{0, preparation.encoder().cols(), {}};
  if (as_sparse) rows.features.storage = SparseRows<double>{&no_offsets, nullptr, nullptr};
  return rows;
}

bool in_callers_memory(const PreparedRows& rows) {
  return rows.features.rows > 0 && rows.own.rows == 0;
}

Summary summary_of_all(const ModelPart& part, const PreparationOptions& inputs,
                       const Summary::Place& place, const Reducer& reducer) {
  const bool any = rows_of(part.train) > 0;
  Summary all = gather_summaries(any ? summarise(*part.train, inputs, place) : Summary(), reducer);
  const std::vector<std::string> mixed = all.mixed();
  if (!mixed.empty()) {
    fail_input(
        "column '{}' holds numbers in some parts of the data and text in others; give all parts "
        "the "
        "same type",
        mixed[0]);
  }
  return all;
}

}  // namespace

FittedParts fit_model(const ModelPart& part, const ModelOptions& options, const Reducer& reducer,
                      const PartsOptions& parts) {
  const int threads = options.fit.solve.threads;
  const PreparationOptions inputs = inputs_of(options);
  const Census census(part, reducer);
  if (census.place.total == 0) fail_input("there are no training rows in any part; add data");
  Preparation preparation(summary_of_all(part, inputs, census.place, reducer), inputs);
  PreparedRows train = rows_of(part.train) > 0 ? preparation.encode_training(*part.train, threads)
                                               : no_rows(preparation, census.sparse_rows);
  PreparedRows target = rows_of(part.target) > 0 ? preparation.encode(*part.target, threads)
                                                 : no_rows(preparation, census.sparse_rows);
  preparation.fit(train, part.shifted ? &target : nullptr, threads, reducer);
  if (part.prepared) part.prepared(in_callers_memory(train) || in_callers_memory(target));

  FitOptions own = options.fit;
  own.shift.given_ratio = preparation.given_ratio();
  Classifier classifier = fit_parts(
      TrainingData(preparation, train, part.shifted ? &target : nullptr), own, reducer, parts);
  std::vector<std::string> warnings = std::move(train.warnings);
  std::move(target.warnings.begin(), target.warnings.end(), std::back_inserter(warnings));
  return {Model(std::move(preparation), std::move(classifier)), std::move(warnings)};
}

}  // namespace covshift
