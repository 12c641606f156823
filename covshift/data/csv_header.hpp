// Is the first line of a delimited text file a header or data?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covshift/data/csv_layout.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/records.hpp"

namespace covshift {

/// True for c1, c2, ...: what columns of a file without header are called.
bool is_place(std::string_view name);

struct HeaderGuess {
  bool header = false;
  std::string because;  ///< the reason, if it should be told; empty: it is plain
};

/// Compares the first line with the names that the file should have and with the lines below it.
/// Neither numbers nor missing values in a first line make it data: columns may be called 0, 1,
/// ..., 2020, inf or NA.
class HeaderJudge {
 public:
  HeaderJudge(const std::vector<CsvField>& first, const std::vector<std::string_view>& below,
              const RecordSyntax& syntax, const ReadOptions& options);
  [[nodiscard]] HeaderGuess decide() const;

 private:
  enum class Kind { number, missing, text };
  static Kind kind_of(const CsvField& field);

  /// Neither numbers nor missing values, which is what most headers look like.
  [[nodiscard]] bool plain_words() const;
  /// 0, 1, 2, ... or, from 1, 1, 2, 3, ... (in all fields but some of text), as pandas and others
  /// name columns.
  [[nodiscard]] static bool counts(const std::vector<CsvField>& fields, std::size_t from);
  /// A first line of different whole numbers (some fields may be others), such as years.
  struct Numbers {
    bool names = false;  ///< in order, and so many lie beyond the numbers below that they are names
    bool fresh = false;  ///< all are numbers or missing, and none stands in its column again
    bool among = false;  ///< some lie among the numbers below them
  };
  /// Nothing but false if the line is another.
  [[nodiscard]] Numbers whole_numbers() const;
  /// Every field occurs again below, in its column.
  [[nodiscard]] bool repeated() const;
  /// A field (from 0) that is text above a column of numbers, or a number above a column of text;
  /// fields.size() if there is none.
  [[nodiscard]] std::size_t unlike() const;
  [[nodiscard]] bool named(const std::string& name) const;
  [[nodiscard]] bool occurs_below(const std::string& name) const;
  /// The first line has one of the columns expected, perhaps in other capitals.
  [[nodiscard]] bool has_expected() const;
  /// What the columns expected say; nothing: they do not decide.
  [[nodiscard]] std::optional<bool> by_expected() const;
  /// What a first line that has numbers, and nothing else to tell, is.
  [[nodiscard]] HeaderGuess by_numbers() const;

  const std::vector<CsvField>& first_;
  std::vector<std::vector<CsvField>> below_;  ///< the rows with as many fields as the first
  const ReadOptions& options_;
};

}  // namespace covshift
