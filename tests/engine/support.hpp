// Several holders in one process: threads that meet.
#pragma once

#include <algorithm>
#include <barrier>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "covshift/base/reduce.hpp"

namespace covshift::test {

/// Holders that are out of step, or leave early, get an exception instead of waiting for ever.
class Meeting {
 public:
  explicit Meeting(std::size_t holders)
      : numbers_(holders), texts_(holders), arrived_(static_cast<std::ptrdiff_t>(holders)) {}

  class At final : public Reducer {
   public:
    At(Meeting& meeting, std::size_t holder) : meeting_(meeting), holder_(holder) {}
    void sum(std::span<double> x) const override {
      meeting_.join("sum", holder_, x, [](double a, double b) { return a + b; });
    }
    void max(std::span<double> x) const override {
      meeting_.join("max", holder_, x, [](double a, double b) { return std::max(a, b); });
    }
    [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
      meeting_.numbers_[holder_].clear();
      meeting_.texts_[holder_] = {"gather", std::move(piece)};
      meeting_.meet("gather");
      std::vector<std::string> pieces;
      for (const auto& text : meeting_.texts_) pieces.push_back(text.piece);
      meeting_.arrived_.arrive_and_wait();
      return pieces;
    }
    [[nodiscard]] std::size_t holder() const override { return holder_; }

   private:
    Meeting& meeting_;
    std::size_t holder_;
  };

  /// Runs work(reducer) for every holder, each on a thread, and rethrows the first exception.
  void run(const std::function<void(const Reducer&)>& work) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failed(texts_.size());
    for (std::size_t h = 0; h < texts_.size(); ++h) {
      threads.emplace_back([&, h] {
        try {
          work(At(*this, h));
        } catch (...) {
          failed[h] = std::current_exception();
        }
        texts_[h] = {"gone", ""};
        arrived_.arrive_and_drop();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : failed) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  struct Text {
    std::string call, piece;
  };

  void meet(const char* call) {
    arrived_.arrive_and_wait();
    for (const Text& text : texts_) {
      if (text.call != call) throw std::logic_error("holders out of step: " + text.call + call);
    }
  }
  template <typename F>
  void join(const char* call, std::size_t holder, std::span<double> x, F&& two) {
    numbers_[holder].assign(x.begin(), x.end());
    texts_[holder] = {call, ""};
    meet(call);
    std::vector<double> all = numbers_[0];
    for (std::size_t other = 1; other < numbers_.size(); ++other) {
      if (numbers_[other].size() != x.size()) throw std::logic_error("holders out of step");
      for (std::size_t j = 0; j < x.size(); ++j) all[j] = two(all[j], numbers_[other][j]);
    }
    arrived_.arrive_and_wait();
    std::copy(all.begin(), all.end(), x.begin());
  }

  std::vector<std::vector<double>> numbers_;
  std::vector<Text> texts_;
  std::barrier<> arrived_;
};

}  // namespace covshift::test
