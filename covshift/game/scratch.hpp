// Temporary arrays without a heap allocation per call.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace covshift {

/// n uninitialised elements: on the stack up to 64 (more than most problems have classes),
/// otherwise from a thread-local pool.
template <typename T>
class Scratch {
 public:
  explicit Scratch(std::size_t n) : size_(n) {
    data_ = small_.data();
    if (n <= small) return;
    if (!pool().empty()) {
      large_ = std::move(pool().back());
      pool().pop_back();
    }
    if (large_.size() < n) large_.resize(n);
    data_ = large_.data();
  }
  ~Scratch() {
    if (!large_.empty()) pool().push_back(std::move(large_));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T* data() { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static std::vector<std::vector<T>>& pool() {
    thread_local std::vector<std::vector<T>> vectors;
    return vectors;
  }

  static constexpr std::size_t small = 64;
  std::array<T, small> small_;
  std::vector<T> large_;
  std::size_t size_;
  T* data_ = nullptr;
};

}  // namespace covshift
