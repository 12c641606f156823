// The row-major matrices of all folders.
#pragma once

#include <Eigen/Core>

namespace covshift {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace covshift
