// The features of all views: phi_v for every view v, fitted without labels and stored with a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "covshift/data/matrix.hpp"
#include "covshift/data/views.hpp"

namespace covshift {

class FeatureMap;

/// The views with maps for all: `maps` for those that name none.
Views with_maps(Views views, const std::string& maps);
/// True if some view leaves the choice of its maps open (auto).
bool maps_open(const Views& views);
/// The views with `maps` in place of auto.
Views close_maps(Views views, const std::string& maps);

/// What maps are fitted on: encoded, scaled rows.
struct FeatureData {
  MatrixView train;
  std::span<const double> weight;      ///< of training rows; empty: 1
  const MatrixView* target = nullptr;  ///< null: none
  std::uint64_t seed = 0;
};

/// Columns -> features. Outputs are ordered by view, then by map as listed.
class Features {
 public:
  /// The columns themselves: those of every view, as outputs of it.
  explicit Features(const Views& views);
  /// Views that name no maps are linear. Throws Error if a map is unknown, open (auto) or cannot be
  /// fitted to the rows.
  static Features fit(const Views& views, const FeatureData& data);

  /// True if the outputs are the columns, in their order: disjoint linear views. Then there is
  /// nothing to apply.
  [[nodiscard]] bool identity() const { return identity_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] std::size_t outputs() const { return view_of_.size(); }
  /// The view of each output.
  [[nodiscard]] std::span<const std::int32_t> view_of() const { return view_of_; }
  /// The features of some rows, each independent of the others to the last bit. Sparse if the rows
  /// are and all maps are linear, else dense. Throws Error if a feature is not finite.
  [[nodiscard]] Matrix apply(const MatrixView& x, int threads = 1) const;
  /// Names of the outputs, given those of the columns.
  [[nodiscard]] std::vector<std::string> names(std::span<const std::string> columns) const;
  /// The fitted maps of each view, e.g. "linear + nystroem:200:1.7".
  [[nodiscard]] std::vector<std::string> maps() const;

  [[nodiscard]] nlohmann::json to_json() const;
  static Features from_json(const nlohmann::json& json, const Views& views);

 private:
  struct Part {
    std::int32_t view = 0;
    std::vector<std::int32_t> columns;
    std::shared_ptr<const FeatureMap> map;
    std::size_t first = 0;  ///< output
  };
  Features() = default;
  void lay_out(const Views& views);
  void apply_block(const MatrixView& x, std::size_t first, std::size_t last, double* out) const;
  [[nodiscard]] Matrix apply_sparse(const MatrixView& x) const;

  std::size_t cols_ = 0;
  std::vector<Part> parts_;
  std::vector<std::int32_t> view_of_;
  bool identity_ = true;
  bool linear_ = true;
};

/// Rows of features: the caller's own if the features are the identity, else mapped.
class FeatureRows {
 public:
  FeatureRows(const Features& features, const MatrixView& x, int threads) : view_(x) {
    if (features.identity()) return;
    own_ = features.apply(x, threads);
    view_ = own_.view();
    view_.finite = true;
  }
  FeatureRows(const FeatureRows&) = delete;
  FeatureRows& operator=(const FeatureRows&) = delete;

  [[nodiscard]] const MatrixView& view() const { return view_; }

 private:
  Matrix own_;
  MatrixView view_;
};

}  // namespace covshift
