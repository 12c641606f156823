#include <rapidcheck.h>

#include <cmath>

#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_message;
using ::testing::StartsWith;

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> texts_of(const Table& table, const std::string& column) {
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < table.rows; ++r) texts.push_back(table.at(column).text(r));
  return texts;
}

TEST(Csv, HeaderKindsAndMissingValues) {
  const Folder folder;
  const Table t = read_table(folder.write("a.csv", "x,color,y\n1,red,NA\n2.5,,nan\n-3e2,blue,7\n"));
  EXPECT_EQ(t.rows, 3U);
  EXPECT_THAT(names_of(t), ElementsAre("x", "color", "y"));
  EXPECT_FALSE(t.at("x").categorical);
  EXPECT_THAT(t.at("x").numbers, ElementsAre(1.0, 2.5, -300.0));
  EXPECT_TRUE(t.at("color").categorical);
  EXPECT_THAT(t.at("color").levels, ElementsAre("red", "blue"));
  EXPECT_THAT(t.at("color").codes, ElementsAre(0, -1, 1));
  EXPECT_TRUE(t.at("y").missing(0));
  EXPECT_TRUE(t.at("y").missing(1));
  EXPECT_EQ(t.at("y").numbers[2], 7.0);
  EXPECT_EQ(t.where(2, t.at("y")), t.source + ":4:3");
}

TEST(Csv, HeaderIsDetectedOrGiven) {
  const Folder folder;
  const auto plain = folder.write("a.csv", "1,2\n3,4\n");
  EXPECT_THAT(names_of(read_table(plain)), ElementsAre("c1", "c2"));
  EXPECT_EQ(read_table(plain).rows, 2U);
  EXPECT_EQ(read_table(plain).where(0), plain + ":1");
  ReadOptions options;
  options.header = HeaderLine::present;
  EXPECT_THAT(names_of(read_table(plain, options)), ElementsAre("1", "2"));
  const auto words = folder.write("b.csv", "red,big\nblue,small\n");
  EXPECT_EQ(read_table(words).rows, 1U);
  options.header = HeaderLine::absent;
  EXPECT_EQ(read_table(words, options).rows, 2U);
  // A missing value or a number in the first row makes it data.
  EXPECT_THAT(names_of(read_table(folder.write("c.csv", "a,NA\nb,2\n"))), ElementsAre("c1", "c2"));
  // A header before row names has an empty first name.
  EXPECT_THAT(names_of(read_table(folder.write("d.csv", ",x\n0,2\n"))), ElementsAre("c1", "x"));
}

/// Rows of whole numbers from 0 to 6.
std::string small_numbers(const std::string& first, int columns) {
  std::string text = first + '\n';
  for (int row = 0; row < 60; ++row) {
    for (int c = 0; c < columns; ++c) {
      text += fmt::format("{}{}", c == 0 ? "" : ",", (row * (c + 3) + row / 7 + 2 * c * c + 1) % 7);
    }
    text += '\n';
  }
  return text;
}

TEST(Csv, FirstLinesOfNumbersAreNamesOrDataAndItIsSaid) {
  const Folder folder;
  struct Case {
    std::string first;
    bool header;
    std::string because;  // empty: nothing is said
  };
  for (const Case& own : std::initializer_list<Case>{
           {"2018,2019,2020,2021", true, "its numbers lie beyond those below them"},
           {"inf,nan,2020,2021", true, "its numbers lie beyond those below them"},
           {"1,2,3,4", true, "its numbers count the columns: 1, 2, 3, ..."},
           {"0,1,2,3", true, "its numbers count the columns: 0, 1, 2, ..."},
           // Large, but not in order, as names would be.
           {"2020,2018,2021,2019", false, "too little shows that its numbers are names"},
           // Data like those below.
           {"6,2,5,1", false, ""},
           {"2018,2,5,1", false, ""},
           {"0.5,2019.5,3000.5,4000.5", false, ""}}) {
    const Table t = read_table(folder.write("a.csv", small_numbers(own.first, 4)));
    EXPECT_EQ(t.rows, own.header ? 60U : 61U) << own.first;
    EXPECT_EQ(t.notes.empty(), own.because.empty()) << own.first;
    if (own.because.empty()) continue;
    EXPECT_EQ(t.notes.at(0).substr(t.notes.at(0).find(": ") + 2),
              fmt::format("the first line is taken as {}, because {}; if that is wrong, say "
                          "--header {}",
                          own.header ? "the names of the columns" : "data (columns c1, c2, ...)",
                          own.because, own.header ? "no" : "yes"));
  }
  const Table counting = read_table(folder.write("c.csv", "1,2,3\n1,2,3\n4,5,1\n"));
  EXPECT_EQ(counting.rows, 3U);
  EXPECT_THAT(counting.notes.at(0), HasSubstr("because lines below it count as it does"));
  // Who asks for c4 takes it for data.
  ReadOptions options;
  options.text_columns = {"c4"};
  const Table t = read_table(folder.write("b.csv", small_numbers("1,2,3,4", 4)), options);
  EXPECT_EQ(t.rows, 61U);
  EXPECT_THAT(t.notes.at(0), HasSubstr("because the column 'c4' was asked for"));
}

