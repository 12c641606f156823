// What looks wrong with the columns of a training table, in words and with a remedy.
#pragma once

#include <string>
#include <vector>

#include "covshift/data/encoder.hpp"
#include "covshift/data/summary.hpp"

namespace covshift {

/// One sentence for each kind of doubt, about the columns that became features of `encoder` and the
/// label: identifiers, row numbers, dates and numbers that were read as text, columns
/// that are constant, categories that need much memory, a label that is a quantity or whose classes
/// differ in capitals only. Remedies name the program's flags.
std::vector<std::string> column_warnings(const Summary& train, const Encoder& encoder);

}  // namespace covshift
