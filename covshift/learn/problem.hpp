// learn/: the training problem, its solvers, the duality gap.
//
//     min over T   1/m sum_i  w_i [ V(psi_i) - psi_i[y_i] ]  +  lambda ||T||^2            (F)
//     psi_i[y]  =  sum over columns j of   r_v(j)(x_i) T[j,y] phi_j(x_i)
//
// This is the paper's Lagrangian (its eq. for the general game in terms of multipliers) with the
// expectation over the target written as a weighted one over the training sample. Its dual, for
// adversaries q_i and A(q) = 1/m sum_i w_i z_i (e_y_i - q_i)', z_i the scaled features, is
//
//     max over q   1/m sum_i w_i H(q_i)  -  ||A(q)||^2 / (4 lambda)                      (D)
//
// and F(T) - D(q) >= 0 for any T and q: the certificate. A bias that is not penalised drops out of
// ||T||^2 and ||A||^2, and D is a bound only for q whose row of A(q) for the bias is 0.
//
// The paper writes the penalty as epsilon ||theta||_2, without a square: Penalty::norm, which has
// the same solutions for other numbers (norm_penalty.cpp).
#pragma once

#include <span>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/game/game.hpp"

namespace covshift {

class PooledRows;

enum class Penalty {
  squared,  ///< lambda ||T||^2
  norm,     ///< lambda ||T||
};
template <>
inline constexpr auto names<Penalty> = std::to_array<Named<Penalty>>({{Penalty::squared, "squared"},
                                                                      {Penalty::norm, "norm"}});

/// Features and their scales, which give potentials. Views into the caller's memory.
struct ScaledFeatures {
  MatrixView features;  ///< phi(x_i), without the constant of the bias
  /// The rows, if they are not in one matrix: `features` has their shape and kind of storage only.
  const PooledRows* pooled = nullptr;
  bool bias = true;  ///< a constant feature 1
  /// log r, examples x scales, row-major (empty: 0), and the scale of each column (empty: 0 for
  /// all) and of the bias.
  std::span<const double> log_scale;
  int scales = 1;
  std::span<const int> scale_of_column;
  int scale_of_bias = 0;
};

/// Everything a solver needs. Views into the caller's memory.
struct Problem : ScaledFeatures {
  const Game* game = nullptr;   ///< the loss; K = game->labels()
  std::span<const int> labels;  ///< y_i in 0 .. K-1
  double lambda = 0;
  Penalty penalty = Penalty::squared;
  /// False leaves the bias out of ||T||^2. Every class must then have examples: the optimal bias of
  /// a class without any is minus infinity.
  bool penalise_bias = true;

  /// How often each example counts (empty: once). m is their sum: a weight of 2 equals the row
  /// twice, a weight of 0 its absence.
  std::span<const double> sample_weight;
  /// log w_i = log P_test(x_i)/P_train(x_i) (empty: 0). Not part of m.
  std::span<const double> log_weight;
};

/// Throw Error (input) that names the offending value and its position: check the features (a pass
/// over them), their scales, the labels 0 .. classes-1 and weights of as many examples, everything
/// but features and lambda, or everything.
void check_features(const MatrixView& features, int threads);
void check_scales(const ScaledFeatures& features);
void check_examples(const MatrixView& features, bool bias, std::span<const int> labels, int classes,
                    std::span<const double> sample_weight);
void check_settings(const Problem& problem);
void check(const Problem& problem, int threads = 1);

}  // namespace covshift
