// Files whose rows several processes share (mpirun), for `fit`, `predict`, `evaluate`, `diagnose`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/training.hpp"
#include "covshift/data/csv_range.hpp"

namespace covshift::cli {

/// This process's part of a file, or of the files that a pattern names ('train-*.csv.gz'). Of one
/// plain CSV file each process has a range of bytes; other files are dealt whole, in their order,
/// as evenly as their sizes let. Rows keep their order: those of the first process are the first.
class Part {
 public:
  /// A meeting of all processes.
  Part(const std::string& name, const ReadOptions& options, const Reducer& reducer);

  /// Calls use(table) for the rows, some at a time. May be called again, with other options.
  void each(const ReadOptions& options, const std::function<void(const Table&)>& use) const;

 private:
  struct Piece {
    std::string path;
    std::optional<CsvRange> range;  ///< none: the whole file
  };
  std::vector<Piece> pieces_;
};

/// read_files(), where every process gets its part of the rows. A meeting of all processes.
PreparedFiles read_parts(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common);

/// Warnings of all processes, at the first one, each once.
void warn_together(const std::vector<std::string>& own, const Reducer& reducer);

/// Calls use(text) at the first process for the text of every process, in their order, in pieces of
/// bounded size; `start`: bytes of its text that a process leaves out if an earlier one has any.
void in_turn(std::string_view own, std::size_t start, const Reducer& reducer,
             const std::function<void(std::string_view)>& use);

}  // namespace covshift::cli
