// The second moments of the examples, for curvatures and preconditioners.
#include <algorithm>
#include <array>
#include <numeric>

#include "covshift/base/threads.hpp"
#include "covshift/kernel/gram.hpp"
#include "covshift/learn/examples.hpp"

namespace covshift {
namespace {

/// Adds all vectors to the first.
void sum_to_first(std::vector<std::vector<double>>& partial) {
  for (std::size_t lane = 1; lane < partial.size(); ++lane) {
    for (std::size_t j = 0; j < partial[0].size(); ++j) partial[0][j] += partial[lane][j];
  }
}

}  // namespace

std::vector<double> Examples::squares() const {
  reducer_->pass();
  std::vector<std::vector<double>> partial(lanes());
  each_lane([&](std::size_t begin, std::size_t end, std::size_t lane) {
    partial[lane].assign(dims(), 0.0);
    double* sum = partial[lane].data();
    for (std::size_t i = begin; i < end; ++i) {
      const double weight = a_[i] * r(i);
      each_entry(i, [&](std::size_t j, double z) { sum[j] += weight * z * z; });
    }
  });
  sum_to_first(partial);
  reducer_->sum(partial[0]);
  return partial[0];
}

void Examples::grams(int count, const MomentWeights& fill,
                     std::vector<Eigen::MatrixXd>& out) const {
  reducer_->pass();
  const auto d = static_cast<std::size_t>(dims());
  const std::size_t pitch = padded(d);
  // Partial sums are large: limit them to 256 MB and to a fraction of the work.
  const std::size_t room =
      std::min((std::size_t{1} << 25U) / (d * pitch * count), size() / 1024) + 1;
  const std::size_t lanes = std::min(ScaledRows::lanes(), room);
  std::vector<std::vector<double>> partial(lanes);  // the rows of the lower triangles
  in_turn(lanes, [&](std::size_t lane) {
    const std::size_t end = size() * (lane + 1) / lanes;
    partial[lane].assign(count * d * pitch, 0.0);
    std::vector<double> rows(block_rows * pitch);
    std::vector<double> columns_of(d * block_rows);
    std::vector<double> omega(count * block_rows);
    for (std::size_t first = size() * lane / lanes; first < end; first += block_rows) {
      const std::size_t n = std::min(block_rows, end - first);
      std::fill(rows.begin(), rows.end(), 0.0);
      for (std::size_t b = 0; b < n; ++b) {
        each_entry(first + b, [&](std::size_t j, double z) { rows[b * pitch + j] += z; });
      }
      for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t b = 0; b < n; ++b) columns_of[j * block_rows + b] = rows[b * pitch + j];
      }
      fill(first, n, lane, omega.data());
      for (int g = 0; g < count; ++g) {
        add_gram({rows.data(), pitch, n, d}, columns_of.data(), omega.data() + g * block_rows,
                 partial[lane].data() + g * d * pitch);
      }
    }
  });
  sum_to_first(partial);
  out.assign(count,
             Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(d)));
  for (int g = 0; g < count; ++g) {
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t l = 0; l <= j; ++l) {
        out[g](static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(l)) =
            gram_entry(partial[0].data() + g * d * pitch, d, j, l);
      }
    }
    reducer_->sum({out[g].data(), static_cast<std::size_t>(out[g].size())});
  }
}

const Eigen::MatrixXd& Examples::curvature() const {
  if (curvature_known()) return curvature_;
  std::vector<Eigen::MatrixXd> gram;
  grams(
      1,
      [&](std::size_t first, std::size_t n, std::size_t /*lane*/, double* omega) {
        for (std::size_t i = first; i < first + n; ++i) *omega++ = a_[i] * r(i) / labels();
      },
      gram);
  curvature_ = std::move(gram[0]);
  return curvature_;
}

std::vector<double> Examples::squared_norms(const RowMatrix& g) const {
  // A strip of G's rows at a time: those end at its last column.
  constexpr std::size_t strip = 16;
  const auto d = static_cast<std::size_t>(dims());
  const std::size_t pitch = padded(d);
  std::vector<std::vector<double>> strips;
  for (std::size_t k = 0; k < d; k += strip) {
    const std::size_t end = std::min(k + strip, d);
    std::vector<double>& packed = strips.emplace_back((end - k) * padded(end));
    for (std::size_t l = k; l < end; ++l) {
      std::copy_n(g.data() + l * d, l + 1, packed.data() + (l - k) * padded(end));
    }
  }
  std::vector<double> out(size());
  each_lane([&](std::size_t begin, std::size_t end, std::size_t /*lane*/) {
    std::vector<double> rows(block_rows * pitch);
    std::array<double, strip * block_rows> product{};
    for (std::size_t first = begin; first < end; first += block_rows) {
      const std::size_t n = std::min(block_rows, end - first);
      std::fill(rows.begin(), rows.end(), 0.0);
      for (std::size_t b = 0; b < n; ++b) {
        each_entry(first + b, [&](std::size_t j, double z) { rows[b * pitch + j] += z; });
      }
      for (std::size_t s = 0; s < strips.size(); ++s) {
        const std::size_t columns = std::min((s + 1) * strip, d);
        const std::size_t count = columns - s * strip;
        kernels().times({rows.data(), pitch, n, columns}, strips[s].data(), count, product.data());
        for (std::size_t l = 0; l < count; ++l) {
          for (std::size_t b = 0; b < n; ++b) {
            const double x = product[l * block_rows + b];
            out[first + b] += x * x;
          }
        }
      }
    }
  });
  return out;
}

