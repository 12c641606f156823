// Encodes the columns of a table as numbers. Fitted on the training table, then applied to others
// by column name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/data/matrix.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

struct EncodedTable {
  /// A category that training never saw: the row is zero in all encoded columns of this one.
  struct Unseen {
    std::string column;
    std::string text;      ///< the first such category in the file
    std::size_t line = 0;  ///< and its line
    std::size_t count = 0;
  };
  Matrix matrix;
  std::vector<Unseen> unseen;       ///< one per column with such categories
  std::size_t ignored_entries = 0;  ///< svmlight: entries of features that training never saw
};

class Encoder {
 public:
  /// All columns of the training file but `exclude` (its label, weights, ...) are features.
  /// The categories of a column are those that occur in it, in the order of sort_levels.
  static Encoder fit(const Table& train, const std::vector<std::string>& exclude);

  /// Numeric columns with these names.
  static Encoder of_columns(const std::vector<std::string>& names);
  /// Numeric columns c1, c2, ... as in NPY files, or 1, 2, ... as in svmlight files.
  static Encoder of_numbers(std::size_t cols, bool sparse);

  /// Columns are matched by name; others are ignored. Throws Error for a missing column, a missing
  /// or infinite value, or a string in a numeric column.
  [[nodiscard]] EncodedTable encode(const Table& table, int threads = 0) const;

  /// Options for reading a file to encode: categorical columns stay text even if this file has only
  /// numbers in them.
  [[nodiscard]] ReadOptions read_options(ReadOptions options = {}) const;

  [[nodiscard]] std::size_t cols() const { return source_of_.size(); }
  /// The name of an encoded column: `column`, `column=category`, or an svmlight index.
  [[nodiscard]] std::string name(std::size_t col) const;
  /// The columns of the file, in order.
  [[nodiscard]] std::size_t source_count() const { return sources_.size(); }
  [[nodiscard]] const std::string& source_name(std::size_t source) const {
    return sources_[source].name;
  }
  /// For each encoded column the file's column it comes from (ascending).
  [[nodiscard]] const std::vector<std::int32_t>& source_of() const { return source_of_; }
  [[nodiscard]] bool from_svmlight() const { return svmlight_; }
  /// True if no column is categorical.
  [[nodiscard]] bool numeric() const;

  [[nodiscard]] nlohmann::json to_json() const;
  static Encoder from_json(const nlohmann::json& json);

 private:
  struct Source {
    std::string name;
    bool categorical = false;
    std::vector<std::string> levels;
    std::size_t first = 0;  ///< its first encoded column
  };
  /// How to encode a column of a table: as numbers, or by the encoded column that is 1 for each
  /// category (-1: none).
  struct Plan {
    const Source* source = nullptr;
    const Column* column = nullptr;
    std::vector<double> level_numbers;  ///< numbers that were read as text
    std::vector<std::int32_t> level_columns;
    std::vector<std::int32_t> row_columns;  ///< categories that were read as numbers
  };

  void add(Source source);
  /// Numeric columns named prefix + first, prefix + (first + 1), ...
  void add_numbered(std::size_t cols, std::string_view prefix, std::size_t first);
  static Plan plan(const Table& table, const Source& source);
  static void check_values(const Table& table, const std::vector<Plan>& plans);
  static void count_unseen(const Table& table, const Plan& plan, EncodedTable& out);
  static double number_at(const Plan& plan, std::size_t row);
  static std::int32_t column_at(const Plan& plan, std::size_t row);
  [[nodiscard]] Matrix dense(std::size_t rows, const std::vector<Plan>& plans, int threads) const;
  [[nodiscard]] EncodedTable encode_svmlight(const Table& table) const;

  std::vector<Source> sources_;
  std::vector<std::int32_t> source_of_;
  bool svmlight_ = false;
  int index_base_ = 1;
};

}  // namespace covshift
