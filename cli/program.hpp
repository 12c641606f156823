// The program, as one process or one of several that work together.
#pragma once

#include "covshift/base/reduce.hpp"

namespace covshift::cli {

/// Runs a command and returns the exit code. `reducer`: several processes were called with the same
/// arguments and share the rows; null: one process.
int run_program(int argc, char** argv, const Reducer* reducer);

}  // namespace covshift::cli