/// In tiles of columns: all vectors together do not fit into the cache beside a block of long rows.
double Examples::moments_times(const RowMatrix& x, RowMatrix& out) const {
  reducer_->pass();
  constexpr std::size_t tile = 264;  // above the limit up to which kernels prefetch the next block
  constexpr std::size_t lanes = 4;
  const auto count = static_cast<std::size_t>(x.cols());
  const std::size_t tiles = (cols() + tile - 1) / tile;
  const auto width_of = [&](std::size_t c) { return std::min(tile, cols() - c * tile); };
  // Tile by tile, each in the layout that the kernels need.
  const auto at = [&](std::size_t y, std::size_t j) {
    const std::size_t c = j / tile;
    return count * tile * c + y * padded(width_of(c)) + j % tile;
  };
  const std::size_t room = count * tile * (tiles - 1) + count * padded(width_of(tiles - 1));
  LargeVector vectors(room);
  parallel_tasks(threads(), tiles, [&](std::size_t c) {
    for (std::size_t j = c * tile; j < c * tile + width_of(c); ++j) {
      for (std::size_t y = 0; y < count; ++y) vectors[at(y, j)] = x.data()[j * count + y];
    }
  });
  const double* bias = problem_.bias ? x.data() + cols() * count : nullptr;

  std::vector<LargeVector> sums(lanes);
  std::vector<std::vector<double>> sums_of_bias(lanes);
  in_turn(lanes, [&](std::size_t lane) {
    LargeVector& sum = sums[lane];
    sum.assign(room, 0.0);
    sums_of_bias[lane].assign(count, 0.0);
    Workspace work;
    std::vector<double> part(count * block_rows);
    std::vector<double> psi(count * block_rows);
    const std::size_t end = size() * (lane + 1) / lanes;
    for (std::size_t first = size() * lane / lanes; first < end; first += block_rows) {
      const std::size_t n = std::min(block_rows, end - first);
      const DenseBlock rows = dense_block(first, n, work);
      const auto slice = [&](std::size_t c) {
        return DenseBlock{rows.data + c * tile, rows.stride, n, width_of(c)};
      };
      std::fill(psi.begin(), psi.end(), 0.0);
      for (std::size_t c = 0; c < tiles; ++c) {
        kernels().times(slice(c), vectors.data() + count * tile * c, count, part.data());
        for (std::size_t y = 0; y < count; ++y) {
          for (std::size_t b = 0; b < n; ++b) psi[y * block_rows + b] += part[y * block_rows + b];
        }
      }
      for (std::size_t y = 0; y < count; ++y) {
        for (std::size_t b = 0; b < n; ++b) {
          double& to = psi[y * block_rows + b];
          if (bias != nullptr) to += bias_of(first + b) * bias[y];
          to *= a_[first + b] * r(first + b);
          if (bias != nullptr) sums_of_bias[lane][y] += bias_of(first + b) * to;
        }
      }
      for (std::size_t c = 0; c < tiles; ++c) {
        kernels().times_transposed(slice(c), psi.data(), count, sum.data() + count * tile * c);
      }
    }
  });
  out = RowMatrix::Zero(x.rows(), x.cols());
  parallel_tasks(threads(), tiles, [&](std::size_t c) {
    for (const LargeVector& sum : sums) {
      for (std::size_t j = c * tile; j < c * tile + width_of(c); ++j) {
        for (std::size_t y = 0; y < count; ++y) out.data()[j * count + y] += sum[at(y, j)];
      }
    }
  });
  sum_to_first(sums_of_bias);
  if (bias != nullptr) std::copy_n(sums_of_bias[0].data(), count, out.data() + cols() * count);
  reducer_->sum({out.data(), static_cast<std::size_t>(out.size())});
  const std::vector<double> diagonal = squares();
  return std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
}

}  // namespace covshift
