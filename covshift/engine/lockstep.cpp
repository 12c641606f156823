#include "covshift/engine/lockstep.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {

struct Lockstep::Work final : Reducer {
  Work(Function f, std::size_t holder) : f_(std::move(f)), holder_(holder) {}
  ~Work() override {
    cancel();
    if (thread_.joinable()) thread_.join();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // --- what the caller's thread does ---

  Partial advance(std::vector<Partial> known) {
    std::unique_lock lock(mutex_);
    if (ended_) fail_input("this part has finished; there is nothing to advance");
    std::move(known.begin(), known.end(), std::back_inserter(known_));
    answer_.reset();
    if (!thread_.joinable()) thread_ = std::thread(&Work::run, this);
    changed_.notify_all();
    changed_.wait(lock, [&] { return answer_ || error_; });
    if (error_) std::rethrow_exception(error_);
    return *answer_;
  }
  void cancel() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
  }

  // --- what the thread of f does ---

  void run() {
    std::exception_ptr error;
    Partial last;
    try {
      const std::function<bool()> stopped = [this] {
        return stop_.load(std::memory_order_relaxed);
      };
      const StopScope scope(stopped);
      const TeamScope team;
      last.pieces.push_back(f_(*this));
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (error) {
      error_ = error;
    } else {
      answer_ = std::move(last);
    }
    changed_.notify_all();
  }

  Partial reduce(Partial own) const {
    std::unique_lock lock(mutex_);
    const Partial::Kind kind = own.kind;
    const std::size_t size = own.numbers.size();
    if (known_.empty()) {
      answer_ = std::move(own);
      changed_.notify_all();
      changed_.wait(lock, [&] { return stop_ || !known_.empty(); });
    }
    if (stop_) throw Error(Error::Kind::stopped, "stopped");
    Partial reduced = std::move(known_.front());
    known_.pop_front();
    if (reduced.kind != kind || reduced.numbers.size() != size) {
      fail_input(
          "the fit of this part takes another course than the others did; all parts must be fitted "
          "by the same version with the same options, to data that do not change");
    }
    return reduced;
  }
  void exchange(Partial::Kind kind, std::span<double> x) const {
    const Partial reduced = reduce({kind, {x.begin(), x.end()}, {}});
    std::copy(reduced.numbers.begin(), reduced.numbers.end(), x.begin());
  }
  void sum(std::span<double> totals) const override { exchange(Partial::Kind::sum, totals); }
  void max(std::span<double> largest) const override { exchange(Partial::Kind::max, largest); }
  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    Partial own{Partial::Kind::gather, {}, {}};
    own.pieces.push_back(std::move(piece));
    return reduce(std::move(own)).pieces;
  }
  [[nodiscard]] std::size_t holder() const override { return holder_; }

 private:
  Function f_;
  std::size_t holder_;
  // Reducer's functions are const: what they exchange is not part of its value.
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::deque<Partial> known_;      // results that f has not asked for yet
  mutable std::optional<Partial> answer_;  // set: f waits, or has finished
  std::exception_ptr error_;
  bool ended_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Lockstep::Lockstep(Function f, std::size_t holder)
    : work_(std::make_unique<Work>(std::move(f), holder)) {}
Lockstep::~Lockstep() = default;
Partial Lockstep::start(std::vector<Partial> known) { return work_->advance(std::move(known)); }
Partial Lockstep::step(Partial reduced) {
  std::vector<Partial> known;
  known.push_back(std::move(reduced));
  return work_->advance(std::move(known));
}
void Lockstep::cancel() { work_->cancel(); }

}  // namespace covshift
