// What holders of examples contribute to a reduction, on its way from them to all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covshift {

/// The contribution of one holder, or of several, combined.
struct Partial {
  enum class Kind : std::uint8_t {
    sum,
    max,
    gather,
    done,  ///< the holders have finished; the pieces are their results
  };
  Kind kind = Kind::done;
  std::vector<double> numbers;      ///< of sum and max
  std::vector<std::string> pieces;  ///< of gather and done, in the holders' order

  friend bool operator==(const Partial&, const Partial&) = default;
};

/// Contributions of some of `holders` holders. Neighbours are combined in the order of one fixed
/// binary tree over the holders as soon as both are there, so that where and when they meet does
/// not change the result by a bit.
class Partials {
 public:
  explicit Partials(std::size_t holders) : holders_(holders) {}
  /// Throws Error if this holder's contribution is here already, or if it is of another kind or
  /// size than its neighbour's.
  void add(std::size_t holder, Partial partial);
  void add(Partials others);

  /// True if all holders have contributed.
  [[nodiscard]] bool whole() const;
  /// The combination of all holders' contributions; throws Error if some are missing.
  [[nodiscard]] const Partial& combined() const;

  /// For another process of the same version on a machine with the same order of bytes.
  [[nodiscard]] std::string to_bytes() const;
  static Partials from_bytes(std::string_view bytes);

 private:
  /// A node of the tree: its level (leaves: 0) and its place there.
  using Node = std::pair<std::size_t, std::size_t>;
  void put(Node node, Partial partial);

  std::size_t holders_;
  std::map<Node, Partial> nodes_;
};

}  // namespace covshift