TEST(Csv, ColumnsThatAreCalledC1) {
  const Folder folder;
  ReadOptions options;
  options.expected = {"c1", "c2"};
  const auto names = [&](const char* text) {
    return names_of(read_table(folder.write("a.csv", text), options));
  };
  EXPECT_THAT(names("C1,C2\n1,2\n3,4\n"), ElementsAre("C1", "C2"));
  EXPECT_THAT(names("c1,zz\n1,2\n3,4\n"), ElementsAre("c1", "zz"));
  EXPECT_THAT(names("C1,k\nx,y\nz,y\n"), ElementsAre("C1", "k"));
  // The training file had no header.
  EXPECT_THAT(names("5,6\n1,2\n3,4\n"), ElementsAre("c1", "c2"));
  EXPECT_THAT(names("red,big\nblue,small\n"), ElementsAre("c1", "c2"));
}

TEST(Csv, DelimitersAreDetected) {
  const Folder folder;
  for (const std::string delimiter : {",", ";", "\t", " ", "   ", ", ", " \t"}) {
    const std::string text = fmt::format("a{0}b{0}c\n1{0}2{0}x\n4{0}5{0}y\n", delimiter);
    const Table t = read_table(folder.write("a.txt", text));
    EXPECT_THAT(names_of(t), ElementsAre("a", "b", "c")) << '[' << delimiter << ']';
    EXPECT_THAT(t.at("b").numbers, ElementsAre(2.0, 5.0));
    EXPECT_THAT(texts_of(t, "c"), ElementsAre("x", "y"));
  }
  const Table blanks = read_table(folder.write("b.dat", "  1  2 van \n 3 4\tbus\n"));
  EXPECT_EQ(blanks.columns.size(), 3U);
  EXPECT_THAT(texts_of(blanks, "c3"), ElementsAre("van", "bus"));
  const Table one = read_table(folder.write("c.csv", "text\nnew york\nrome\n"));
  EXPECT_THAT(texts_of(one, "text"), ElementsAre("new york", "rome"));
  ReadOptions options;
  options.delimiter = '|';
  EXPECT_THAT(names_of(read_table(folder.write("d.csv", "a|b\n1|2\n"), options)),
              ElementsAre("a", "b"));
}

TEST(Csv, QuotesNewlinesAndCrlf) {
  const Folder folder;
  const Table t = read_table(folder.write(
      "a.csv",
      "\"na\"\"me\",\"b,c\"\r\n\"x\r\ny\",1\r\n\"say \"\"hi\"\"\",\"2\"\r\n\r\n  z 5\" , 3\r\n"));
  EXPECT_THAT(names_of(t), ElementsAre("na\"me", "b,c"));
  EXPECT_THAT(texts_of(t, "na\"me"), ElementsAre("x\r\ny", "say \"hi\"", "z 5\""));
  EXPECT_THAT(t.at("b,c").numbers, ElementsAre(1.0, 2.0, 3.0));
  EXPECT_EQ(t.lines.line_of(0), 2U);
  EXPECT_EQ(t.lines.line_of(1), 4U);
  EXPECT_EQ(t.lines.line_of(2), 6U);
}

