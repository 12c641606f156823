// Rows on their way to a fitted model: scaled a block at a time, never as a whole copy.
#pragma once

#include <algorithm>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/scaling.hpp"

namespace covshift {

/// body(first, rows) for blocks of x, which start at row `first`, scaled.
template <typename Body>
void each_scaled_block(const Scaler& scaler, const MatrixView& x, int threads, const Body& body) {
  constexpr std::size_t block_rows = 2048;
  if (x.cols != scaler.cols()) {
    fail_input("the data have {} columns, the model was trained on {}", x.cols, scaler.cols());
  }
  parallel_tasks(threads, (x.rows + block_rows - 1) / block_rows, [&](std::size_t block) {
    const std::size_t first = block * block_rows;
    const MatrixView rows = slice(x, first, std::min(block_rows, x.rows - first));
    if (scaler.kind() == ScaleKind::none) {
      body(first, rows);
    } else {
      const Matrix scaled = scaler.scaled(rows);
      body(first, scaled.view());
    }
  });
}

}  // namespace covshift
