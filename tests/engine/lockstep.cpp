#include "covshift/engine/lockstep.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cmath>
#include <thread>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/engine/partial.hpp"
#include "covshift/learn/solve.hpp"

namespace covshift {
namespace {

using Functions = std::vector<Lockstep::Function>;

Partial combined(const std::vector<Partial>& of_holders) {
  Partials all(of_holders.size());
  for (std::size_t h = 0; h < of_holders.size(); ++h) all.add(h, of_holders[h]);
  return all.combined();
}

/// Advances all holders to the end; their results. `log`: what was reduced.
std::vector<std::string> run(const Functions& functions, std::vector<Partial>* log = nullptr) {
  std::vector<std::unique_ptr<Lockstep>> holders;
  std::vector<Partial> answers;
  for (std::size_t h = 0; h < functions.size(); ++h) {
    holders.push_back(std::make_unique<Lockstep>(functions[h], h));
    answers.push_back(holders[h]->start());
  }
  for (;;) {
    const Partial all = combined(answers);
    if (all.kind == Partial::Kind::done) return all.pieces;
    if (log != nullptr) log->push_back(all);
    for (std::size_t h = 0; h < holders.size(); ++h) answers[h] = holders[h]->step(all);
  }
}

/// Holders in threads that meet at a barrier.
class PartialsMeeting {
 public:
  explicit PartialsMeeting(std::size_t holders)
      : parts_(holders), arrived_(static_cast<std::ptrdiff_t>(holders)) {}

  class At final : public Reducer {
   public:
    At(PartialsMeeting& meeting, std::size_t holder) : meeting_(meeting), holder_(holder) {}
    void sum(std::span<double> x) const override { exchange(Partial::Kind::sum, x); }
    void max(std::span<double> x) const override { exchange(Partial::Kind::max, x); }
    [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
      return meeting_.meet(holder_, {Partial::Kind::gather, {}, {std::move(piece)}}).pieces;
    }
    [[nodiscard]] std::size_t holder() const override { return holder_; }

   private:
    void exchange(Partial::Kind kind, std::span<double> x) const {
      const Partial all = meeting_.meet(holder_, {kind, {x.begin(), x.end()}, {}});
      std::copy(all.numbers.begin(), all.numbers.end(), x.begin());
    }
    PartialsMeeting& meeting_;
    std::size_t holder_;
  };

 private:
  Partial meet(std::size_t holder, Partial own) {
    parts_[holder] = std::move(own);
    arrived_.arrive_and_wait();
    Partial all = combined(parts_);
    arrived_.arrive_and_wait();
    return all;
  }
  std::vector<Partial> parts_;
  std::barrier<> arrived_;
};

std::vector<std::string> run_in_threads(const Functions& functions) {
  PartialsMeeting meeting(functions.size());
  std::vector<std::string> results(functions.size());
  std::vector<std::thread> team;
  for (std::size_t h = 0; h < functions.size(); ++h) {
    team.emplace_back([&, h] { results[h] = functions[h](PartialsMeeting::At(meeting, h)); });
  }
  for (std::thread& t : team) t.join();
  return results;
}

/// A problem of learn/, its rows dealt to holders; the result is the solution's bits.
class Solving {
 public:
  Solving(const std::string& loss, Solver solver) : game_(make_game(loss, 3)) {
    Random random(7);
    for (std::size_t i = 0; i < rows * cols; ++i) x_.push_back(random.normal());
    for (std::size_t i = 0; i < rows; ++i) {
      y_.push_back(x_[i * cols] + random.normal() > 0 ? static_cast<int>(1 + i % 2) : 0);
    }
    options_.solver = solver;
    options_.threads = 1;
    options_.tolerance = 1e-9;
  }
  [[nodiscard]] Functions parts(const std::vector<std::size_t>& cuts) const {
    Functions functions;
    for (std::size_t h = 0; h + 1 < cuts.size(); ++h) {
      functions.emplace_back([this, first = cuts[h], n = cuts[h + 1] - cuts[h]](const Reducer& r) {
        Problem p;
        p.game = game_.get();
        p.features = MatrixView::dense(x_.data() + first * cols, n, cols);
        p.labels = std::span(y_).subspan(first, n);
        p.lambda = 0.01;
        SolveOptions options = options_;
        options.reducer = &r;
        const Solution found = solve(p, options);
        std::string bits = fmt::format("{:a}", found.objective);
        for (const double w : found.weights) bits += fmt::format(" {:a}", w);
        return bits;
      });
    }
    return functions;
  }
  static constexpr std::size_t rows = 60;
  static constexpr std::size_t cols = 3;