TEST(Csv, QuotedMissingMarkersAreCategoriesButNotNumbers) {
  const Folder folder;
  const Table t = read_table(
      folder.write("a.csv", "a,b,c\nx,\"NA\",\"NA\"\ny,NA,1\nz,\"\",\"?\"\nz,u,\"\"\nz,u,\"2\"\n"));
  EXPECT_THAT(t.at("b").codes, ElementsAre(0, -1, -1, 1, 1));
  EXPECT_THAT(t.at("b").levels, ElementsAre("NA", "u"));
  ASSERT_FALSE(t.at("c").categorical);
  EXPECT_EQ(t.at("c").numbers[1], 1);
  EXPECT_EQ(t.at("c").numbers[4], 2);
  for (const std::size_t row : {0U, 2U, 3U}) EXPECT_TRUE(t.at("c").missing(row)) << row;
}

TEST(Csv, ByteOrderMarkAndNoFinalNewline) {
  const Folder folder;
  const Table t = read_table(folder.write("a.csv", "\xef\xbb\xbfx,y\n1,2\n3,4"));
  EXPECT_THAT(names_of(t), ElementsAre("x", "y"));
  EXPECT_THAT(t.at("y").numbers, ElementsAre(2.0, 4.0));
}

TEST(Csv, TextColumnsKeepTheirSpelling) {
  const Folder folder;
  ReadOptions options;
  options.text_columns = {"y"};
  const Table t = read_table(folder.write("a.csv", "x,y\n1,01\n2,1.0\n"), options);
  EXPECT_THAT(texts_of(t, "y"), ElementsAre("01", "1.0"));
}

TEST(Csv, LateTextKeepsTheSpellingOfEarlierNumbers) {
  const Folder folder;
  std::string text = "id,x\n";
  for (int k = 0; k < 100; ++k) text += "007,1\n";
  text += "A7,x\n";
  ReadOptions options;
  options.chunk_bytes = 64;
  const Table t = read_table(folder.write_gz("a.csv.gz", text), options);
  EXPECT_THAT(t.at("id").levels, ElementsAre("007", "A7"));
  EXPECT_THAT(t.at("x").levels, ElementsAre("1", "x"));
  EXPECT_EQ(t.rows, 101U);
}

TEST(Csv, NumbersAreCorrectlyRounded) {
  const Folder folder;
  const std::vector<std::string> spellings = {"0.1",
                                              "-0.30000000000000004",
                                              "1e22",
                                              "9007199254740993",
                                              "123456789012345678901234567890",
                                              "4.9e-324",
                                              "1.7976931348623157e308",
                                              "-0",
                                              ".5",
                                              "5.",
                                              "+2.5",
                                              "00012.500",
                                              "0.000000000000000000000000012345678901234567890",
                                              "1e-999",
                                              "1e999",
                                              "-1e999",
                                              "inf",
                                              "0.12345678",
                                              "12345678.12345678",
                                              "99999999",
                                              "100000000.5"};
  std::string text = "x\n";
  for (const std::string& s : spellings) text += s + "\n";
  const Table t = read_table(folder.write("a.csv", text));
  ASSERT_FALSE(t.at("x").categorical);
  for (std::size_t k = 0; k < spellings.size(); ++k) {
    EXPECT_EQ(t.at("x").numbers[k], std::strtod(spellings[k].c_str(), nullptr)) << spellings[k];
  }
  EXPECT_TRUE(std::signbit(t.at("x").numbers[7]));
}

TEST(Csv, TextThatStartsLikeANumberIsText) {
  const Folder folder;
  for (const std::string s : {"1e", "1x", "0x10", "--1", "+-1", "1 2", "nancy", "1,5", "."}) {
    const Table t = read_table(folder.write("a.csv", fmt::format("a;b\n1;2\n\"{}\";3\n", s)));
    EXPECT_TRUE(t.at("a").categorical) << s;
  }
}

TEST(CsvErrors, RaggedRows) {
  const Folder folder;
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b,c\n1,2,3\n\n4,5\n")),
              StartsWith("a.csv:4:3: expected 3 fields, found 2; "));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b,c\n1,2,3\n4,5,6,\"7,8\",9\n")),
              StartsWith("a.csv:3:4: expected 3 fields, found 5; "));
  EXPECT_THAT(read_message(folder, folder.write("a.txt", "1 2 3\n1 2 3\n4 5\n")),
              StartsWith("a.txt:3:3: expected 3 fields, found 2; "));
  EXPECT_THAT(read_message(folder, folder.write("a.txt", "1 2\n1 2\n4 5 x y\n")),
              StartsWith("a.txt:3:3: expected 2 fields, found 4; "));
}

