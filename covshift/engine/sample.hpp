// Some rows of all holders, the same whatever the parts; private to engine/.
#pragma once

#include <memory>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/model/classifier.hpp"

namespace covshift {

/// Some of this holder's rows of training data, by their index in the part.
struct Picked {
  std::vector<std::size_t> train, target;
  std::vector<double> weight;  ///< factor of each training row's weight; empty: 1
};

/// The rows that a fit treats specially, drawn by their place among all rows and the seed alone.
struct Draw {
  /// All rows if there are no more than `most` of each sample. A meeting of all holders. Otherwise
  /// `sample` has at most about so many training rows, with some of every class, and target rows,
  /// and `held_out` others: at most a fifth of the rows, and none with `held_out_most` 0.
  Draw(const TrainingData& part, const Reducer& reducer, std::size_t most,
       std::size_t held_out_most, unsigned long long seed);

  Picked sample, held_out;
  std::size_t rows = 0, target_rows = 0;  ///< of all holders
  [[nodiscard]] bool all() const { return all_; }

 private:
  bool all_ = true;
};

/// Who gets gathered rows.
enum class Receivers { first_holder, all_holders };

/// Those of training, or of the target.
struct GatheredRows {
  std::size_t count = 0;  // also where the matrix is left empty
  Matrix matrix;
  std::vector<double> log_ratio, log_generalization;
  std::vector<std::pair<std::vector<double>, std::vector<double>>> views;
  [[nodiscard]] GivenDensities given() const;
};

/// Rows that were picked at all holders, in the holders' order.
class Gathered {
 public:
  /// A meeting of all holders. `part` is sparse at every holder, or at none.
  Gathered(const TrainingData& part, const Picked& picked, const Reducer& reducer,
           Receivers receivers);
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;

  /// Without rows at a holder that does not get them.
  [[nodiscard]] const TrainingData& data() const { return data_; }
  /// How many they are, and the total weight of the training rows, at every holder.
  [[nodiscard]] std::size_t rows() const { return train_.count; }
  [[nodiscard]] std::size_t target_rows() const { return target_.count; }
  [[nodiscard]] double total_weight() const { return total_weight_; }

 private:
  static std::string pack(const MatrixView& x, const GivenDensities& given,
                          const std::vector<std::size_t>& rows);
  static GatheredRows unpack(const std::vector<std::string>& pieces, bool sparse, std::size_t cols,
                             bool only_count);

  GatheredRows train_, target_;
  MatrixView target_view_;
  std::vector<int> labels_;
  std::vector<double> weight_;
  double total_weight_ = 0;
  TrainingData data_;
};

}  // namespace covshift
