#include "covshift/base/threads.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "covshift/base/error.hpp"

#if defined(COVSHIFT_OPENMP)
#include <omp.h>
#elif defined(COVSHIFT_STD_THREADS)
#include <atomic>
#include <thread>
#include <vector>
#endif

namespace covshift {
namespace {

thread_local bool inside_task = false;
thread_local const std::function<bool()>* stop_question = nullptr;

/// Runs one task, keeping the first exception of all for the caller.
class Runner {
 public:
  explicit Runner(const std::function<void(std::size_t)>& body) : body_(body) {}

  void operator()(std::size_t task) {
    const bool outer = inside_task;
    const auto* const outer_question = std::exchange(stop_question, question_);
    inside_task = true;
    try {
      throw_if_stopped();
      body_(task);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
    inside_task = outer;
    stop_question = outer_question;
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  const std::function<void(std::size_t)>& body_;
  const std::function<bool()>* question_ = stop_question;  // of the thread that gives the tasks
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

StopScope::StopScope(const std::function<bool()>& stopped) : outer_(stop_question) {
  if (outer_ == nullptr && stopped) stop_question = &stopped;
}

StopScope::~StopScope() { stop_question = outer_; }

void throw_if_stopped() {
  if (stop_question != nullptr && (*stop_question)()) throw Error(Error::Kind::stopped, "stopped");
}

int thread_count(int requested) {
  if (requested > 0) return requested;
#if defined(COVSHIFT_OPENMP)
  return std::max(1, omp_get_num_procs());
#elif defined(COVSHIFT_STD_THREADS)
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
  return 1;
#endif
}

void parallel_tasks(int threads, std::size_t tasks, const std::function<void(std::size_t)>& body) {
  Runner run(body);
  const auto workers = std::min<std::size_t>(thread_count(threads), tasks);
  if (workers <= 1 || inside_task) {
    for (std::size_t task = 0; task < tasks; ++task) run(task);
    run.rethrow();
    return;
  }
#if defined(COVSHIFT_OPENMP)
#pragma omp parallel for schedule(dynamic, 1) num_threads(static_cast <int>(workers))
  for (std::size_t task = 0; task < tasks; ++task) run(task);
#elif defined(COVSHIFT_STD_THREADS)
  // The same with plain threads: for builds without OpenMP, the thread sanitizer's among them.
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t task = next++; task < tasks; task = next++) run(task);
  };
  std::vector<std::thread> team;
  for (std::size_t w = 1; w < workers; ++w) team.emplace_back(work);
  work();
  for (std::thread& t : team) t.join();
#else
  for (std::size_t task = 0; task < tasks; ++task) run(task);
#endif
  run.rethrow();
}

}  // namespace covshift
