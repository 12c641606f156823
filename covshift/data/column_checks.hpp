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

/// The part of it about columns that are constant in training. With a target (null: not known) it
/// is another one: a column that varies there should not be left out, for its rows are unlike those
/// of training.
std::vector<std::string> constant_warnings(const Summary& train, const Table* target);

}  // namespace covshift
