#include "cli/streaming.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/training.hpp"
#include "covshift/base/error.hpp"
#include "covshift/base/large_vector.hpp"
#include "covshift/base/scratch_file.hpp"
#include "covshift/shift/shift.hpp"

namespace covshift::cli {
namespace {

/// What reading takes at a time: text, its numbers, these by columns, and encoded.
constexpr std::size_t copies_of_a_block = 4;
/// Scaling reads the rows three times and writes them once; they are checked; sums are made and
/// compared.
constexpr std::size_t passes_before = 6;
constexpr std::size_t passes_after = 1;

/// What a fit keeps in memory for each training row, whatever its columns: labels, weights, ratios,
/// potentials and answers of the solver, or of the density ratios that are fitted at once
/// (docs/large-data.md has the measurement).
std::size_t bytes_per_row(std::size_t classes, std::size_t views, bool log_loss) {
  const std::size_t own = log_loss ? 48 + 32 * classes : 64 + 128 * classes;
  if (views == 1) return own;
  constexpr std::size_t of_a_ratio = 65;
  return std::max(own + 16 * views, of_a_ratio * std::min(ratios_at_once, views + 1));
}
constexpr std::size_t bytes_per_target_row = 32;

void check_rows(std::size_t rows, std::size_t target_rows, std::size_t each,
                const MemoryOptions& memory) {
  const std::size_t needed =
      rows * each + target_rows * bytes_per_target_row + copies_of_a_block * memory.block();
  if (needed <= memory.bytes) return;
  fail_input(
      "a fit to {} rows keeps about {} bytes of each in memory, {} in all, more than --memory {}; "
      "allow at least {}M, or fit to fewer rows",
      rows, each, size_text(static_cast<double>(needed)),
      size_text(static_cast<double>(memory.bytes)), (needed >> 20U) + 1);
}

/// Categories make rows wider: fewer of them at a time.
std::size_t encoding_block(const Encoder& encoder, const MemoryOptions& memory) {
  return memory.block() * encoder.source_count() / encoder.cols() + 1;
}

/// Rows that do not fit in memory are read from the disk in every pass, so half the bytes take half
/// the time and often fit (docs/large-data.md: passes 2 to 7 times as fast). Unscaled numbers stay
/// as they are: a float has too few digits for seconds since 1970.
bool halve(PreparedRows& train, PreparedRows& target, ScaleKind scale,
           const MemoryOptions& memory) {
  const std::size_t numbers = train.own.values.size() + target.own.values.size();
  const bool halved =
      scale != ScaleKind::none && !train.own.sparse && sizeof(double) * numbers > memory.bytes;
  train.single_precision = target.single_precision = halved;
  return halved;
}

/// The label of an svmlight file, which has no name, needs none.
void find_label(TableBlocks& blocks, const ReadOptions& read, PreparationOptions& options) {
  if (!options.label.empty()) return;
  const std::optional<Table> first = blocks.next();
  if (first && first->sparse) options.label = unnamed_label;
  if (options.label.empty()) {
    throw CLI::ValidationError("--label", "name the column that holds the class");
  }
  blocks.restart(read);
}

}  // namespace

void start_cache(const MemoryOptions& memory) {
  keep_large_vectors_in(memory.folder.empty() ? ScratchFile::default_folder() : memory.folder);
}

void StreamedFiles::verify(int threads) {
  train_sums->verify(train, threads);
  if (target_sums) target_sums->verify(target, threads);
  cache_passes += passes_after;
}

nlohmann::ordered_json StreamedFiles::report() const {
  return {{"limit", memory.bytes},
          {"cache", folder},
          {"cache_bytes", 8 * (train.own.values.size() + target.own.values.size()) +
                              4 * (train.floats.size() + target.floats.size())},
          {"single_precision", !train.floats.empty()},
          {"rows", train.features.rows},
          {"target_rows", target.features.rows},
          {"file_passes", file_passes},
          {"cache_passes", cache_passes}};
}

StreamedFiles stream_files(const std::string& train, const std::string& target,
                           PreparationOptions options, bool log_loss, const MemoryOptions& memory,
                           const Common& common) {
  start_cache(memory);
  const auto say = [&](const std::string& text) {
    if (!common.quiet) message(text);
  };
  say(fmt::format(
      "{}: read twice, {} at a time (once more if a column of numbers turns out to hold text){}",
      printable(train), size_text(static_cast<double>(memory.block())),
      target.empty() ? "" : fmt::format("; {}: read once", printable(target))));
  ReadOptions read = read_options(options, common);
  TableBlocks blocks(train, read, memory.block());
  find_label(blocks, read, options);
  const Learned learned = learn_columns(blocks, read, options);
  for (const std::string& note : learned.notes) warn(note);
  check_classes(learned.summary, options);
  Preparation preparation(learned.summary, options);
  const std::size_t rows = learned.summary.rows;
  const std::size_t each =
      bytes_per_row(preparation.classes().size(), preparation.views().names.size(), log_loss);
  check_rows(rows, 0, each, memory);
  const std::string folder = memory.folder.empty() ? ScratchFile::default_folder() : memory.folder;
  say(fmt::format(
      "{} rows of {} numbers: {} in {}; {} passes over them prepare the fit, the fit itself takes "
      "some dozens, and one compares their checksums",
      rows, preparation.encoder().cols(),
      size_text(8.0 * static_cast<double>(rows) *
                static_cast<double>(preparation.encoder().cols())),
      printable(folder), passes_before));
  const std::size_t block = encoding_block(preparation.encoder(), memory);
  blocks.resize(block);
  blocks.restart(preparation.read_options(read));
  PreparedRows train_rows = encode_blocks(blocks, preparation, true, rows, common.threads);
  print_warnings(train_rows);
  train_rows.warnings.clear();
  PreparedRows target_rows;
  if (!target.empty()) {
    TableBlocks other(target, preparation.read_options(read), block);
    target_rows = encode_blocks(other, preparation, false, 0, common.threads);
    check_rows(rows, target_rows.features.rows, each, memory);
  }
  if (halve(train_rows, target_rows, options.scale, memory)) {
    say("the rows take more than --memory: once scaled they are kept in single precision");
  }
  preparation.fit(train_rows, target.empty() ? nullptr : &target_rows, common.threads);
  print_warnings(train_rows);
  print_warnings(target_rows);
  auto train_sums = std::make_unique<Checksums>(train_rows, common.threads);
  auto target_sums =
      target.empty() ? nullptr : std::make_unique<Checksums>(target_rows, common.threads);
  return {std::move(preparation),
          std::move(train_rows),
          std::move(target_rows),
          memory,
          folder,
          learned.passes + 1,
          passes_before,
          std::move(train_sums),
          std::move(target_sums)};
}

}  // namespace covshift::cli
