#include "covshift/engine/partial.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

std::string_view word(Partial::Kind kind) {
  switch (kind) {
    case Partial::Kind::sum:
      return "sums";
    case Partial::Kind::max:
      return "takes the maximum of";
    case Partial::Kind::gather:
      return "gathers";
    case Partial::Kind::done:
      break;
  }
  return "has finished with";
}

Partial combine(Partial left, Partial&& right) {
  if (left.kind != right.kind || left.numbers.size() != right.numbers.size()) {
    fail_input(
        "the parts of the data are out of step: one {} {} numbers, its neighbour {} {}; all parts "
        "must be fitted by the same version with the same options",
        word(left.kind), left.numbers.size(), word(right.kind), right.numbers.size());
  }
  for (std::size_t j = 0; j < left.numbers.size(); ++j) {
    double& x = left.numbers[j];
    x = left.kind == Partial::Kind::sum ? x + right.numbers[j] : std::max(x, right.numbers[j]);
  }
  std::move(right.pieces.begin(), right.pieces.end(), std::back_inserter(left.pieces));
  return left;
}

/// Nodes of a level of the tree.
std::size_t width(std::size_t holders, std::size_t level) {
  for (; level > 0; --level) holders = (holders + 1) / 2;
  return holders;
}

void write(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);  // NOLINT(*-reinterpret-cast)
}

/// Reads what write() wrote; throws Error at a damaged end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number() {
    std::uint64_t x = 0;
    std::memcpy(&x, take(sizeof x).data(), sizeof x);
    return x;
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) fail_input("a partial result is damaged: it ends too early");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Partial read_partial(Reader& from) {
  Partial partial;
  const std::uint64_t kind = from.number();
  if (kind > static_cast<std::uint64_t>(Partial::Kind::done)) {
    fail_input("a partial result is damaged: there is no kind {}", kind);
  }
  partial.kind = static_cast<Partial::Kind>(kind);
  const std::string_view numbers = from.take(from.number());
  partial.numbers.resize(numbers.size() / sizeof(double));
  if (!partial.numbers.empty()) {
    std::memcpy(partial.numbers.data(), numbers.data(), partial.numbers.size() * sizeof(double));
  }
  const std::uint64_t pieces = from.number();
  for (std::uint64_t i = 0; i < pieces; ++i) partial.pieces.emplace_back(from.take(from.number()));
  return partial;
}

}  // namespace

void Partials::put(Node node, Partial partial) {
  for (;;) {
    const auto [level, place] = node;
    if (nodes_.contains(node)) {
      fail_input("two contributions of part {} to one step", place << level);
    }
    const std::size_t here = width(holders_, level);
    if (here <= 1) break;
    const std::size_t other = place ^ 1U;
    if (other < here) {
      const auto sibling = nodes_.find({level, other});
      if (sibling == nodes_.end()) break;
      Partial neighbour = std::move(sibling->second);
      nodes_.erase(sibling);
      partial = place < other ? combine(std::move(partial), std::move(neighbour))
                              : combine(std::move(neighbour), std::move(partial));
    }
    node = {level + 1, place / 2};
  }
  nodes_.emplace(node, std::move(partial));
}

void Partials::add(std::size_t holder, Partial partial) {
  if (holder >= holders_) fail_input("there is no part {} of {}", holder, holders_);
  put({0, holder}, std::move(partial));
}

void Partials::add(Partials others) {
  if (others.holders_ != holders_) {
    fail_input("contributions of {} and of {} parts", holders_, others.holders_);
  }
  for (auto& [node, partial] : others.nodes_) put(node, std::move(partial));
}

bool Partials::whole() const {
  return nodes_.size() == 1 && width(holders_, nodes_.begin()->first.first) == 1;
}

const Partial& Partials::combined() const {
  if (!whole()) fail_input("some of the {} parts have not contributed to this step", holders_);
  return nodes_.begin()->second;
}

std::string Partials::to_bytes() const {
  std::string out;
  write(out, holders_);
  for (const auto& [node, partial] : nodes_) {
    write(out, node.first);
    write(out, node.second);
    write(out, static_cast<std::uint64_t>(partial.kind));
    const std::size_t bytes = partial.numbers.size() * sizeof(double);
    write(out, bytes);
    if (bytes > 0) {
      out.append(reinterpret_cast<const char*>(partial.numbers.data()),  // NOLINT(*-reinterpret-*)
                 bytes);
    }
    write(out, partial.pieces.size());
    for (const std::string& piece : partial.pieces) {
      write(out, piece.size());
      out += piece;
    }
  }
  return out;
}

Partials Partials::from_bytes(std::string_view bytes) {
  Reader from(bytes);
  Partials partials(from.number());
  while (!from.at_end()) {
    const std::size_t level = from.number();
    const std::size_t place = from.number();
    if (level > 64 || place >= width(partials.holders_, level)) {
      fail_input("a partial result is damaged: it has no place among {} parts", partials.holders_);
    }
    partials.put({level, place}, read_partial(from));
  }
  return partials;
}

}  // namespace covshift
