// A function of a Reducer that others advance step by step: from one reduction to the next.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/engine/partial.hpp"

namespace covshift {

/// Runs f on a thread of its own, which only runs during start() and step(): each reduction that f
/// asks for suspends it and becomes the answer. For engines that have no way for holders to meet,
/// only tasks that come and go (Dask). Since the same reduced results make f ask the same again, a
/// holder that was lost is replaced by a new one that is given the results so far.
class Lockstep {
 public:
  /// Returns this holder's result.
  using Function = std::function<std::string(const Reducer&)>;

  Lockstep(Function f, std::size_t holder);
  /// If f has not finished, its Reducer throws, and so do tasks that it runs in parallel.
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  /// Runs f through the reductions whose results are known, in order, without asking for them, up
  /// to the next one. Returns what f contributes to that, or what it returned. Throws what f
  /// throws, and Error if f asks for other reductions than these results are of.
  Partial start(std::vector<Partial> known = {});
  /// The same from the last answer on, given the result of that reduction.
  Partial step(Partial reduced);
  /// Ends a step that runs in another thread, with an Error (stopped).
  void cancel();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace covshift