 private:
  std::unique_ptr<Game> game_;
  std::vector<double> x_;
  std::vector<int> y_;
  SolveOptions options_;
};

const std::vector<std::vector<std::size_t>> cut_lists = {
    {0, 60}, {0, 25, 60}, {0, 1, 30, 33, 60}, {0, 2, 7, 20, 21, 40, 50, 60}};

TEST(LockstepThreads, give_what_threads_that_meet_give) {
  for (const auto& [loss, solver] : {std::pair<std::string, Solver>{"log", Solver::newton},
                                     {"zero-one", Solver::interior},
                                     {"hinge", Solver::interior}}) {
    const Solving solving(loss, solver);
    for (const auto& cuts : cut_lists) {
      const std::vector<std::string> found = run(solving.parts(cuts));
      EXPECT_EQ(found, run_in_threads(solving.parts(cuts))) << loss << cuts.size();
      EXPECT_EQ(std::count(found.begin(), found.end(), found[0]), std::ssize(found));
    }
  }
}

TEST(LockstepThreads, a_lost_holder_replays_from_every_step) {
  const Solving solving("log", Solver::newton);
  const Functions parts = solving.parts({0, 20, 45, 60});
  std::vector<Partial> log;
  const std::vector<std::string> whole = run(parts, &log);
  ASSERT_GT(log.size(), 5U);
  for (std::size_t at = 0; at <= log.size(); ++at) {
    // Holder 1 starts anew with the first `at` results and goes on with the others.
    Lockstep again(parts[1], 1);
    const auto lost = log.begin() + static_cast<std::ptrdiff_t>(at);
    Partial answer = again.start({log.begin(), lost});
    for (auto next = lost; next != log.end(); ++next) {
      ASSERT_EQ(answer.kind, next->kind);
      answer = again.step(*next);
    }
    ASSERT_EQ(answer.kind, Partial::Kind::done);
    EXPECT_EQ(answer.pieces[0], whole[1]) << "from step " << at;
  }
}

TEST(LockstepThreads, gather_and_holder) {
  Functions functions;
  for (int h = 0; h < 5; ++h) {
    functions.emplace_back([](const Reducer& r) {
      std::string line;
      for (const std::string& piece : r.gather(fmt::format("<{}>", r.holder()))) line += piece;
      std::vector<double> largest = {static_cast<double>(r.holder()), -1.0};
      r.max(largest);
      return fmt::format("{} {} {}", line, largest[0], largest[1]);
    });
  }
  for (const std::string& found : run(functions)) EXPECT_EQ(found, "<0><1><2><3><4> 4 -1");
}

TEST(LockstepThreads, abandoned_in_the_middle_everything_ends) {
  const auto held = std::make_shared<int>(1);
  std::atomic<int> ended = 0;
  const Lockstep::Function f = [&ended, held](const Reducer& r) {
    std::vector<double> x(1000, 1.0);
    try {
      for (;;) r.sum(x);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::stopped);
      ++ended;
      EXPECT_THROW((void)r.gather("the way out"), Error) << "it stays stopped";
    }
    return std::string();
  };
  {
    const Lockstep never_started(f, 0);
    std::vector<std::unique_ptr<Lockstep>> many;
    for (std::size_t h = 0; h < 8; ++h) {
      many.push_back(std::make_unique<Lockstep>(f, h));
      Partial all = many[h]->start();
      for (std::size_t s = 0; s < h; ++s) all = many[h]->step(all);
    }
  }
  EXPECT_EQ(ended, 8);
  EXPECT_EQ(held.use_count(), 2) << "f and this";
}

TEST(LockstepThreads, a_running_step_can_be_cancelled) {
  std::atomic<bool> running = false;
  Lockstep part(
      [&](const Reducer&) {
        for (;;) parallel_tasks(2, 8, [&](std::size_t) { running = true; });
        return std::string();
      },
      0);
  std::thread other([&] {
    while (!running) std::this_thread::yield();
    part.cancel();
  });
  try {
    (void)part.start();
    FAIL() << "it was stopped";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::stopped);
  }
  other.join();
}

