#include "covshift/data/records.hpp"

#include <algorithm>
#include <utility>

#include "covshift/base/error.hpp"

namespace covshift {

namespace {

// An unclosed quote makes the rest of the file one record: report it before reading all of it into
// memory.
constexpr std::size_t longest_record = std::size_t{64} << 20U;

/// True if the quote at `at` opens a field, false if it is part of an unquoted one.
bool opens_field(std::string_view text, std::size_t at, const RecordSyntax& syntax) {
  std::size_t k = at;
  while (k > 0 && is_blank(text[k - 1], syntax)) --k;
  if (k == 0 || text[k - 1] == '\n') return true;
  return syntax.delimiter == ' ' ? k < at : text[k - 1] == syntax.delimiter;
}

/// One past the quote that closes the field opened at `at`; npos if it is not in `text`.
std::size_t past_closing_quote(std::string_view text, std::size_t at) {
  std::size_t k = text.find('"', at + 1);
  while (k != std::string_view::npos) {
    // At the end of a window the next byte, which may double the quote, is unknown.
    if (k + 1 == text.size()) return std::string_view::npos;
    if (text[k + 1] != '"') return k + 1;
    k = text.find('"', k + 2);
  }
  return k;
}

/// Visits the stretches of `text` outside quoted fields, in which every line end ends a record.
template <typename Visit>
void visit_unquoted(std::string_view text, const RecordSyntax& syntax, const Visit& visit) {
  std::size_t begin = 0;
  std::size_t search = 0;
  while (true) {
    const std::size_t quote = syntax.quotes ? text.find('"', search) : std::string_view::npos;
    if (quote == std::string_view::npos) {
      visit(begin, text.size());
      return;
    }
    search = quote + 1;
    if (!opens_field(text, quote, syntax)) continue;
    visit(begin, quote);
    const std::size_t past = past_closing_quote(text, quote);
    if (past == std::string_view::npos) return;
    begin = search = past;
  }
}

}  // namespace

std::size_t last_record_end(std::string_view text, const RecordSyntax& syntax) {
  std::size_t result = 0;
  visit_unquoted(text, syntax, [&](std::size_t begin, std::size_t end) {
    const std::size_t newline = text.substr(begin, end - begin).rfind('\n');
    if (newline != std::string_view::npos) result = begin + newline + 1;
  });
  return result;
}

std::size_t first_record_end(std::string_view text, const RecordSyntax& syntax) {
  // Looks no further than the record: callers go from record to record.
  std::size_t at = 0;
  while (true) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t quote = syntax.quotes ? text.substr(0, newline).find('"', at) : text.npos;
    if (quote == text.npos) return newline == text.npos ? 0 : newline + 1;
    at = quote + 1;
    if (!opens_field(text, quote, syntax)) continue;
    at = past_closing_quote(text, quote);
    if (at == text.npos) return 0;
  }
}

void each_line(ByteSource& source, std::size_t chunk_bytes,
               const std::function<void(std::string_view)>& f) {
  RecordChunker chunker(source, {}, RecordSyntax{',', false}, chunk_bytes);
  std::string chunk;
  for (bool first = true; chunker.next(chunk); first = false) {
    std::string_view rest = chunk;
    if (first && rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
    while (!rest.empty()) {
      const std::size_t length = rest.find('\n');
      f(rest.substr(0, length));
      rest.remove_prefix(length + 1);
    }
  }
}

RecordChunker::RecordChunker(ByteSource& source, std::string head, RecordSyntax syntax,
                             std::size_t chunk_bytes)
    : source_(&source),
      carry_(std::move(head)),
      syntax_(syntax),
      chunk_bytes_(std::max<std::size_t>(chunk_bytes, 1)) {}

bool RecordChunker::next(std::string& chunk) {
  chunk = std::move(carry_);
  carry_.clear();
  std::size_t wanted = chunk_bytes_;
  while (true) {
    if (chunk.size() < wanted && !ended_) {
      const std::size_t missing = wanted - chunk.size();
      ended_ = source_->read(chunk, missing) < missing;
    }
    const std::string_view window = std::string_view(chunk).substr(0, wanted);
    if (ended_ && window.size() == chunk.size()) {
      if (!chunk.empty() && chunk.back() != '\n') chunk += '\n';
      return !chunk.empty();
    }
    const std::size_t cut = last_record_end(window, syntax_);
    if (cut > 0) {
      carry_.assign(chunk, cut);
      chunk.resize(cut);
      return true;
    }
    if (wanted > longest_record) {
      fail_input("{}: a row is longer than {} MiB; probably a quote (\") is not closed",
                 source_->path(), longest_record >> 20U);
    }
    wanted *= 2;
  }
}

}  // namespace covshift
