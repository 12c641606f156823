// What a model says of a matrix.
#include <algorithm>

#include "covshift/base/error.hpp"
#include "covshift/model/blocks.hpp"
#include "covshift/model/model.hpp"

namespace covshift {
namespace {

template <typename T>
void put(const std::vector<T>& block, std::vector<T>& all, std::size_t at) {
  std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
}

void refuse_columns(const Model& model) {
  if (!model.needs_columns()) return;
  fail_input("the model takes densities from columns of the data; give a table that has them");
}

}  // namespace

Predictions Model::predict(const MatrixView& x, int threads) const {
  refuse_columns(*this);
  const auto k = static_cast<std::size_t>(classifier_.game().labels());
  const auto a = static_cast<std::size_t>(classifier_.game().actions());
  Predictions all;
  all.rows = x.rows;
  all.actions = static_cast<int>(a);
  all.p.resize(x.rows * a);
  all.psi.resize(x.rows * k);
  all.log_ratio.resize(x.rows);
  all.action.resize(x.rows);
  each_scaled_block(scaler_, x, threads, [&](std::size_t first, const MatrixView& rows) {
    const Predictions block = classifier_.predict(rows, {}, 1);
    put(block.p, all.p, first * a);
    put(block.psi, all.psi, first * k);
    put(block.log_ratio, all.log_ratio, first);
    put(block.action, all.action, first);
  });
  return all;
}

std::vector<double> Model::potentials(const MatrixView& x, int threads) const {
  refuse_columns(*this);
  const auto k = static_cast<std::size_t>(classifier_.game().labels());
  std::vector<double> all(x.rows * k);
  each_scaled_block(scaler_, x, threads, [&](std::size_t first, const MatrixView& rows) {
    put(classifier_.potentials(rows, {}, 1), all, first * k);
  });
  return all;
}

std::vector<double> Model::log_ratio(const MatrixView& x, int threads) const {
  refuse_columns(*this);
  std::vector<double> all(x.rows);
  each_scaled_block(scaler_, x, threads, [&](std::size_t first, const MatrixView& rows) {
    put(classifier_.shift().at(rows).log_ratio, all, first);
  });
  return all;
}

}  // namespace covshift
