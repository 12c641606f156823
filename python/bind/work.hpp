// Long work for Python without the interpreter's lock. Ctrl-C stops it; Python code runs only on
// the calling thread.
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

#include "covshift/base/threads.hpp"

namespace covshift::python {

namespace nb = nanobind;

/// What the work may call, from any thread.
struct Control {
  std::function<bool()> cancelled;
  std::function<void(std::string_view, double)> progress;
};

constexpr auto signals_every = std::chrono::milliseconds(50);

/// Runs on the calling thread, which checks for signals whenever the work asks whether to stop.
template <typename Work>
auto on_this_thread(Work&& work) {
  const auto caller = std::this_thread::get_id();
  auto asked = std::chrono::steady_clock::now();
  std::atomic<bool> stop = false;
  std::exception_ptr python_error;
  Control control;
  control.cancelled = [&] {
    if (std::this_thread::get_id() == caller && !stop) {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked >= signals_every) {
        asked = now;
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) {
          python_error = std::make_exception_ptr(nb::python_error());
          stop = true;
        }
      }
    }
    return stop.load(std::memory_order_relaxed);
  };
  try {
    const nb::gil_scoped_release release;
    const TeamScope team;
    return work(control);
  } catch (...) {
    if (python_error) std::rethrow_exception(python_error);
    throw;
  }
}

/// Runs on a new thread, while the calling thread handles signals and shows progress.
template <typename Work>
auto with_progress(const nb::object& progress, Work&& work) {
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
  control.progress = [&](std::string_view now, double part) {
    const std::lock_guard lock(mutex);
    stage = now;
    share = part;
    fresh = true;
    changed.notify_one();
  };
  std::thread worker([&] {
    try {
      const TeamScope team;
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
      changed.wait_for(lock, signals_every, [&] { return done || fresh; });
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

/// Returns work(control). Ctrl-C, or an exception from `progress` (None, or called with a string
/// and a share), stops it and is passed on to the caller.
template <typename Work>
auto interruptible(const nb::object& progress, Work&& work) {
  // Starting a thread and waking the caller takes some tenths of a millisecond.
  return progress.is_none() ? on_this_thread(work) : with_progress(progress, work);
}

}  // namespace covshift::python
