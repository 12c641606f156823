// What training rows say about their columns, in a form that several parts can put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "covshift/base/reduce.hpp"
#include "covshift/data/encoder.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

/// A value and where it stands, for a message.
struct Spot {
  std::string where, text;
};

/// Tells whether any value occurs twice, in bounded memory for any number of rows: it keeps the
/// values with the smallest hashes, and their counts. Which ones depends on the values alone, not
/// on their order.
class RepeatSample {
 public:
  void add(double value, std::size_t count = 1);
  void add(const RepeatSample& other);
  /// Exact up to 4,096 different values; beyond that, whether one of 4,096 values drawn at random
  /// occurs twice.
  [[nodiscard]] bool repeats() const;
  [[nodiscard]] nlohmann::json to_json() const;
  static RepeatSample from_json(const nlohmann::json& json);

 private:
  void thin(unsigned level);
  unsigned level_ = 0;  ///< values are kept if their hash starts with this many zero bits
  std::unordered_map<double, std::size_t> counts_;
};

struct ColumnSummary {
  enum class Role {
    none,      ///< left out
    feature,   ///< what it holds says the table: numbers, or else categories
    category,  ///< a feature that was said to be one of categories
    styled,    ///< a feature that was said to be numeric: text such as 1,234.5 is a number
    date,
    label,
  };
  struct Level {
    std::string text;
    std::size_t count = 0;
  };

  std::string name;
  Role role = Role::none;
  bool text = false;   ///< read as text
  bool mixed = false;  ///< as text in some parts, as numbers in others
  std::size_t missing = 0;
  bool same = true;        ///< the same value in every row
  bool counts_up = true;   ///< every number is one more than that before it
  bool whole = true;       ///< every value is a whole number
  double first = 0;        ///< number
  double last = 0;         ///< number
  std::string first_text;  ///< of text
  /// Categories and labels in the order in which they first appear.
  std::vector<Level> levels;
  std::optional<Spot> not_number;  ///< the first text that is no number
  /// Styled numbers and dates: the ways (bits, in the order of the names) in which every text
  /// reads, and the first text that cannot be read as those before it, or else the first of all.
  unsigned ways = all_ways;
  std::optional<Spot> unreadable;
  static constexpr unsigned all_ways = 7;
  /// That text if those of the parts before read in these ways.
  std::map<unsigned, Spot> clash;
  /// Every step-th row, NaN or empty where missing.
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::optional<RepeatSample> repeated;  ///< of numbers that are named as identifiers are

  /// Features and labels that are kept as levels.
  [[nodiscard]] bool has_levels() const {
    return role == Role::label || role == Role::category || (role == Role::feature && text);
  }
  /// Not every value was there, or no row was.
  [[nodiscard]] bool empty(std::size_t rows) const { return missing == rows; }
};

/// The columns of some training rows. Summaries of the parts of a table, in the order of their
/// rows, make the summary of the whole, to the last bit.
struct Summary {
  using Role = ColumnSummary::Role;
  /// The columns that are not features.
  struct Roles {
    std::string label, weight;         ///< empty: none
    std::vector<std::string> exclude;  ///< others, not to be looked at
    ColumnOptions columns;
  };
  /// Where a part's rows are among all.
  struct Place {
    std::size_t first = 0;
    std::size_t total = 0;  ///< 0: not known yet. Known, it keeps summaries of many parts small
  };
  /// The median of a long column is that of at most this many evenly spaced rows.
  static constexpr std::size_t median_rows = 20'000;

  /// Nothing, not even columns: a part that has no file.
  Summary() = default;
  /// Throws Error for what no other part can mend: a missing label, too many categories, a column
  /// of the options that is not there.
  Summary(const Table& part, const Roles& roles, const Place& place);
  /// `names`: empty: numbered.
  Summary(const MatrixView& part, const std::vector<std::string>& names, Missing missing,
          const Place& place);

  /// Adds the rows that follow. Throws Error if they have other columns.
  void append(const Summary& next);
  /// Columns that some parts hold as text and others as numbers: these parts must be read again
  /// with them as text (ReadOptions::text_columns), for the spelling of their numbers.
  [[nodiscard]] std::vector<std::string> mixed() const;
  [[nodiscard]] const ColumnSummary* label() const;

  [[nodiscard]] std::string to_bytes() const;
  static Summary from_bytes(const std::string& bytes);

  std::string source;  ///< of the first part, for messages
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t step = 1;  ///< of the rows kept for medians: those whose number it divides
  bool known = false;    ///< the columns are
  bool matrix = false;   ///< of the caller's: nobody expects warnings about it
  bool positive_weight = true;
  std::vector<ColumnSummary> columns;
  /// svmlight: features (from 0 or 1 as the file has it), and how many values they have.
  bool svmlight = false;
  int index_base = 1;
  std::size_t features = 0;  ///< one past the last, from 0
  std::size_t entries = 0;
  std::vector<std::int32_t> occurring;  ///< from 0, ascending

 private:
  void thin(std::size_t wider);
  [[nodiscard]] std::vector<std::size_t> places_in(const Summary& next) const;
  void append_svmlight(const Summary& next);
};

/// The summary of the parts of all holders; every holder gets it.
Summary gather_summaries(const Summary& own, const Reducer& reducer);

}  // namespace covshift
