// Files larger than memory, for `fit`, `predict` and `evaluate`.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/stream.hpp"

namespace covshift::cli {

/// From now on large vectors are kept in a cache on disk.
void start_cache(const MemoryOptions& memory);

/// The files of a fit, whose rows are in a cache on disk.
struct StreamedFiles {
  Preparation preparation;
  PreparedRows train;
  PreparedRows target;  ///< without rows if there is no target file
  MemoryOptions memory;
  std::string folder;
  std::size_t file_passes = 0;   ///< over the training file
  std::size_t cache_passes = 0;  ///< before and after the fit
  std::unique_ptr<Checksums> train_sums, target_sums;

  /// Throws Error if the cache does not hold what was written.
  void verify(int threads);
  [[nodiscard]] nlohmann::ordered_json report() const;
};

/// As read_files, a block at a time; says first how often the files are read. Throws Error if what
/// a fit needs for each row exceeds the memory: with log loss less than with others.
StreamedFiles stream_files(const std::string& train, const std::string& target,
                           PreparationOptions options, bool log_loss, const MemoryOptions& memory,
                           const Common& common);

}  // namespace covshift::cli
