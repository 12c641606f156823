// Does any of many values occur twice?
#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "covshift/data/summary.hpp"

namespace covshift {

void RepeatSample::add(double value, std::size_t count) {
  // The finalizer of splitmix64: every bit of the input changes every bit of the output.
  std::uint64_t z = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  z ^= z >> 31U;
  if (static_cast<unsigned>(std::countl_zero(z)) < level_) return;
  counts_[value] += count;
  constexpr std::size_t most = 4096;
  while (counts_.size() > most) thin(level_ + 1);
}

void RepeatSample::thin(unsigned level) {
  level_ = level;
  const auto all = std::exchange(counts_, {});
  for (const auto& [value, count] : all) add(value, count);
}

void RepeatSample::add(const RepeatSample& other) {
  if (other.level_ > level_) thin(other.level_);
  for (const auto& [value, count] : other.counts_) add(value, count);
}

bool RepeatSample::repeats() const {
  return std::any_of(counts_.begin(), counts_.end(),
                     [](const auto& own) { return own.second > 1; });
}

nlohmann::json RepeatSample::to_json() const {
  std::vector<std::pair<double, std::size_t>> all(counts_.begin(), counts_.end());
  return {{"level", level_}, {"counts", all}};
}

RepeatSample RepeatSample::from_json(const nlohmann::json& from) {
  RepeatSample sample;
  sample.level_ = from.at("level").get<unsigned>();
  for (const nlohmann::json& own : from.at("counts")) {
    sample.counts_.emplace(own.at(0).get<double>(), own.at(1).get<std::size_t>());
  }
  return sample;
}

}  // namespace covshift
