// Products with rounded rows, which memory gives four times as fast.
#include <algorithm>
#include <utility>

#include "covshift/learn/examples.hpp"

namespace covshift {

std::optional<RoundedRows> Examples::rounded() const {
  constexpr double large = 1e70;  // floats end at 3e38
  const std::size_t pitch = rounded_columns(cols_) / 2;
  double unfit = std::holds_alternative<DenseRows<double>>(problem_.features.storage) ? 0 : 1;
  reducer_->sum({&unfit, 1});
  if (unfit > 0) return std::nullopt;
  RoundedRows out(size() * pitch);
  std::vector<double> largest(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    Workspace work;
    for (std::size_t first = begin; first < end; first += block_) {
      const DenseBlock rows = dense_block(first, std::min(block_, end - first), work);
      for (std::size_t b = 0; b < rows.rows; ++b) {
        const double squares =
            kernels().round(rows.data + b * rows.stride, cols_, out.data() + (first + b) * pitch);
        largest[lane] = std::max(largest[lane], squares);
      }
    }
  });
  unfit = *std::max_element(largest.begin(), largest.end()) > large ? 1 : 0;
  reducer_->sum({&unfit, 1});
  return unfit > 0 ? std::nullopt : std::optional(std::move(out));
}

void Examples::fused(const RoundedRows& rows, const RowMatrix& t, RowMatrix& out,
                     const BlockBody& body) const {
  const auto k = static_cast<std::size_t>(labels_);
  const std::size_t pitch = rounded_columns(cols_);
  const Packed weights = pack(t, true);
  std::vector<float> features((k - 1) * pitch);
  for (std::size_t y = 0; y + 1 < k; ++y) {
    std::copy_n(weights.features.data() + y * padded(cols_), cols_, features.data() + y * pitch);
  }
  std::vector<std::vector<float>> sums(lanes_);
  sums_.resize(lanes_);
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    zero(sums_[lane], true);
    std::vector<float>& sum = sums[lane];
    sum.assign((k - 1) * pitch, 0.0F);
    std::vector<double> psi(k * block_rows);
    std::vector<double> back(k * block_rows);
    // As many blocks at once as take the room of one that is not rounded.
    const std::size_t block = std::min(4 * block_, block_rows / block_ * block_);
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t n = std::min(block, end - first);
      const RoundedBlock z{rows.data() + first * pitch / 2, n, cols_};
      std::fill_n(psi.data(), block_rows, 0.0);
      kernels().rounded_times(z, features.data(), k - 1, psi.data() + block_rows);
      finish_times(first, n, weights, psi.data() + block_rows);
      for (std::size_t b = 0; b < n; b += block_) {
        body({first + b, std::min(block_, n - b), lane, psi.data() + b, back.data() + b});
      }
      kernels().rounded_times_transposed(z, back.data() + block_rows, k - 1, sum.data());
      add_bias(first, n, back.data() + block_rows, sums_[lane]);
    }
    for (std::size_t y = 0; y + 1 < k; ++y) {
      std::copy_n(sum.data() + y * pitch, cols_, sums_[lane].features.data() + y * padded(cols_));
    }
  });
  sum_lanes(out);
}

}  // namespace covshift
