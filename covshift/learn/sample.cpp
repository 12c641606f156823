#include "covshift/learn/sample.hpp"

#include <algorithm>

#include "covshift/base/random.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {

Sample::Sample(const Problem& from, std::size_t rows, std::uint64_t seed, int threads)
    : problem_(from) {
  const std::size_t all = from.features.rows;
  std::vector<std::size_t> chosen(rows);
  Random random(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t begin = all * i / rows;
    chosen[i] = begin + random.below(all * (i + 1) / rows - begin);
  }
  features_.rows = rows;
  features_.cols = from.features.cols;
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.offsets; }) {
          features_.sparse = true;
          features_.offsets.push_back(0);
          for (const std::size_t i : chosen) {
            const std::int64_t begin = x.offsets[i];
            const std::int64_t end = x.offsets[i + 1];
            features_.columns.insert(features_.columns.end(), x.columns + begin, x.columns + end);
            features_.values.insert(features_.values.end(), x.values + begin, x.values + end);
            features_.offsets.push_back(static_cast<std::int64_t>(features_.columns.size()));
          }
        } else {
          features_.values.resize(rows * features_.cols);
          constexpr std::size_t tasks = 16;  // each row is somewhere else in memory
          parallel_tasks(threads, tasks, [&](std::size_t task) {
            for (std::size_t k = rows * task / tasks; k < rows * (task + 1) / tasks; ++k) {
              std::copy_n(x.data + chosen[k] * x.stride, features_.cols,
                          features_.values.data() + k * features_.cols);
            }
          });
        }
      },
      from.features.storage);
  labels_.reserve(rows);
  for (const std::size_t i : chosen) {
    labels_.push_back(from.labels[i]);
    if (!from.sample_weight.empty()) sample_weight_.push_back(from.sample_weight[i]);
    if (!from.log_weight.empty()) log_weight_.push_back(from.log_weight[i]);
    for (int v = 0; v < from.scales && !from.log_scale.empty(); ++v) {
      log_scale_.push_back(from.log_scale[i * from.scales + v]);
    }
  }
  problem_.features = features_.view();
  problem_.labels = labels_;
  problem_.sample_weight = sample_weight_;
  problem_.log_weight = log_weight_;
  problem_.log_scale = log_scale_;
}

}  // namespace covshift
