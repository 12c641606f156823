// Several functions of a Reducer that share its reductions.
#pragma once

#include <cstddef>
#include <functional>

#include "covshift/base/reduce.hpp"

namespace covshift {

/// Runs work(task, its reducer) for every task in [0, tasks), up to `at_once` of them at a time,
/// each on a thread of its own. When all that still run wait for a reduction, this thread makes one
/// of what they contribute: they go through the rows at the same time, and the holders meet once
/// for all of them. What each task gets is what it would get alone. Every holder runs the same
/// tasks. Rethrows the exception of the first task that throws; the others are stopped.
void run_together(const Reducer& reducer, std::size_t tasks, std::size_t at_once,
                  const std::function<void(std::size_t, const Reducer&)>& work);

}  // namespace covshift
