// kernel/: the innermost loops, compiled once per instruction set and chosen at run time.
//
// Examples are processed in blocks of up to `block_rows`. The data of a block are label-major:
// psi[y * block_rows + b] is the potential of label y of example b, so that a vector register holds
// one label of several examples and games are vectorised over examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace covshift {

inline constexpr std::size_t block_rows = 64;

/// `columns` rounded up to a multiple of the longest vector.
constexpr std::size_t padded(std::size_t columns) { return (columns + 7) / 8 * 8; }

/// The largest number whose sine the kernels compute.
inline constexpr double sine_limit = 1e6;

/// Rows of features: row b is at data + b * stride, with padded(columns) readable numbers. Those
/// beyond the columns are ignored, but must be finite.
struct DenseBlock {
  const double* data = nullptr;
  std::size_t stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// A row of a sparse matrix. Weights are column-major, sparse_pitch(labels) numbers per column.
struct SparseRow {
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
  std::size_t entries = 0;
};
constexpr std::size_t sparse_pitch(std::size_t labels) {
  return labels <= 4 ? labels : padded(labels);
}

struct Kernels {
  std::string_view name;

  /// Converts n floats to doubles.
  void (*widen)(const float* from, std::size_t n, double* to);
  /// psi[y][b] = z_b' t_y for the labels' weights t (labels x padded(columns), 0 beyond columns).
  void (*times)(const DenseBlock& z, const double* t, std::size_t labels, double* psi);
  /// out_y += sum_b rows[y][b] z_b, in the layout of t. The padding of out is arbitrary.
  void (*times_transposed)(const DenseBlock& z, const double* rows, std::size_t labels,
                           double* out);
  /// The same for one sparse row, with psi[y * block_rows] and rows[y * block_rows].
  void (*sparse_times)(const SparseRow& z, const double* t, std::size_t labels, double* psi);
  void (*sparse_times_transposed)(const SparseRow& z, const double* rows, std::size_t labels,
                                  double* out);

  /// V = logsumexp(psi) and q = softmax(psi), label-major, for a whole block.
  void (*log_game)(std::size_t rows, std::size_t labels, const double* psi, double* value,
                   double* q);
  /// V and q of the zero-one game.
  void (*zero_one_game)(std::size_t rows, std::size_t labels, const double* psi, double* value,
                        double* q);

  /// to[j][b] = weight[b] from[j][b] for `columns` numbers j of each example b.
  void (*weigh)(std::size_t rows, std::size_t columns, const double* weight, const double* from,
                double* to);

  /// psi[y][b] += bias[y], for a whole block.
  void (*add_bias)(std::size_t rows, std::size_t labels, const double* bias, double* psi);
  /// Before a game: psi_b -= psi_b[label_b], for a whole block.
  void (*from_truth)(std::size_t rows, std::size_t labels, const int* label, double* psi);
  /// After it: left_b -= psi_b' q_b, and q_b becomes a_b (e_label - q_b).
  void (*settle)(std::size_t rows, std::size_t labels, const int* label, const double* a,
                 const double* psi, double* left, double* q);

  /// x = e^x for n numbers, a multiple of the longest vector, none positive.
  void (*exponentials)(std::size_t n, double* x);

  /// x = sin x for n numbers, a multiple of the longest vector, of at most sine_limit.
  void (*sines)(std::size_t n, double* x);

  /// Columns of n numbers, column j at x + j * pitch: out_j += sum_i weight_i x_ji
  void (*columns_sums)(std::size_t n, std::size_t columns, std::size_t pitch, const double* x,
                       const double* weight, double* out);

  /// Replaces the first `rows` rows of a symmetric matrix (row b at h + b * pitch, upper triangle,
  /// accessible up to padded(columns)) by those of U, U'U = H; false if a pivot is not positive.
  bool (*eliminate)(double* h, std::size_t pitch, std::size_t rows, std::size_t columns);
};

/// The fastest kernels that this processor supports, or those named by the environment variable
/// COVSHIFT_KERNELS.
const Kernels& kernels();
/// The kernels of this name (null or empty: the fastest). Throws Error if there are none.
const Kernels& kernels_named(const char* name);
/// All kernels that this processor supports, the slowest first.
std::span<const Kernels* const> runnable_kernels();

}  // namespace covshift