TEST(CsvErrors, Quotes) {
  const Folder folder;
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b\n1,2\n3,\"x\n4,5\n")),
              StartsWith("a.csv:3:2: a quote (\") is opened here and never closed; "));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b\n\"x\ny\" z,2\n")),
              StartsWith("a.csv:3:1: ' z' follows a closing quote; "));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,\"b\n1,2\n")),
              StartsWith("a.csv:1: a quote (\") in this row is never closed; "));
}

TEST(CsvErrors, NothingToRead) {
  const Folder folder;
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "")),
              StartsWith("a.csv: the file is empty"));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "\n  \r\n\n")),
              StartsWith("a.csv: the file is empty"));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b\n\n")),
              StartsWith("a.csv:2: there are no rows of data after the header"));
  EXPECT_THAT(read_message(folder, folder.path("none.csv")),
              StartsWith("none.csv: there is no such file"));
  EXPECT_THAT(read_message(folder, folder.path("")), HasSubstr("this is a directory"));
}

TEST(CsvErrors, NamesAndEncodings) {
  const Folder folder;
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b,a\n1,2,3\n")),
              StartsWith("a.csv:1:3: the column name 'a' is used twice (fields 1 and 3)"));
  EXPECT_THAT(read_message(folder, folder.write("a.csv", "a,b\r1,2\r3,4\r")),
              StartsWith("a.csv:1:1: lines end with CR alone"));
}

TEST(CsvErrors, Utf16) {
  const Folder folder;
  const auto wide = [](std::string_view text, bool big) {
    std::string out;
    for (const char c : text) out += big ? std::string{'\0', c} : std::string{c, '\0'};
    return out;
  };
  for (const bool big : {false, true}) {
    const auto path = folder.write("a.csv", wide("x,y\n1,2\n3,4\n", big));
    EXPECT_EQ(read_message(folder, path),
              fmt::format("a.csv:1: byte {} of this line is 0, which no text holds; if this is "
                          "UTF-16, say --encoding utf-16, else remove it",
                          big ? 1 : 2));
    ReadOptions options;
    options.encoding = Encoding::utf16;
    EXPECT_THAT(names_of(read_table(path, options)), ElementsAre("x", "y"));
    EXPECT_EQ(read_table(path, options).rows, 2U);
  }
  EXPECT_EQ(read_message(folder, folder.write("b.csv", std::string("x,y\n1,2\n3\0\n", 11))),
            "b.csv:3: byte 2 of this line is 0, which no text holds; if this is UTF-16, say "
            "--encoding utf-16, else remove it");
}

TEST(Gzip, ReadsMembersAndRefusesDamage) {
  const Folder folder;
  const auto first = testing::slurp(folder.write_gz("1.gz", "a,b\n1,"));
  const auto second = testing::slurp(folder.write_gz("2.gz", "2\n3,4\n"));
  const Table t = read_table(folder.write("a.csv.gz", first + second));
  EXPECT_THAT(t.at("b").numbers, ElementsAre(2.0, 4.0));
  // Recognised by its contents, even without the extension.
  EXPECT_EQ(read_table(folder.write("a.csv", first + second)).rows, 2U);
  EXPECT_THAT(read_message(folder, folder.write("p.csv.gz", "a,b\n1,2\n")),
              StartsWith("p.csv.gz: this is not a gzip file"));
  EXPECT_THAT(read_message(folder, folder.write("t.csv.gz", second.substr(0, second.size() - 3))),
              StartsWith("t.csv.gz: the gzip file is truncated"));
  auto damaged = second;
  damaged[second.size() - 6] = static_cast<char>(~damaged[second.size() - 6]);
  EXPECT_THAT(read_message(folder, folder.write("d.csv.gz", damaged)),
              StartsWith("d.csv.gz: the gzip file is damaged"));
  EXPECT_THAT(read_message(folder, folder.write("g.csv.gz", first + second + "tail")),
              StartsWith("g.csv.gz: the gzip data is followed by other bytes"));
  EXPECT_EQ(read_table(folder.write("z.csv.gz", first + second + std::string(9, '\0'))).rows, 2U);
}

