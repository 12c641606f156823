// Functions that take any bytes and must give an answer or an Error: what libFuzzer drives
// (fuzzer.cpp, clang) and `make check` replays over the kept inputs (replay.cpp). Each checks what
// holds of every answer, and aborts if it does not.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "covshift/base/error.hpp"

namespace covshift::fuzz {

void csv(std::string_view bytes);
void svmlight(std::string_view bytes);
void arff(std::string_view bytes);
void npy(std::string_view bytes);
void gz(std::string_view bytes);
void views(std::string_view bytes);
void costs(std::string_view bytes);
/// A model file as it is: most changes end at the checksum.
void model(std::string_view bytes);
/// The body of a model file, sealed with the right checksum; loaded and stored again.
void resealed(std::string_view bytes);
/// The same, and predictions for some rows.
void predict(std::string_view bytes);
void ratio(std::string_view bytes);
void solve(std::string_view bytes);

/// JSON with a value changed, removed, copied or moved; empty if `bytes` are not JSON.
std::string mutate_json(std::string_view bytes, std::mt19937& random);

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
  bool json = false;  ///< inputs are changed by mutate_json
};
inline constexpr Target targets[] = {
    {"csv", csv},
    {"svmlight", svmlight},
    {"arff", arff},
    {"npy", npy},
    {"gz", gz},
    {"views", views},
    {"costs", costs},
    {"model", model},
    {"ratio", ratio},
    {"solve", solve},
    {"resealed", resealed, true},
    {"predict", predict, true},
};
inline const Target* find(std::string_view name) {
  for (const Target& target : targets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

template <typename... Args>
void ensure(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (holds) return;
  fmt::print(stderr, "fuzz: {}\n", fmt::format(text, std::forward<Args>(args)...));
  std::abort();
}

/// Runs f; what it refused with, or "".
template <typename F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string message = error.what();
    ensure(!message.empty(), "an Error without a message");
    return message;
  }
  return {};
}

/// The name of a file in memory; with these bytes in it until the next call.
const std::string& file_path();
const std::string& file_of(std::string_view bytes);

/// Some of the checks are for a share of inputs, chosen by content.
inline std::uint32_t hash(std::string_view bytes) {
  std::uint32_t h = 2166136261U;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 16777619U;
  return h ^ (h >> 15U);
}

/// Numbers from bytes; 0 where they have ended.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : rest_(bytes) {}
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  int from(int low, int high) { return low + static_cast<int>(byte()) % (high - low + 1); }
  /// Mostly of ordinary size, sometimes not.
  double number();

 private:
  std::string_view rest_;
};

}  // namespace covshift::fuzz
