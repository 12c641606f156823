// Long work on behalf of Python: on a thread of its own, without the interpreter's lock, while the
// calling thread listens for Ctrl-C and shows progress. Python code runs on the calling thread
// only.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace covshift::python {

namespace nb = nanobind;

/// What the work may call, from any thread.
struct Control {
  std::function<bool()> cancelled;
  std::function<void(std::string_view, double)> progress;
};

/// work(control), whose result is returned and whose exception is thrown. Ctrl-C, or an exception
/// of `progress` (called with a text and a share; or None), stops it and is what the caller gets.
template <typename Work>
auto interruptible(const nb::object& progress, Work&& work) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool fresh = false;
  std::string stage;
  double share = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr error;
  std::optional<decltype(work(std::declval<const Control&>()))> result;

  Control control;
  control.cancelled = [&] { return stop.load(std::memory_order_relaxed); };
  if (!progress.is_none()) {
    control.progress = [&](std::string_view now, double part) {
      const std::lock_guard lock(mutex);
      stage = now;
      share = part;
      fresh = true;
      changed.notify_one();
    };
  }
  std::thread worker([&] {
    try {
      result.emplace(work(control));
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });

  std::exception_ptr python_error;
  const auto guarded = [&](const auto& call) {
    try {
      call();
    } catch (...) {
      if (!python_error) python_error = std::current_exception();
      stop = true;
    }
  };
  for (bool finished = false; !finished;) {
    std::string now;
    double part = 0;
    bool show = false;
    {
      const nb::gil_scoped_release release;
      std::unique_lock lock(mutex);
      changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return done || fresh; });
      finished = done;
      show = std::exchange(fresh, false);
      now = stage;
      part = share;
    }
    if (show && !python_error) guarded([&] { progress(now, part); });
    guarded([] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
  }
  {
    const nb::gil_scoped_release release;
    worker.join();
  }
  if (python_error) std::rethrow_exception(python_error);
  if (error) std::rethrow_exception(error);
  return std::move(*result);
}

}  // namespace covshift::python