void expect_same(const Table& a, const Table& b) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(names_of(a), names_of(b));
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const Column& x = a.columns[c];
    const Column& y = b.columns[c];
    ASSERT_EQ(x.categorical, y.categorical) << x.name;
    ASSERT_EQ(x.codes, y.codes) << x.name;
    ASSERT_EQ(x.levels, y.levels) << x.name;
    ASSERT_EQ(x.numbers.size(), y.numbers.size());
    for (std::size_t r = 0; r < x.numbers.size(); ++r) {
      ASSERT_TRUE(x.numbers[r] == y.numbers[r] || (x.missing(r) && y.missing(r)));
    }
  }
  for (std::size_t r = 0; r < a.rows; ++r) ASSERT_EQ(a.lines.line_of(r), b.lines.line_of(r));
}

TEST(Csv, EveryChunkSizeAndThreadCountGivesTheSameTable) {
  const Folder folder;
  const std::string text =
      "a,\"b\nb\",c\r\n1,\"x\ny\"\"\n\",2\n\n3,\"\",4\r\n5,z\"z,\"6\"\n \t\n7,\"a,b\" , "
      "008\n9,w,x\n1,2,3";
  const auto path = folder.write("a.csv", text);
  const Table whole = read_table(path);
  EXPECT_EQ(whole.rows, 6U);
  for (std::size_t bytes = 1; bytes <= text.size() + 1; ++bytes) {
    for (const int threads : {1, 3}) {
      ReadOptions options;
      options.chunk_bytes = bytes;
      options.threads = threads;
      expect_same(whole, read_table(path, options));
    }
  }
}

TEST(Csv, ErrorsDoNotDependOnChunks) {
  const Folder folder;
  for (const std::string text : {"a,b\n1,\"x\ny\"\n2\n3,4,5\n", "a,b\n1,2\n3,4\n5,\"6\n7,8\n"}) {
    const auto path = folder.write("a.csv", text);
    const std::string whole = read_message(folder, path);
    ASSERT_FALSE(whole.empty());
    for (std::size_t bytes = 1; bytes <= text.size(); ++bytes) {
      ReadOptions options;
      options.chunk_bytes = bytes;
      EXPECT_EQ(read_message(folder, path, options), whole);
    }
  }
}

std::string quote(const std::string& text) {
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
  return out;
}

TEST(Csv, RandomTablesReadBack) {
  const Folder folder;
  const bool held = rc::check("what is written is read", [&] {
    const auto columns = *rc::gen::inRange<std::size_t>(1, 5);
    const auto rows = *rc::gen::inRange<std::size_t>(1, 20);
    const char delimiter = *rc::gen::element(',', ';', '\t');
    const auto alphabet =
        rc::gen::element('a', 'B', ' ', '"', ',', ';', '\t', '\n', '\r', '7', '.');
    const auto letters =
        rc::gen::map(rc::gen::container<std::string>(alphabet), [](const std::string& s) {
          return s.size() % 3 == 0 ? s + "\xc3\xa9" : s;  // UTF-8 of two bytes
        });
    const auto field = rc::gen::map(letters, [](std::string s) { return fmt::format("t{}", s); });
    std::vector<std::vector<std::string>> cells(rows);
    std::string text;
    for (std::size_t c = 0; c < columns; ++c) {
      if (c > 0) text += delimiter;
      text += quote(fmt::format("n{}{}", c, *letters));
    }
    text += "\n";
    std::vector<std::vector<double>> numbers(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (c > 0) text += delimiter;
        if (c % 2 == 0) {
          cells[r].push_back(*rc::gen::oneOf(field, rc::gen::just(std::string())));
          text += quote(cells[r].back());
        } else {
          cells[r].emplace_back();
          text += fmt::format("{}", *rc::gen::arbitrary<double>());
          cells[r].back() = text.substr(text.rfind(delimiter) + 1);
        }
      }
      text += *rc::gen::element("\n", "\r\n", "\n\n");
    }
    ReadOptions options;
    options.delimiter = delimiter;
    options.header = HeaderLine::present;
    options.chunk_bytes = *rc::gen::inRange<std::size_t>(1, 200);
    const Table t = read_table(folder.write("a.csv", text), options);
    RC_ASSERT(t.rows == rows);
    RC_ASSERT(t.columns.size() == columns);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (c % 2 == 0) {
          RC_ASSERT(t.columns[c].text(r) == cells[r][c]);
        } else {
          RC_ASSERT(t.columns[c].numbers[r] == std::strtod(cells[r][c].c_str(), nullptr));
        }
      }
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace covshift
