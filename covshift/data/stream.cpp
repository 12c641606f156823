#include "covshift/data/stream.hpp"

#include <algorithm>
#include <bit>

#include "covshift/base/error.hpp"
#include "covshift/base/lists.hpp"
#include "covshift/base/number.hpp"
#include "covshift/base/threads.hpp"

namespace covshift {
namespace {

template <typename Bits, typename Numbers>
std::vector<std::uint64_t> sums_of(const Numbers& x, int threads) {
  constexpr std::size_t block = std::size_t{1} << 21U;
  std::vector<std::uint64_t> sums((x.size() + block - 1) / block);
  parallel_tasks(threads, sums.size(), [&](std::size_t k) {
    std::uint64_t sum = k;
    for (std::size_t i = k * block; i < std::min(x.size(), (k + 1) * block); ++i) {
      sum = (std::rotl(sum, 5) ^ std::bit_cast<Bits>(x[i])) * 0x9e3779b97f4a7c15;
    }
    sums[k] = sum;
  });
  return sums;
}

std::vector<std::uint64_t> sums_of(const PreparedRows& rows, int threads) {
  return rows.floats.empty() ? sums_of<std::uint64_t>(rows.own.values, threads)
                             : sums_of<std::uint32_t>(rows.floats, threads);
}

}  // namespace

std::size_t MemoryOptions::block() const {
  return std::clamp(bytes / 16, std::size_t{1} << 16U, std::size_t{1} << 25U);
}

std::size_t MemoryOptions::parse(const std::string& text) {
  constexpr std::string_view units = "KMGT";
  constexpr std::size_t least = std::size_t{1} << 20U;
  const std::size_t unit = text.empty() ? units.npos : units.find(text.back());
  const auto count = unit == units.npos
                         ? std::nullopt
                         : parse_count(std::string_view(text).substr(0, text.size() - 1));
  const std::size_t shift = 10 * (unit + 1);
  if (!count || *count > (SIZE_MAX >> shift >> 1U)) {
    fail_input("must be a size such as 512M or 2G, not '{}'", text);
  }
  if (*count << shift < least) fail_input("must be at least 1M, not '{}'", text);
  return *count << shift;
}

std::string size_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6)
                     : fmt::format("{:.1f} GB", bytes / 1e9);
}

void append_rows(PreparedRows& all, PreparedRows block) {
  if (block.own.sparse && all.own.rows == 0) {
    all = std::move(block);
    return;
  }
  Matrix& to = all.own;
  const Matrix& from = block.own;
  const auto entries = static_cast<std::int64_t>(to.values.size());
  for (std::size_t i = 1; i < from.offsets.size(); ++i) {
    to.offsets.push_back(entries + from.offsets[i]);
  }
  to.rows += block.features.rows;
  to.values.insert(to.values.end(), from.values.begin(), from.values.end());
  add_to(to.columns, from.columns);
  add_to(all.labels, block.labels);
  add_to(all.weight, block.weight);
  add_to(all.log_ratio, block.log_ratio);
  add_to(all.log_generalization, block.log_generalization);
  all.views.resize(block.views.size());
  for (std::size_t v = 0; v < block.views.size(); ++v) {
    add_to(all.views[v].log_ratio, block.views[v].log_ratio);
    add_to(all.views[v].log_generalization, block.views[v].log_generalization);
  }
  all.strange.append(block.strange);
  all.features = to.view();
}

Learned learn_columns(TableBlocks& blocks, ReadOptions& read, const PreparationOptions& options) {
  Learned learned;
  while (true) {
    ++learned.passes;
    learned.summary = {};
    while (const std::optional<Table> block = blocks.next()) {
      throw_if_stopped();
      learned.summary.append(summarise(*block, options, {learned.summary.rows, 0}));
      if (learned.passes == 1) add_to(learned.notes, block->notes);
    }
    const std::vector<std::string> mixed = learned.summary.mixed();
    if (mixed.empty()) return learned;
    add_to(read.text_columns, mixed);
    blocks.restart(read);
  }
}

PreparedRows encode_blocks(TableBlocks& blocks, const Preparation& preparation, bool training,
                           std::size_t expected, int threads) {
  PreparedRows all;
  all.own.cols = preparation.encoder().cols();
  all.own.values.reserve(expected * all.own.cols);
  while (const std::optional<Table> block = blocks.next()) {
    throw_if_stopped();
    PreparedRows rows = training ? preparation.encode_training(*block, threads)
                                 : preparation.encode(*block, threads);
    if (training) all.warnings = rows.warnings;
    append_rows(all, std::move(rows));
  }
  all.features = all.own.view();
  if (!training) all.warnings = all.strange.warnings();
  return all;
}

Checksums::Checksums(const PreparedRows& rows, int threads) : sums_(sums_of(rows, threads)) {}

void Checksums::verify(const PreparedRows& rows, int threads) const {
  if (sums_of(rows, threads) == sums_) return;
  fail_file(
      "the rows on disk are not those that were written: the disk or the memory is faulty; try "
      "another folder (--cache-dir)");
}

}  // namespace covshift
