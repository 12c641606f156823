#include "covshift/base/together.hpp"

#include <algorithm>

#if defined(COVSHIFT_STD_THREADS)

#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

class Meeting {
 public:
  using Work = std::function<void(std::size_t, const Reducer&)>;

  explicit Meeting(const Reducer& all) : all_(all), stopped_(stop_function()) {}
  ~Meeting() {
    stop();
    for (Member& member : members_) member.join();
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Until `count` tasks from `first` on have ended.
  void hold(std::size_t first, std::size_t count, const Work& work) {
    for (std::size_t k = 0; k < count; ++k) members_.emplace_back(*this, first + k);
    for (Member& member : members_) member.start(work);
    while (all_arrived()) {
      forward_passes();
      reduce(&Member::sums, &Reducer::sum);
      reduce(&Member::maxima, &Reducer::max);
      for (Member& member : members_) {
        if (member.piece) member.pieces = all_.gather(std::move(*member.piece));
      }
      release();
    }
    forward_passes();
  }

 private:
  /// A task, and the reducer that it sees.
  class Member final : public Reducer {
   public:
    Member(Meeting& meeting, std::size_t task) : meeting_(meeting), task_(task) {}

    void start(const Work& work) {
      thread_ = std::thread([this, &work] {
        std::exception_ptr thrown;
        try {
          const std::function<bool()> stopped = [this] { return meeting_.stopped(); };
          const StopScope scope(stopped);
          const TeamScope team;
          work(task_, *this);
        } catch (...) {
          thrown = std::current_exception();
        }
        meeting_.leave(*this, std::move(thrown));
      });
    }
    void join() {
      if (thread_.joinable()) thread_.join();
    }

    void sum(std::span<double> totals) const override {
      sums = totals;
      meeting_.wait(*this);
    }
    void max(std::span<double> largest) const override {
      maxima = largest;
      meeting_.wait(*this);
    }
    [[nodiscard]] std::vector<std::string> gather(std::string own) const override {
      piece = std::move(own);
      meeting_.wait(*this);
      return std::move(pieces);
    }
    [[nodiscard]] std::size_t holder() const override { return meeting_.all_.holder(); }
    void pass() const override { ++passes; }

    // What it asks for, and the answer to gather(). A Reducer's functions are const: what they
    // exchange is not part of its value.
    mutable std::span<double> sums, maxima;
    mutable std::optional<std::string> piece;
    mutable std::vector<std::string> pieces;
    mutable std::size_t passes = 0;  ///< since the last reduction
    mutable bool waiting = false;
    bool ended = false;
    std::exception_ptr error;

   private:
    Meeting& meeting_;
    std::size_t task_;
    std::thread thread_;
  };

  // --- what the tasks' threads do ---

  void wait(const Member& member) {
    std::unique_lock lock(mutex_);
    member.waiting = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !member.waiting || stop_; });
    if (stop_) throw Error(Error::Kind::stopped, "stopped");
  }
  void leave(Member& member, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    member.ended = true;
    member.error = std::move(error);
    changed_.notify_all();
  }
  bool stopped() {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return true;
    }
    return stopped_ && stopped_();
  }

  // --- what the thread of the caller does ---

  /// Waits until no task runs; false if all have ended. The first error is thrown, the same one at
  /// every holder if all have it.
  bool all_arrived() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::all_of(members_.begin(), members_.end(),
                         [](const Member& m) { return m.waiting || m.ended; });
    });
    for (const Member& member : members_) {
      if (member.error) std::rethrow_exception(member.error);
    }
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.waiting; });
  }
  /// Tasks that go through the rows at the same time make one pass.
  void forward_passes() {
    std::size_t most = 0;
    for (const Member& member : members_) most = std::max(most, std::exchange(member.passes, 0));
    for (std::size_t k = 0; k < most; ++k) all_.pass();
  }
  void reduce(std::span<double> Member::*numbers,
              void (Reducer::*operation)(std::span<double>) const) {
    std::vector<double> together;
    for (const Member& member : members_) {
      together.insert(together.end(), (member.*numbers).begin(), (member.*numbers).end());
    }
    if (together.empty()) return;
    (all_.*operation)(together);
    auto from = together.cbegin();
    for (const Member& member : members_) {
      const auto to = from + static_cast<std::ptrdiff_t>((member.*numbers).size());
      std::copy(from, to, (member.*numbers).begin());
      from = to;
    }
  }
  void release() {
    const std::lock_guard lock(mutex_);
    for (const Member& member : members_) {
      member.sums = {};
      member.maxima = {};
      member.piece.reset();
      member.waiting = false;
    }
    changed_.notify_all();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }

  const Reducer& all_;
  std::function<bool()> stopped_;  // of the thread that holds the meeting
  std::list<Member> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
};

}  // namespace

void run_together(const Reducer& reducer, std::size_t tasks, std::size_t at_once,
                  const std::function<void(std::size_t, const Reducer&)>& work) {
  for (std::size_t first = 0; first < tasks; first += at_once) {
    const std::size_t count = std::min(at_once, tasks - first);
    if (count == 1) {
      work(first, reducer);
    } else {
      Meeting(reducer).hold(first, count, work);
    }
  }
}

}  // namespace covshift

#else

namespace covshift {

void run_together(const Reducer& reducer, std::size_t tasks, std::size_t /*at_once*/,
                  const std::function<void(std::size_t, const Reducer&)>& work) {
  for (std::size_t task = 0; task < tasks; ++task) work(task, reducer);
}

}  // namespace covshift

#endif
