// ARFF, the format of Weka: declared attributes (numeric, nominal, string), dense or sparse rows.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/readers.hpp"

namespace covshift {

namespace {

struct ArffValue {
  std::string text;
  bool quoted = false;
};

/// Scans a line from left to right, skipping blanks between its parts.
class ArffScanner {
 public:
  explicit ArffScanner(std::string_view line) : rest_(line) {}

  /// Up to the next blank, comma or brace.
  std::string_view word() {
    const std::size_t length = std::min(rest().find_first_of(" \t,{}"), rest_.size());
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return result;
  }

  /// A value in single or double quotes, with backslash escapes, or the trimmed text up to one of
  /// `ends`. Nothing if a quote is not closed.
  std::optional<ArffValue> value(std::string_view ends) {
    ArffValue result;
    const char quote = rest().empty() ? '\0' : rest_.front();
    result.quoted = quote == '\'' || quote == '"';
    if (!result.quoted) {
      const std::size_t length = std::min(rest_.find_first_of(ends), rest_.size());
      result.text = trim(rest_.substr(0, length));
      rest_.remove_prefix(length);
      return result;
    }
    for (std::size_t k = 1; k < rest_.size(); ++k) {
      if (rest_[k] == quote) {
        rest_.remove_prefix(k + 1);
        return result;
      }
      if (rest_[k] == '\\' && k + 1 < rest_.size()) ++k;
      result.text += rest_[k];
    }
    return std::nullopt;
  }

  /// Skips `c` if it comes next.
  bool take(char c) {
    if (!rest().starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    return rest_;
  }
  bool done() { return rest().empty(); }

 private:
  std::string_view rest_;
};

class ArffReader : LineReader {
 public:
  using LineReader::LineReader;

  Table read() {
    read_lines([&](std::string_view line) {
      bytes_ += line.size() + 1;
      parse_line(trim(line));
    });
    if (line_ == 0) fail_input("{}: the file is empty", table_.source);
    if (!in_data_) fail_input("{}:{}: there is no @data line", table_.source, line_);
    if (table_.rows == 0) {
      fail_input("{}:{}: there are no rows of data after @data; add some", table_.source, line_);
    }
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      table_.columns[c].levels = attributes_[c].values.take_levels();
    }
    return std::move(table_);
  }

 private:
  enum class Type { numeric, nominal, text };
  struct Attribute {
    Type type = Type::numeric;
    Dictionary values;         ///< nominal: as declared; else as found
    std::size_t declared = 0;  ///< nominal: how many values were declared
  };

  void parse_line(std::string_view line) {
    if (line.empty() || line.front() == '%') return;
    if (in_data_) {
      line.front() == '{' ? sparse_row(line) : dense_row(line);
    } else {
      declaration(line);
    }
  }

  void declaration(std::string_view line) {
    ArffScanner scanner(line);
    const std::string keyword = to_lower(scanner.word());
    if (keyword == "@relation") return;
    if (keyword == "@data") {
      if (table_.columns.empty()) fail(1, "there is no @attribute before @data");
      in_data_ = true;
    } else if (keyword == "@attribute") {
      attribute(scanner);
    } else {
      fail(1, "{} is not @relation, @attribute or @data", quoted_excerpt(line));
    }
  }

  void attribute(ArffScanner& scanner) {
    Column column;
    const ArffValue name = value(scanner, 2, " \t{");
    column.name = name.text;
    if (column.name.empty()) fail(2, "the attribute has no name; write @attribute name type");
    if (!names_.insert(column.name).second) {
      fail(2, "the attribute {} is declared twice; rename one", quoted_excerpt(column.name));
    }
    Attribute attribute;
    if (scanner.take('{')) {
      attribute.type = Type::nominal;
      do {
        const ArffValue level = value(scanner, 3, ",}");
        if (!level.text.empty() || level.quoted) attribute.values.code(level.text);
      } while (scanner.take(','));
      if (!scanner.take('}')) fail(3, "the list of values is not closed; add a }}");
      attribute.declared = attribute.values.levels().size();
    } else {
      const std::string type = to_lower(scanner.word());
      if (type == "string" || type == "date") {  // --dates reads dates
        attribute.type = Type::text;
      } else if (type != "numeric" && type != "real" && type != "integer") {
        fail(3, "the type {} is not supported; use numeric, string or {{a, b}}",
             quoted_excerpt(type));
      }
    }
    column.categorical = attribute.type != Type::numeric || options_.is_text(column.name);
    table_.columns.push_back(std::move(column));
    attributes_.push_back(std::move(attribute));
  }

