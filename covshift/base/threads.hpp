// Where the library starts threads for its own work; base/together.hpp and engine/lockstep.hpp
// start those that wait for each other.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace covshift {

/// The number of threads to use; 0 means all cores.
int thread_count(int requested);

/// Makes the tasks of this thread stoppable: `stopped` is called before every task, by any thread,
/// and true makes parallel_tasks throw Error (stopped). An empty function, or a scope within
/// another one, has no effect.
class StopScope {
 public:
  explicit StopScope(const std::function<bool()>& stopped);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::function<bool()>* outer_;
};
/// Throws Error (stopped) if the scope's function returns true: for long loops without tasks.
void throw_if_stopped();

/// That function (empty: none), for other threads that work for this one.
std::function<bool()> stop_function();

/// Keeps the threads that parallel_tasks starts for this thread for its next calls: for many short
/// calls. They end with the scope, since a forked process could not use them.
class TeamScope {
 public:
  TeamScope();
  ~TeamScope();

 private:
  std::unique_ptr<class Team> team_;
};

/// Runs body(task) for every task in [0, tasks) on up to `threads` threads, waits for all of them
/// and rethrows the first exception. Threads take tasks in any order: write one result per task and
/// combine them in order to be independent of the number of threads. Nested calls run serially.
void parallel_tasks(int threads, std::size_t tasks, const std::function<void(std::size_t)>& body);

}  // namespace covshift
