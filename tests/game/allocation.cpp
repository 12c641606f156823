// Closed forms do not allocate after a thread's first game.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/game/support.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}

void* counted_or_throw(std::size_t size) {
  void* memory = counted(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// All variants, so that sanitizers see no mismatched allocators.
void* operator new(std::size_t size) { return counted_or_throw(size); }
void* operator new[](std::size_t size) { return counted_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace covshift {
namespace {

using namespace covshift::testing;

TEST(Allocation, CounterWorks) {
  const long before = allocations;
  const auto something = std::make_unique<std::vector<double>>(10);
  EXPECT_EQ(something->size(), 10U);
  EXPECT_EQ(allocations - before, 2);
}

TEST(Allocation, ClosedFormsDoNotAllocate) {
  constexpr int n = 50;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const int k : {2, 3, 64, 65, 100}) {
    std::vector<double> psi(static_cast<std::size_t>(n) * k);
    for (double& x : psi) x = normal(random);
    std::vector<int> label(n);
    for (int& y : label) y = static_cast<int>(random() % k);
    std::vector<double> value(n);
    std::vector<double> q(psi.size());
    for (const char* loss :
         {"log", "zero-one", "absolute", "squared", "hinge", "abstain:0.2", "abstain:1"}) {
      const auto game = make_game(loss, k);
      std::vector<double> p(game->actions());
      const auto all = [&](int rows) {
        game->play(rows, psi.data(), label.data(), value.data(), q.data());
        game->predict({psi.data(), static_cast<std::size_t>(k)}, p);
        game->bayes_risk({q.data(), static_cast<std::size_t>(k)}, 0);
        const std::string name = loss;
        if (name == "zero-one" || name == "hinge") {
          game->proximal({psi.data(), static_cast<std::size_t>(k)}, 0.1, 0,
                         {q.data(), static_cast<std::size_t>(k)});
        }
      };
      all(1);  // fills the pool of temporary arrays
      const long before = allocations;
      for (int i = 0; i < 3; ++i) all(n);
      EXPECT_EQ(allocations - before, 0) << loss << " with " << k << " labels";
    }
  }
}

}  // namespace
}  // namespace covshift
