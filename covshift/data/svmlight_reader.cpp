// svmlight: lines of `label index:value ... # comment`. The label is optional, `qid:number` is
// ignored, indices may be in any order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {

namespace {

class SvmlightReader : LineReader {
 public:
  SvmlightReader(ByteSource& source, const ReadOptions& options) : LineReader(source, options) {
    matrix_.sparse = true;
    matrix_.offsets.push_back(0);
    label_.name = unnamed_label;
    label_.categorical = true;
  }

  Table read() {
    read_lines([&](std::string_view line) { parse_line(trim(line.substr(0, line.find('#')))); });
    if (label_.codes.empty()) {
      fail_input("{}: the file is empty; it needs at least one row of data", table_.source);
    }
    return finish();
  }

 private:
  struct Entry {
    std::int32_t index;
    double value;
    std::size_t field;
  };

  void parse_line(std::string_view line) {
    if (line.empty()) return;
    table_.lines.note(label_.codes.size(), line_);
    entries_.clear();
    std::size_t field = 0;
    bool sorted = true;
    std::int32_t code = -1;
    while (!line.empty()) {
      const std::size_t length = std::min(line.find_first_of(" \t"), line.size());
      const std::string_view token = line.substr(0, length);
      line.remove_prefix(length);
      line = trim(line);
      ++field;
      if (field == 1 && token.find(':') == std::string_view::npos) {
        if (!is_missing(token)) code = labels_.code(token);
        continue;
      }
      if (token.starts_with("qid:")) continue;
      entries_.push_back(parse_entry(token, field));
      sorted = sorted &&
               (entries_.size() < 2 || entries_[entries_.size() - 2].index < entries_.back().index);
    }
    if (!sorted) sort_entries();
    for (const Entry& entry : entries_) {
      matrix_.columns.push_back(entry.index);
      matrix_.values.push_back(entry.value);
    }
    matrix_.offsets.push_back(static_cast<std::int64_t>(matrix_.values.size()));
    label_.codes.push_back(code);
  }

  Entry parse_entry(std::string_view token, std::size_t field) {
    const std::size_t colon = token.find(':');
    if (colon == std::string_view::npos) {
      fail(field, "{} is not index:value; write features as 3:0.25", quoted_excerpt(token));
    }
    Entry entry{0, 0.0, field};
    const auto index = parse_count(token.substr(0, colon));
    // Strictly less than the maximum, because the number of features must fit too.
    if (!index || *index >= std::numeric_limits<std::int32_t>::max()) {
      fail(field, "the index in {} is not a whole number from 0 to 2147483646",
           quoted_excerpt(token));
    }
    entry.index = static_cast<std::int32_t>(*index);
    if (entry.index == 0 && options_.index_base == 1) {
      fail(field, "{} has index 0, but the features of this file are numbered from 1",
           quoted_excerpt(token));
    }
    const auto value = parse_number(token.substr(colon + 1));
    if (!value) {
      fail(field, "the value in {} is not a number; write features as 3:0.25",
           quoted_excerpt(token));
    }
    if (!std::isfinite(*value)) {
      fail(field, "the value in {} is not finite; leave the entry out or correct it",
           quoted_excerpt(token));
    }
    entry.value = *value;
    zero_seen_ = zero_seen_ || entry.index == 0;
    largest_ = std::max(largest_, entry.index);
    return entry;
  }

  void sort_entries() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.index < b.index; });
    const auto twice =
        std::adjacent_find(entries_.begin(), entries_.end(),
                           [](const Entry& a, const Entry& b) { return a.index == b.index; });
    if (twice == entries_.end()) return;
    fail(std::next(twice)->field, "the index {} occurs twice in this row; keep one", twice->index);
  }

  Table finish() {
    table_.index_base = options_.index_base.value_or(zero_seen_ ? 0 : 1);
    if (table_.index_base == 1) {
      for (std::int32_t& column : matrix_.columns) --column;
    }
    table_.rows = matrix_.rows = label_.codes.size();
    matrix_.cols = static_cast<std::size_t>(largest_ + 1 - table_.index_base);
    label_.levels = labels_.take_levels();
    table_.columns.push_back(std::move(label_));
    table_.sparse = std::move(matrix_);
    return std::move(table_);
  }

  Matrix matrix_;
  Column label_;
  Dictionary labels_;
  std::vector<Entry> entries_;  ///< of the current line
  std::int32_t largest_ = 0;
  bool zero_seen_ = false;
};

}  // namespace

Table read_svmlight(ByteSource& source, const ReadOptions& options) {
  return SvmlightReader(source, options).read();
}

}  // namespace covshift
