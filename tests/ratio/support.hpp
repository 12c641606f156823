// Samples and error messages for the tests of ratio/.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/ratio/ratio.hpp"

namespace covshift::testing {

inline Matrix dense(std::size_t rows, std::size_t cols, std::vector<double> values) {
  Matrix m;
  m.rows = rows;
  m.cols = cols;
  m.values.assign(values.begin(), values.end());
  return m;
}

/// Independent normals, all of mean `mean` and deviation `deviation`.
inline Matrix normals(std::size_t rows, std::size_t cols, double mean, double deviation,
                      std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(rows * cols);
  for (double& v : values) v = mean + deviation * random.normal();
  return dense(rows, cols, std::move(values));
}

/// The same numbers as compressed sparse rows, zeros left out.
inline Matrix to_sparse(const Matrix& m) {
  Matrix s;
  s.rows = m.rows;
  s.cols = m.cols;
  s.sparse = true;
  s.offsets.push_back(0);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.cols; ++j) {
      if (m.values[i * m.cols + j] == 0) continue;
      s.columns.push_back(static_cast<std::int32_t>(j));
      s.values.push_back(m.values[i * m.cols + j]);
    }
    s.offsets.push_back(static_cast<std::int64_t>(s.values.size()));
  }
  return s;
}

/// Rows in another order.
inline Matrix permuted(const Matrix& m, std::uint64_t seed) {
  std::vector<std::size_t> order(m.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(seed).shuffle(std::span(order));
  Matrix p = m;
  for (std::size_t i = 0; i < m.rows; ++i) {
    std::copy_n(m.values.data() + order[i] * m.cols, m.cols, p.values.data() + i * m.cols);
  }
  return p;
}

inline double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

inline double correlation(std::span<const double> a, std::span<const double> b) {
  const double ma = mean_of(a);
  const double mb = mean_of(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

inline RatioOptions with(RatioMethod method) {
  RatioOptions options;
  options.method = method;
  return options;
}

inline RatioOptions logistic_with(double lambda) {
  RatioOptions options;
  options.lambda = {RatioLambda::Rule::value, lambda};
  return options;
}

/// The message of the Error that `call` must throw.
inline std::string message_of(const std::function<void()>& call,
                              Error::Kind kind = Error::Kind::input) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return {};
}

}  // namespace covshift::testing
