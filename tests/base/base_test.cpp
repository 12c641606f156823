#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/large_vector.hpp"
#include "covshift/base/precise_sum.hpp"
#include "covshift/base/random.hpp"
#include "covshift/base/range.hpp"
#include "covshift/base/sha256.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

TEST(Threads, RunEveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> runs(1000, 0);
    parallel_tasks(threads, runs.size(), [&](std::size_t i) { ++runs[i]; });
    EXPECT_EQ(std::count(runs.begin(), runs.end(), 1), 1000) << threads << " threads";
  }
}

TEST(Threads, AreKeptForTheNextCall) {
  const auto ran_by = [](int threads) {
    std::set<std::thread::id> ids;
    std::mutex mutex;
    std::atomic<int> here = 0;
    parallel_tasks(threads, static_cast<std::size_t>(threads), [&](std::size_t) {
      ++here;
      while (here < threads) std::this_thread::yield();  // so that each takes one
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids;
  };
  const TeamScope scope;
  const auto five = ran_by(5);
  EXPECT_EQ(five.size(), 5U);
  EXPECT_EQ(ran_by(5), five);
  const auto two = ran_by(2);
  EXPECT_EQ(two.size(), 2U);
  EXPECT_TRUE(std::includes(five.begin(), five.end(), two.begin(), two.end()));
  EXPECT_EQ(ran_by(1), std::set{std::this_thread::get_id()});
  for (int round = 0; round < 2000; ++round) {
    std::array<int, 3> runs{};
    parallel_tasks(1 + round % 4, runs.size(), [&](std::size_t i) { ++runs[i]; });
    ASSERT_EQ(runs, (std::array{1, 1, 1}));
  }
}

TEST(Threads, FinishAllTasksAndRethrowTheFirstError) {
  std::atomic<int> done = 0;
  EXPECT_THROW(parallel_tasks(2, 50,
                              [&](std::size_t i) {
                                ++done;
                                if (i == 7) fail_input("seven");
                              }),
               Error);
  EXPECT_EQ(done, 50);
}

TEST(Threads, NestedTasksRunOnce) {
  std::vector<int> runs(64, 0);
  parallel_tasks(2, 8, [&](std::size_t i) {
    parallel_tasks(2, 8, [&](std::size_t j) { ++runs[i * 8 + j]; });
  });
  EXPECT_EQ(std::count(runs.begin(), runs.end(), 1), 64);
}

TEST(Threads, CanBeStoppedFromOutside) {
  for (const int threads : {1, 3}) {
    std::atomic<int> done = 0;
    const std::function<bool()> enough = [&] { return done >= 10; };
    const auto work = [&] {
      parallel_tasks(threads, 1000, [&](std::size_t) {
        parallel_tasks(threads, 1, [&](std::size_t) { ++done; });  // the scope covers nested tasks
      });
    };
    {
      const StopScope scope(enough);
      const StopScope inner(std::function<bool()>{});  // changes nothing
      EXPECT_THROW(work(), Error);
      EXPECT_THROW(throw_if_stopped(), Error);
    }
    EXPECT_GE(done, 10);
    EXPECT_LT(done, 10 + 2 * threads);
    throw_if_stopped();
    work();  // outside the scope
    EXPECT_GE(done, 1010);
  }
}

TEST(PreciseSum, DoesNotDependOnGrouping) {
  Random random(4);
  PreciseSum weighted;
  PreciseSum squares;
  PreciseSum repeated;
  PreciseSum repeated_squares;
  for (int i = 0; i < 2000; ++i) {
    const double x = 1e6 + random.normal();
    const auto times = static_cast<int>(random.below(5));
    weighted.add_product(times, x);
    squares.add_square(times, x);
    for (int k = 0; k < times; ++k) {
      repeated.add(x);
      repeated_squares.add_square(1, x);
    }
  }
  EXPECT_EQ(weighted.value(), repeated.value());
  EXPECT_EQ(squares.value(), repeated_squares.value());
  PreciseSum lost;  // cancels in a plain sum
  for (const double x : {1.0, 1e100, 1.0, -1e100}) lost.add(x);
  EXPECT_EQ(lost.value(), 2);
}

TEST(Random, IsPortable) {
  // xoshiro256** from splitmix64(42): pinned, so that seeds in papers stay valid.
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742U);
  EXPECT_EQ(random.next(), 6990951692964543102U);
}

TEST(Random, HasTheExpectedMoments) {
  Random random(1);
  double sum = 0;
  double squares = 0;
  std::vector<int> counts(7, 0);
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
    ++counts[random.below(7)];
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  for (const int c : counts) EXPECT_NEAR(c, n / 7.0, 4 * std::sqrt(n / 7.0));
}

TEST(Random, ShufflePermutes) {
  Random random(3);
  std::vector<int> x(100);
  std::iota(x.begin(), x.end(), 0);
  random.shuffle(std::span(x));
  EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
  std::sort(x.begin(), x.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[i], i);
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() /
        ("covshift_files_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, AreReplacedAtomically) {
  const std::string path = folder_ / "a.txt";
  write_whole(path, "one");
  write_whole(path, "two");
  EXPECT_EQ(read_whole(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no drafts left";
}

TEST_F(Files, LeaveNothingBehindWhenWritingFails) {
  const std::string path = folder_ / "missing" / "a.txt";
  EXPECT_THROW(write_whole(path, "x"), Error);
  EXPECT_THROW(write_whole(folder_, "x"), Error);  // a directory
  EXPECT_THROW(read_whole(folder_), Error);
  EXPECT_THROW(read_whole(path), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// Of FIPS 180-2, appendix B, and of messages around the length of a block.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sha256(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(sha256(std::string(65, 'x')),
            "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

/// Small vectors come from the allocator, large ones from the system.
TEST(LargeVector, KeepsItsNumbersWhenResized) {
  LargeVector v;
  for (const std::size_t size : {1U, 1000U, 524'287U, 524'288U, 524'289U, 3'000'000U, 10U}) {
    const std::size_t kept = std::min<std::size_t>(v.size(), size);
    v.resize(size);
    v.shrink_to_fit();
    for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(v[i], static_cast<double>(i)) << size;
    for (std::size_t i = kept; i < size; ++i) {
      ASSERT_EQ(v[i], 0) << size;
      v[i] = static_cast<double>(i);
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 64, 0U) << size;
    const LargeVector copy = v;
    EXPECT_EQ(copy, v);
  }
}

TEST(Range, ChecksWhatItSays) {
  const auto message = [](const Range& range, double x) -> std::string {
    try {
      range.check("it", x);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(allowed::positive, 1e-300), "");
  EXPECT_EQ(message(allowed::positive, 0), "it must be a number > 0, not 0");
  EXPECT_EQ(message(allowed::at_least_0, 0), "");
  EXPECT_EQ(message(allowed::at_least_0, -1), "it must be a number >= 0, not -1");
  EXPECT_EQ(message(allowed::open_unit, 1), "it must be a number in (0, 1), not 1");
  EXPECT_EQ(message({.low = 0, .high = 1, .high_excluded = true}, 0), "");
  EXPECT_EQ(message(allowed::between(2, 5), 6), "it must be a number from 2 to 5, not 6");
  EXPECT_EQ(message({.low = 0, .note = "0 means none"}, -1),
            "it must be a number >= 0 (0 means none), not -1");
  EXPECT_EQ(message(allowed::at_least_0, std::numeric_limits<double>::infinity()),
            "it must be a number >= 0, not inf");
  EXPECT_EQ(message({}, std::numeric_limits<double>::quiet_NaN()), "it must be a number, not nan");
}

}  // namespace
}  // namespace covshift
