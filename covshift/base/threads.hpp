// The one place where the library starts threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace covshift {

/// Threads to use where the caller asked for `requested`: 0 means as many as the machine has.
int thread_count(int requested);

/// While it lives, the work of this thread, and of those that work for it, can be stopped:
/// `stopped` is asked before every task, by any of them, and true makes them throw Error (stopped).
/// Without a function, or within another scope, nothing changes.
class StopScope {
 public:
  explicit StopScope(const std::function<bool()>& stopped);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::function<bool()>* outer_;
};
/// Throws Error (stopped) if a scope says so: for long loops that run no tasks.
void throw_if_stopped();

/// While it lives, threads that parallel_tasks starts for this thread are kept for its next call:
/// for work of many short calls. None outlive it: a forked process could not use them.
class TeamScope {
 public:
  TeamScope();
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  std::unique_ptr<class Team> team_;
};

/// Runs body(task) for every task in [0, tasks) on up to `threads` threads and waits for all of
/// them; the first exception is thrown again here. Which thread runs which task is open: code that
/// writes one result per task and adds them up in order gives the same answer for any number of
/// threads. Inside a task it runs its own tasks one after the other.
void parallel_tasks(int threads, std::size_t tasks, const std::function<void(std::size_t)>& body);

}  // namespace covshift