  void dense_row(std::string_view line) {
    start_row();
    ArffScanner scanner(line);
    const std::size_t width = attributes_.size();
    // Values are separated by commas, or by blanks in a row without commas.
    const bool blanks = width > 1 && line.find(',') == std::string_view::npos;
    std::size_t found = 0;
    do {
      const ArffValue field = value(scanner, found + 1, blanks ? " \t" : ",");
      if (found < width) store(found, field, found + 1);
      ++found;
    } while (blanks ? !scanner.done() : scanner.take(','));
    if (!scanner.done()) {
      fail(found, "{} follows a quoted value; put the quotes around the whole value",
           quoted_excerpt(scanner.rest()));
    }
    if (found != width) {
      fail(std::min(found, width) + 1,
           "expected {} fields, found {}; give every row a value for each attribute", width, found);
    }
  }

  void sparse_row(std::string_view line) {
    start_row();
    const std::size_t width = attributes_.size();
    if (table_.rows > room_) make_room();
    std::vector<char> given(width, 0);
    ArffScanner scanner(line);
    scanner.take('{');
    std::size_t field = 0;
    while (!scanner.take('}')) {
      ++field;
      const std::string_view index_text = scanner.word();
      const std::size_t index = parse_count(index_text).value_or(width);
      if (index >= width) {
        fail(field, "{} is not the index of an attribute (0 to {}); write {{index value, ...}}",
             quoted_excerpt(index_text), width - 1);
      }
      if (given[index] != 0) fail(field, "the index {} occurs twice in this row; keep one", index);
      given[index] = 1;
      store(index, value(scanner, field, ",}"), field);
      if (!scanner.take(',') && scanner.rest().substr(0, 1) != "}") {
        fail(field, "the sparse row is not closed; add a }}");
      }
    }
    if (!scanner.done()) fail(field, "{} follows the row", quoted_excerpt(scanner.rest()));
    // An omitted value is zero, which for a nominal attribute means its first value.
    for (std::size_t c = 0; c < width; ++c) {
      if (given[c] != 0) continue;
      const Attribute& attribute = attributes_[c];
      const bool nominal = attribute.type == Type::nominal && attribute.declared > 0;
      store(c, {nominal ? attribute.values.levels().front() : "0", nominal}, field);
    }
  }

  /// Sparse rows become dense columns: a short file of them must not fill the memory, and columns
  /// grow by less than doubling.
  void make_room() {
    constexpr std::size_t always = std::size_t{4} << 20U;
    constexpr std::size_t cells_each_byte = 3;
    const std::size_t most = always + cells_each_byte * std::max(bytes_, source_size());
    if (table_.rows * attributes_.size() > most) {
      fail(1,
           "{} sparse rows of {} attributes are too many to be stored whole (more than {} values "
           "from {} bytes); write the table as svmlight, which stays sparse",
           table_.rows, attributes_.size(), most, std::max(bytes_, source_size()));
    }
    room_ = table_.rows + table_.rows / 8;
    for (Column& column : table_.columns) {
      column.categorical ? column.codes.reserve(room_) : column.numbers.reserve(room_);
    }
  }

  void start_row() { table_.lines.note(table_.rows++, line_); }

  void store(std::size_t c, const ArffValue& field, std::size_t position) {
    Column& column = table_.columns[c];
    Attribute& attribute = attributes_[c];
    const bool missing = field.quoted ? field.text.empty() : is_missing(field.text);
    if (attribute.type == Type::numeric) {
      const auto number = parse_number(field.text);
      if (!missing && !number) {
        fail(position, "{} is not a number, but the attribute {} is numeric; correct one of them",
             quoted_excerpt(field.text), quoted_excerpt(column.name));
      }
      if (!column.categorical) {
        column.numbers.push_back(missing ? std::numeric_limits<double>::quiet_NaN() : *number);
        return;
      }
    }
    const std::int32_t code = missing ? -1 : attribute.values.code(field.text);
    if (attribute.type == Type::nominal && code >= static_cast<std::int32_t>(attribute.declared)) {
      fail(position, "{} is not one of the values declared for the attribute {}; declare it",
           quoted_excerpt(field.text), quoted_excerpt(column.name));
    }
    column.codes.push_back(code);
  }

  ArffValue value(ArffScanner& scanner, std::size_t position, std::string_view ends) {
    auto result = scanner.value(ends);
    if (!result) fail(position, "a quote is opened here and not closed in this line; close it");
    return *std::move(result);
  }

  std::vector<Attribute> attributes_;
  std::unordered_set<std::string> names_;
  bool in_data_ = false;
  std::size_t bytes_ = 0;  ///< of the lines so far
  std::size_t room_ = 0;   ///< sparse rows: for how many there is memory
};

}  // namespace

Table read_arff(ByteSource& source, const ReadOptions& options) {
  return ArffReader(source, options).read();
}

}  // namespace covshift
