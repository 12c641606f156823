#include "covshift/base/threads.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "covshift/base/error.hpp"

#if defined(COVSHIFT_STD_THREADS)
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>
#endif

namespace covshift {
namespace {

thread_local bool inside_task = false;
thread_local const std::function<bool()>* stop_question = nullptr;

/// Runs tasks and keeps the first exception for the caller.
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
  const std::function<bool()>* question_ = stop_question;  // of the calling thread
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

#if defined(COVSHIFT_STD_THREADS)

/// Threads that wait for the next work of the thread that started them.
class Team {
 public:
  ~Team() {
    begin_round(nullptr, 0);
    for (std::thread& thread : threads_) thread.join();
  }

  /// Runs work() on this thread and on `helpers` others, and waits for all.
  void run(std::size_t helpers, const std::function<void()>& work) {
    try {
      while (threads_.size() < helpers) {
        threads_.emplace_back(&Team::serve, this, threads_.size(), round_.load());
      }
    } catch (const std::system_error&) {
      // The system has no more threads: use those that have started.
    }
    begin_round(&work, helpers);
    work();
    for (std::size_t busy = busy_; busy != 0; busy = busy_) wait_while(busy_, busy);
  }

 private:
  void begin_round(const std::function<void()>* work, std::size_t helpers) {
    work_ = work;
    helpers_ = helpers;
    busy_ = threads_.size();
    ++round_;
    round_.notify_all();
  }
  void serve(std::size_t helper, std::size_t round) {
    for (;;) {
      wait_while(round_, round++);
      if (work_ == nullptr) return;
      if (helper < helpers_) (*work_)();
      if (--busy_ == 0) busy_.notify_one();
    }
  }
  /// Waking a thread takes 50 microseconds or more, and the next pass often starts sooner.
  static void wait_while(const std::atomic<std::size_t>& number, std::size_t is) {
    for (int i = 0; i < 300; ++i) {
      if (number != is) return;
      std::this_thread::yield();
    }
    number.wait(is);
  }

  std::vector<std::thread> threads_;
  const std::function<void()>* work_ = nullptr;  // null: threads end
  std::size_t helpers_ = 0;                      // threads that take part in this round
  std::atomic<std::size_t> busy_ = 0;            // threads that have not finished it
  std::atomic<std::size_t> round_ = 0;
};

namespace {
thread_local Team* kept_team = nullptr;
}

TeamScope::TeamScope() {
  if (kept_team != nullptr || inside_task) return;
  team_ = std::make_unique<Team>();
  kept_team = team_.get();
}

TeamScope::~TeamScope() {
  if (team_) kept_team = nullptr;
}

#else

class Team {};
TeamScope::TeamScope() = default;
TeamScope::~TeamScope() = default;

#endif

StopScope::StopScope(const std::function<bool()>& stopped) : outer_(stop_question) {
  if (outer_ == nullptr && stopped) stop_question = &stopped;
}

StopScope::~StopScope() { stop_question = outer_; }

void throw_if_stopped() {
  if (stop_question != nullptr && (*stop_question)()) throw Error(Error::Kind::stopped, "stopped");
}

std::function<bool()> stop_function() {
  return stop_question != nullptr ? *stop_question : std::function<bool()>();
}

int thread_count(int requested) {
  if (requested > 0) return requested;
#if defined(COVSHIFT_STD_THREADS)
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
  return 1;
#endif
}

void parallel_tasks([[maybe_unused]] int threads, std::size_t tasks,
                    const std::function<void(std::size_t)>& body) {
  Runner run(body);
#if defined(COVSHIFT_STD_THREADS)
  const auto workers = std::min<std::size_t>(thread_count(threads), tasks);
  if (workers > 1 && !inside_task) {
    std::atomic<std::size_t> next = 0;
    const TeamScope scope;
    kept_team->run(workers - 1, [&] {
      for (std::size_t task = next++; task < tasks; task = next++) run(task);
    });
    return run.rethrow();
  }
#endif
  for (std::size_t task = 0; task < tasks; ++task) run(task);
  run.rethrow();
}

}  // namespace covshift
