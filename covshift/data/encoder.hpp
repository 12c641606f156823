// Encodes the columns of a table or matrix as numbers. Fitted on the training data, then applied to
// others by column name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/base/names.hpp"
#include "covshift/data/column_text.hpp"
#include "covshift/data/matrix.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

/// What becomes of values that are not there.
enum class Missing {
  error,
  impute,     ///< the median, or the most frequent category, of the training data
  indicator,  ///< a column of its own says where values were missing; numbers are also imputed
};
template <>
inline constexpr auto names<Missing> = std::to_array<Named<Missing>>(
    {{Missing::error, "error"}, {Missing::impute, "impute"}, {Missing::indicator, "indicator"}});

/// What the columns of the training data are.
struct ColumnOptions {
  std::vector<std::string> drop;         ///< not features
  std::vector<std::string> keep;         ///< not features, but copied beside predictions
  std::vector<std::string> numeric;      ///< numbers, also with decimal commas or thousands
  std::vector<std::string> categorical;  ///< categories, even if they look like numbers
  std::vector<std::string> dates;        ///< dates, as year, month, weekday and days
  Missing missing = Missing::indicator;
};

struct EncodedTable {
  /// A category that training never saw: the row is zero in all encoded columns of this one.
  struct Unseen {
    std::string column;
    std::string text;      ///< the first such category in the file
    std::size_t line = 0;  ///< and its line
    std::size_t count = 0;
  };
  /// Missing values of a column that had none in training.
  struct Absent {
    std::string column;
    std::size_t count = 0;
  };
  Matrix matrix;
  std::vector<Unseen> unseen;  ///< one per column with such categories
  std::vector<Absent> absent;  ///< one per column with such values
  /// Rows with such a value, identifiers aside: the matrix shows them as like others, but training
  /// had no row like them.
  std::size_t unlike = 0;
  std::size_t ignored_entries = 0;  ///< svmlight: entries of features that training never saw
};

struct Summary;
struct ColumnSummary;

class Encoder {
 public:
  /// What becomes features of the columns that a summary of all training rows describes.
  static Encoder fit(const Summary& train, Missing missing);
  /// All columns of the training file but `exclude` (its label, weights, ...) and those dropped or
  /// kept are features. The categories of a column are those that occur in it, in the order of
  /// sort_levels.
  static Encoder fit(const Table& train, const std::vector<std::string>& exclude,
                     const ColumnOptions& options = {});
  /// Columns of a matrix. Without names they are c1, c2, ... as in NPY files, or 1, 2, ... as in
  /// svmlight files.
  static Encoder fit(const MatrixView& train, const std::vector<std::string>& columns,
                     Missing missing);

  /// Numeric columns with these names.
  static Encoder of_columns(const std::vector<std::string>& names) {
    return fit(MatrixView{0, names.size(), {}}, names, Missing::error);
  }

  /// Columns are matched by name; others are ignored. Throws Error for a missing column, a string
  /// in a numeric column, an infinite value, and, if missing values are errors, for these.
  [[nodiscard]] EncodedTable encode(const Table& table, int threads = 0) const;
  /// Columns are matched by place. Nothing if the matrix is as it should be: then no copy is
  /// needed.
  [[nodiscard]] std::optional<EncodedTable> encode(const MatrixView& matrix, int threads = 0) const;

  /// Options with which another table of these columns is understood alike.
  [[nodiscard]] ColumnOptions column_options() const;

  /// Options for reading a file to encode: categorical columns stay text even if this file has only
  /// numbers in them.
  [[nodiscard]] ReadOptions read_options(ReadOptions options = {}) const;

