// Samples with a known shift.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/diagnose/diagnose.hpp"

namespace covshift::test {

// Sanitizers make loops several times slower, so tests do fewer iterations.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Rows whose entry (i, j) is entry(random, j), drawn row by row.
inline Matrix sample(Random& random, std::size_t rows, std::size_t cols,
                     const std::function<double(Random&, std::size_t)>& entry) {
  Matrix x;
  x.rows = rows;
  x.cols = cols;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) x.values.push_back(entry(random, j));
  }
  return x;
}

inline Matrix normal(Random& random, std::size_t rows, std::size_t cols) {
  return sample(random, rows, cols, [](Random& r, std::size_t) { return r.normal(); });
}

inline std::vector<std::string> names(std::size_t cols) {
  std::vector<std::string> list;
  for (std::size_t j = 0; j < cols; ++j) list.push_back(fmt::format("x{}", j));
  return list;
}

inline Views each(std::size_t cols) {
  Views views;
  views.names = names(cols);
  for (std::size_t j = 0; j < cols; ++j) views.columns.push_back({static_cast<std::int32_t>(j)});
  views.maps.resize(cols);
  return views;
}

/// The diagnosis of unscaled samples.
inline Diagnosis diagnosed(const Matrix& train, const Matrix& target,
                           const std::vector<Feature>& features, const Views& views,
                           const DiagnoseOptions& options = {}) {
  if (train.rows == 0) fail_input("no rows");
  const Scaler scaler = Scaler::fit(ScaleKind::unit, train.view());
  const Matrix from = scaler.scaled(train.view());
  const Matrix to = target.cols == train.cols ? scaler.scaled(target.view()) : target;
  return diagnose({from.view(), to.view(), scaler, features, views}, options);
}

inline Diagnosis diagnosed(const Matrix& train, const Matrix& target,
                           const DiagnoseOptions& options = {}) {
  return diagnosed(train, target, features_of(Encoder::of_columns(names(train.cols))),
                   each(train.cols), options);
}

}  // namespace covshift::test
