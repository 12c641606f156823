#include "cli/parts.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/output.hpp"
#include "covshift/base/error.hpp"
#include "covshift/data/stream.hpp"
#include "covshift/data/summary.hpp"
#include "covshift/data/table_blocks.hpp"
#include "covshift/engine/agree.hpp"

namespace covshift::cli {
namespace {

/// Files are read in pieces of this size: a process needs room for its encoded rows and one piece.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 23U;

/// The files that a name stands for, in the order of their names.
std::vector<std::string> matching(const std::string& name) {
  if (name == "-") fail_input("several processes cannot share standard input; name a file");
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return {name};
  glob_t found{};
  std::vector<std::string> files;
  if (glob(name.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  if (files.empty()) fail_file("{}: there is no such file, and no file matches it", name);
  return files;
}

/// What all processes' rows say about the columns. Columns that some hold as text become text in
/// `read`, and these processes read again.
Summary learn(const Part& part, ReadOptions& read, const PreparationOptions& options,
              std::size_t& own_rows, const Reducer& reducer) {
  bool first = true;
  while (true) {
    Summary own;
    std::vector<std::string> notes;
    agree(reducer, [&] {
      part.each(read, [&](const Table& table) {
        own.append(summarise(table, options, {own.rows, 0}));
        notes.insert(notes.end(), table.notes.begin(), table.notes.end());
      });
    });
    if (first) warn_together(notes, reducer);
    first = false;
    own_rows = own.rows;
    // Where this part begins is known only now.
    const std::vector<std::string> counts = reducer.gather(std::to_string(own.rows));
    for (std::size_t h = 0; h < reducer.holder(); ++h) own.first += std::stoull(counts[h]);
    Summary all = gather_summaries(own, reducer);
    const std::vector<std::string> mixed = all.mixed();
    if (mixed.empty()) return all;
    read.text_columns.insert(read.text_columns.end(), mixed.begin(), mixed.end());
  }
}

PreparedRows encode(const Part& part, const ReadOptions& read, const Preparation& preparation,
                    bool training, std::size_t expected, const Common& common) {
  PreparedRows all;
  all.own.cols = preparation.encoder().cols();
  agree(*common.reducer, [&] {
    if (!preparation.encoder().from_svmlight()) all.own.values.reserve(expected * all.own.cols);
    part.each(read, [&](const Table& table) {
      PreparedRows rows = training ? preparation.encode_training(table, common.threads)
                                   : preparation.encode(table, common.threads);
      if (training) all.warnings = rows.warnings;
      append_rows(all, std::move(rows));
    });
  });
  all.features = all.own.view();
  if (!training) all.warnings = all.strange.warnings();
  return all;
}

}  // namespace

Part::Part(const std::string& name, const ReadOptions& options, const Reducer& reducer) {
  std::vector<std::string> files;
  agree(reducer, [&] { files = matching(name); });
  const std::size_t processes = reducer.gather({}).size();
  bool one = false;
  agree(reducer, [&] { one = files.size() == 1 && divisible(files[0], options); });
  if (one) {
    for (const CsvRange& range : csv_ranges(files[0], options, reducer, piece_bytes)) {
      if (range.begin < range.end) pieces_.push_back({files[0], range});
    }
    return;
  }
  std::vector<double> before = {0};
  agree(reducer, [&] {
    for (const std::string& file : files) {
      std::error_code unknown;
      const auto size = std::filesystem::file_size(file, unknown);
      before.push_back(before.back() + (unknown ? 1.0 : static_cast<double>(size) + 1));
    }
  });
  for (std::size_t f = 0; f < files.size(); ++f) {
    // The process in whose share of all bytes the middle of the file lies.
    const double middle = (before[f] + before[f + 1]) / 2 / before.back();
    const auto owner = static_cast<std::size_t>(middle * static_cast<double>(processes));
    if (std::min(owner, processes - 1) == reducer.holder()) pieces_.push_back({files[f], {}});
  }
  if (reducer.holder() == 0 && files.size() < processes) {
    warn(
        fmt::format("{}: {} {} for {} processes, and only a plain CSV file can be divided; {} have "
                    "nothing to do",
                    name, files.size(), files.size() == 1 ? "file" : "files", processes,
                    processes - files.size()));
  }
}

void Part::each(const ReadOptions& options, const std::function<void(const Table&)>& use) const {
  for (const Piece& piece : pieces_) {
    if (piece.range) {
      use(read_csv_range(piece.path, options, *piece.range));
      continue;
    }
    TableBlocks blocks(piece.path, options, piece_bytes);
    while (const std::optional<Table> block = blocks.next()) use(*block);
  }
}

PreparedFiles read_parts(const std::string& train, const std::string& target,
                         const std::string& label, bool labelled, PreparationOptions options,
                         const Common& common) {
  const Reducer& reducer = *common.reducer;
  options.label = label;
  ReadOptions read = read_options(options, common);
  const Part part(train, read, reducer);
  if (label.empty()) {
    // Only an svmlight file has a label without a name.
    options.label = from_first(reducer, [&] {
      bool sparse = false;
      part.each(read, [&](const Table& table) { sparse = sparse || table.sparse; });
      return sparse ? std::string(unnamed_label) : "";
    });
  }
  if (labelled && options.label.empty()) {
    throw CLI::ValidationError("--label", "name the column that holds the class");
  }
  std::size_t rows = 0;
  const Summary summary = learn(part, read, options, rows, reducer);
  check_classes(summary, options);
  Preparation preparation(summary, options);
  PreparedRows train_rows =
      encode(part, preparation.read_options(read), preparation, true, rows, common);
  PreparedRows target_rows;
  if (!target.empty()) {
    const ReadOptions other = preparation.read_options(read);
    target_rows = encode(Part(target, other, reducer), other, preparation, false, 0, common);
  }
  preparation.fit(train_rows, target.empty() ? nullptr : &target_rows, common.threads, reducer);
  for (PreparedRows* some : {&train_rows, &target_rows}) {
    warn_together(some->warnings, reducer);
    some->warnings.clear();
  }
  return {
      std::move(preparation), std::move(train_rows), std::move(target_rows), std::move(read), {}};
}

void warn_together(const std::vector<std::string>& own, const Reducer& reducer) {
  std::string text;
  for (const std::string& warning : own) text += warning + '\0';
  std::set<std::string> said;
  for (const std::string& piece : reducer.gather(std::move(text))) {
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t end = piece.find('\0', at);
      const std::string warning = piece.substr(at, end - at);
      if (said.insert(warning).second) warn(warning);
      at = end + 1;
    }
  }
}

void in_turn(std::string_view own, std::size_t start, const Reducer& reducer,
             const std::function<void(std::string_view)>& use) {
  constexpr std::size_t most = std::size_t{1} << 24U;
  const std::vector<std::string> sizes = reducer.gather(std::to_string(own.size()));
  bool any = false;
  for (std::size_t h = 0; h < sizes.size(); ++h) {
    const std::size_t size = std::stoull(sizes[h]);
    for (std::size_t at = any && size > 0 ? start : 0; at < size; at += most) {
      const bool mine = reducer.holder() == h;
      const std::string piece =
          reducer.gather(mine ? std::string(own.substr(at, most)) : std::string())[h];
      if (reducer.holder() == 0) use(piece);
    }
    any = any || size > 0;
  }
}

}  // namespace covshift::cli
