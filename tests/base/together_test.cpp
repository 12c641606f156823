#include "covshift/base/together.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

/// Two holders with the same numbers, which counts what it is asked for.
class Twice final : public Reducer {
 public:
  void sum(std::span<double> totals) const override {
    ++sums;
    for (double& t : totals) t *= 2;
  }
  void max(std::span<double> /*largest*/) const override { ++maxima; }
  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    ++gathers;
    return {piece, piece + "'"};
  }
  [[nodiscard]] std::size_t holder() const override { return 1; }
  void pass() const override { ++passes; }
  mutable int sums = 0, maxima = 0, gathers = 0, passes = 0;
};

/// A task of several kinds of reductions; some take more rounds than others.
std::vector<double> rounds_of(std::size_t task, const Reducer& reducer) {
  std::vector<double> x(task + 1);
  std::iota(x.begin(), x.end(), static_cast<double>(task));
  for (std::size_t round = 0; round <= task; ++round) {
    reducer.pass();
    reducer.sum(x);
    if (round % 2 == 1) reducer.max(x);
    const std::vector<std::string> texts = reducer.gather(std::to_string(task));
    x[0] += std::stod(texts[0]) + static_cast<double>(texts[1].size() + reducer.holder());
  }
  return x;
}

TEST(TogetherThreads, give_what_each_task_gives_alone) {
  constexpr std::size_t tasks = 7;
  for (const std::size_t at_once : {1, 3, 7, 20}) {
    const Twice shared;
    std::vector<std::vector<double>> found(tasks);
    run_together(shared, tasks, at_once,
                 [&](std::size_t k, const Reducer& r) { found[k] = rounds_of(k, r); });
    const Twice alone;
    for (std::size_t k = 0; k < tasks; ++k) EXPECT_EQ(found[k], rounds_of(k, alone)) << at_once;
    EXPECT_EQ(shared.gathers, alone.gathers);
  }
}

TEST(TogetherThreads, reductions_and_passes_are_those_of_the_longest_task) {
  const Twice shared;
  run_together(shared, 5, 5, [](std::size_t k, const Reducer& r) {
    for (std::size_t round = 0; round < 10 * (k + 1); ++round) {
      double x = 1;
      r.pass();
      r.sum({&x, 1});
    }
    r.pass();  // after the last reduction
  });
  EXPECT_EQ(shared.sums, 50);
  EXPECT_EQ(shared.passes, 51);
}

TEST(TogetherThreads, an_error_of_one_task_stops_the_others) {
  const Twice shared;
  std::atomic<int> stopped = 0;
  const auto run = [&] {
    run_together(shared, 4, 4, [&](std::size_t k, const Reducer& r) {
      double x = 1;
      r.sum({&x, 1});
      if (k == 2) fail_input("task two");
      try {
        for (;;) r.sum({&x, 1});
      } catch (const Error& error) {
        stopped += error.kind() == Error::Kind::stopped ? 1 : 0;
        throw;
      }
    });
  };
  try {
    run();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task two");
  }
  EXPECT_EQ(stopped, 3);
}

TEST(TogetherThreads, an_error_of_the_reduction_stops_all) {
  struct Broken final : Reducer {
    void sum(std::span<double> /*totals*/) const override { fail_input("the line is dead"); }
  };
  const Broken broken;
  EXPECT_THROW(run_together(broken, 3, 3,
                            [](std::size_t, const Reducer& r) {
                              double x = 1;
                              r.sum({&x, 1});
                            }),
               Error);
}

TEST(TogetherThreads, can_be_stopped_from_outside) {
  std::atomic<int> asked = 0;
  const std::function<bool()> enough = [&] { return ++asked > 20; };
  const StopScope scope(enough);
  const Reducer alone;
  EXPECT_THROW(run_together(alone, 3, 3,
                            [](std::size_t, const Reducer& r) {
                              for (;;) {
                                parallel_tasks(1, 1, [](std::size_t) {});
                                double x = 1;
                                r.sum({&x, 1});
                              }
                            }),
               Error);
}

}  // namespace
}  // namespace covshift