TEST(LockstepThreads, errors_arrive_and_courses_are_compared) {
  Lockstep fails([](const Reducer&) -> std::string { fail_input("row 7 is bad"); }, 0);
  try {
    (void)fails.start();
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "row 7 is bad");
  }
  EXPECT_THROW((void)fails.step({}), Error) << "it has ended";

  const Lockstep::Function sums = [](const Reducer& r) {
    std::vector<double> x(3);
    r.sum(x);
    return std::string();
  };
  for (const Partial& wrong :
       {Partial{Partial::Kind::max, {1, 2, 3}, {}}, Partial{Partial::Kind::sum, {1, 2}, {}}}) {
    Lockstep part(sums, 0);
    (void)part.start();
    EXPECT_THROW((void)part.step(wrong), Error);
    Lockstep replayed(sums, 0);
    EXPECT_THROW((void)replayed.start({wrong}), Error);
  }
}

TEST(Partials, do_not_depend_on_where_they_meet) {
  Random random(3);
  for (std::size_t holders : {1U, 2U, 3U, 5U, 7U, 8U, 13U}) {
    std::vector<Partial> of;
    for (std::size_t h = 0; h < holders; ++h) {
      of.push_back({Partial::Kind::sum, {random.normal(), std::exp(20 * random.normal())}, {}});
    }
    const Partial expected = combined(of);
    for (int trial = 0; trial < 20; ++trial) {
      // Dealt to three places at random, in a random order, which then meet.
      std::vector<Partials> places(3, Partials(holders));
      std::vector<std::size_t> order(holders);
      for (std::size_t h = 0; h < holders; ++h) order[h] = h;
      for (std::size_t h = holders; h > 1; --h) std::swap(order[h - 1], order[random.below(h)]);
      for (const std::size_t h : order) places[random.below(3)].add(h, of[h]);
      Partials all(holders);
      for (const Partials& place : places) all.add(Partials::from_bytes(place.to_bytes()));
      ASSERT_TRUE(all.whole());
      EXPECT_EQ(all.combined(), expected) << "to the last bit";
    }
  }
}

TEST(Partials, refuse_what_does_not_fit) {
  Partials some(3);
  EXPECT_FALSE(some.whole());
  some.add(0, {Partial::Kind::sum, {1, 2}, {}});
  EXPECT_THROW((void)some.combined(), Error);
  EXPECT_THROW(some.add(0, {Partial::Kind::sum, {1, 2}, {}}), Error) << "twice";
  EXPECT_THROW(some.add(3, {Partial::Kind::sum, {1, 2}, {}}), Error) << "no such part";
  EXPECT_THROW(some.add(1, {Partial::Kind::max, {1, 2}, {}}), Error) << "another kind";
  EXPECT_THROW(Partials(3).add(Partials(4)), Error);
  const std::string bytes = some.to_bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (n == 8) continue;  // nobody has contributed yet
    EXPECT_THROW((void)Partials::from_bytes(bytes.substr(0, n)), Error) << n;
  }
}

}  // namespace
}  // namespace covshift