  [[nodiscard]] std::size_t cols() const { return source_of_.size(); }
  /// The name of an encoded column: `column`, `column=category`, `column:year`, `column missing`,
  /// or an svmlight index.
  [[nodiscard]] std::string name(std::size_t col) const;
  /// The category that an encoded column stands for; none for numbers.
  [[nodiscard]] std::optional<std::string> category(std::size_t col) const;
  /// The columns of the file, in order.
  [[nodiscard]] std::size_t source_count() const { return sources_.size(); }
  [[nodiscard]] const std::string& source_name(std::size_t source) const {
    return sources_[source].name;
  }
  /// For each encoded column the file's column it comes from (ascending).
  [[nodiscard]] const std::vector<std::int32_t>& source_of() const { return source_of_; }
  [[nodiscard]] bool from_svmlight() const { return svmlight_; }
  /// True if all columns are numbers, so that a matrix will do.
  [[nodiscard]] bool numeric() const;
  /// True for a column that names its rows: the one rule for identifiers.
  [[nodiscard]] bool ids(std::size_t source) const { return sources_[source].ids; }
  /// More than half as many categories as values: most occur once and teach nothing about others.
  [[nodiscard]] static bool looks_like_ids(std::size_t levels, std::size_t values) {
    constexpr std::size_t few = 20;
    return levels >= few && 2 * levels > values;
  }
  [[nodiscard]] bool dates(std::size_t source) const { return sources_[source].kind == Kind::date; }
  [[nodiscard]] Missing missing() const { return missing_; }
  /// The number of missing values of a column in training.
  [[nodiscard]] std::size_t missing_count(std::size_t source) const {
    return sources_[source].missing;
  }

  /// How text is read as numbers and dates: the first way that reads all of a column.
  static constexpr std::array styles = {NumberStyle::plain, NumberStyle::thousands_commas,
                                        NumberStyle::decimal_comma};
  static constexpr std::array orders = {DateOrder::ymd, DateOrder::dmy, DateOrder::mdy};

  [[nodiscard]] nlohmann::json to_json() const;
  /// `most`: the number of encoded columns that other parts of the file have.
  static Encoder from_json(const nlohmann::json& json, std::size_t most);

 private:
  enum class Kind { number, category, date };
  struct Source {
    std::string name;
    Kind kind = Kind::number;
    std::vector<std::string> levels;         ///< categories
    NumberStyle style = NumberStyle::plain;  ///< numbers
    DateOrder order = DateOrder::ymd;        ///< dates
    DateNumbers fill{};                      ///< instead of a missing number (the first) or date
    std::int32_t fill_level = 0;             ///< instead of a missing category
    std::size_t missing = 0;                 ///< in training
    bool ids = false;
    bool indicator = false;  ///< its last encoded column is 1 where missing
    std::size_t first = 0;   ///< its first encoded column
  };
  /// How to encode a column of a table.
  struct Plan {
    const Source* source = nullptr;
    const Column* column = nullptr;
    std::vector<DateNumbers> level_numbers;   ///< numbers or dates that were read as text
    std::vector<std::int32_t> level_columns;  ///< the encoded column that is 1 (-1: none)
    std::vector<std::int32_t> row_columns;    ///< the same for categories that were read as numbers
  };

  static Source fit_column(const ColumnSummary& column, std::size_t rows, Missing missing);
  static void fit_levels(const ColumnSummary& column, std::size_t rows, Source& source);
  static void fit_fill(const ColumnSummary& column, Source& source);
  void add(Source source);
  void add_numbered(std::size_t cols, std::string_view prefix, std::size_t first);
  void fit_svmlight(const Summary& train);
  [[nodiscard]] static std::size_t width(const Source& source);
  [[nodiscard]] Plan plan(const Table& table, const Source& source, const Column* column) const;
  static void plan_numbers(const Table& table, Plan& plan);
  static void plan_categories(const Table& table, Plan& plan);
  void check_values(const Table& table, const std::vector<Plan>& plans) const;
  /// Counts what training never saw in a column, and marks its rows.
  static void count_unseen(const Table& table, const Plan& plan, std::vector<char>& unlike,
                           EncodedTable& out);
  void count_absent(const Table& table, const Plan& plan, std::vector<char>& unlike,
                    EncodedTable& out) const;
  static double number_at(const Plan& plan, std::size_t row, std::size_t part = 0);
  static std::int32_t column_at(const Plan& plan, std::size_t row);
  static void encode_cell(const Plan& plan, std::size_t row, double* to);
  [[nodiscard]] Matrix dense(std::size_t rows, const std::vector<Plan>& plans, int threads) const;
  [[nodiscard]] EncodedTable encode_svmlight(const Table& table) const;
  static Source source_from_json(const nlohmann::json& json, Missing missing);

  std::vector<Source> sources_;
  std::vector<std::int32_t> source_of_;
  Missing missing_ = Missing::error;
  bool svmlight_ = false;
  int index_base_ = 1;
  /// svmlight files with far fewer entries than features: the features (from 0) that occur,
  /// ascending; empty: all.
  std::vector<std::int32_t> occurring_;
};

}  // namespace covshift
