#include "covshift/data/pooled_rows.hpp"

namespace covshift {

void PooledRows::copy(std::size_t i, double* to) const {
  const auto [rows, row] = at(i);
  const auto* const dense = std::get_if<DenseRows<double>>(&rows->matrix().storage);
  if (dense != nullptr && rows->all_columns()) {
    const double* const from = dense->data + row * dense->stride;
    for (std::size_t j = 0; j < centre_.size(); ++j) to[j] = from[j] - centre_[j];
    return;
  }
  rows->gather(row, to);
  for (std::size_t j = 0; j < centre_.size(); ++j) to[j] -= centre_[j];
}

}  // namespace covshift
