// Sums of outer products of rows, block by block.
#pragma once

#include <cstddef>

#include "covshift/kernel/kernels.hpp"

namespace covshift {

/// sum += sum_b weight_b z_b z_b' over the rows of a block, whose transpose is
/// columns_of[j * block_rows + b]. `sum` has columns x padded(columns) numbers, of which the lower
/// triangle is packed in a way that gram_entry() reads.
void add_gram(const DenseBlock& z, const double* columns_of, const double* weight, double* sum);

/// Entry (j, l), l <= j, of such a sum.
double gram_entry(const double* sum, std::size_t columns, std::size_t j, std::size_t l);

}  // namespace covshift
