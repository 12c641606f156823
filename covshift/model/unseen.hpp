// What fits say of rows that they have not seen; private to model/.
#pragma once

#include "covshift/model/classifier.hpp"

namespace covshift {

/// Potentials of training rows by fits without them, and of target rows by the same fits, dealt
/// among these. Fits of several components are mixed as the components are.
class Unseen {
 public:
  /// `all`: every training row is left out once; otherwise enough of them for a mean.
  Unseen(const TrainingData& data, const Game& game, const CrossValidation& cv, bool all);
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

  /// Leaves out folds from the problem that `component` solves; each fit begins from its weights.
  void add(const Component& component, const Problem& problem);

  /// The training rows that were left out, in order, at most 20,000, and target rows, at most
  /// 10,000 of them.
  [[nodiscard]] const std::vector<std::size_t>& train() const { return train_; }
  [[nodiscard]] const std::vector<std::size_t>& target() const { return target_; }
  [[nodiscard]] const std::vector<double>& psi() const { return psi_; }  ///< of train(), rows x K
  [[nodiscard]] const std::vector<double>& target_psi() const { return target_psi_; }
  /// psi by training row; 0 for rows that were not left out.
  [[nodiscard]] std::vector<double> by_row() const;

 private:
  [[nodiscard]] std::vector<double> of_target(const Component& component,
                                              const HeldOutFits& fits) const;
  void mix(const std::vector<double>& psi, double share, std::vector<double>& all) const;

  const TrainingData& data_;
  const Game& game_;
  CrossValidation cv_;
  std::size_t enough_;
  std::vector<int> fold_;
  std::vector<std::size_t> train_, target_;
  std::vector<double> psi_, target_psi_;
};

/// Of prediction sets, from rows with these labels and potentials by fits that have not seen them.
/// Empty if the game predicts no probabilities of classes.
Calibration calibration_of(const Game& game, std::span<const double> psi,
                           std::span<const int> labels, std::span<const double> log_weight,
                           std::span<const double> count);
Calibration calibration_of(const Unseen& unseen, const TrainingData& data, const Game& game,
                           const Shift& shift);

}  // namespace covshift
