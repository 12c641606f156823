// svmlight, ARFF and NPY files.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_message;
using ::testing::StartsWith;

TEST(Svmlight, RowsLabelsCommentsAndQueries) {
  const Folder folder;
  const Table t = read_table(folder.write(
      "a.svm", "# made by hand\n+1 1:0.5 3:2 # first\r\n\n-1 qid:7 4:1e1 2:-3\nspam\n2:1\n"));
  EXPECT_EQ(t.rows, 4U);
  ASSERT_TRUE(t.sparse);
  EXPECT_EQ(t.sparse->cols, 4U);
  EXPECT_EQ(t.index_base, 1);
  EXPECT_THAT(t.sparse->offsets, ElementsAre(0, 2, 4, 4, 5));
  EXPECT_THAT(t.sparse->columns, ElementsAre(0, 2, 1, 3, 1));
  EXPECT_THAT(t.sparse->values, ElementsAre(0.5, 2.0, -3.0, 10.0, 1.0));
  EXPECT_THAT(t.at("label").levels, ElementsAre("+1", "-1", "spam"));
  EXPECT_THAT(t.at("label").codes, ElementsAre(0, 1, 2, -1));
  EXPECT_EQ(t.where(0), t.source + ":2");
  EXPECT_EQ(t.where(3), t.source + ":6");
}

TEST(Svmlight, IndexZeroMeansNumberingFromZero) {
  const Folder folder;
  const auto path = folder.write("a.svmlight", "1 1:5\n0 0:7 2:1\n");
  const Table t = read_table(path);
  EXPECT_EQ(t.index_base, 0);
  EXPECT_EQ(t.sparse->cols, 3U);
  EXPECT_THAT(t.sparse->columns, ElementsAre(1, 0, 2));
  ReadOptions options;
  options.index_base = 1;
  EXPECT_THAT(
      read_message(folder, path, options),
      StartsWith(
          "a.svmlight:2:2: '0:7' has index 0, but the features of this file are numbered from 1"));
  options.index_base = 0;
  EXPECT_EQ(read_table(folder.write("b.libsvm", "1 1:5\n"), options).sparse->cols, 2U);
}

TEST(Svmlight, EveryChunkSizeGivesTheSameTable) {
  const Folder folder;
  const std::string text = "1 1:0.5 3:2\n\n# c\n-1 2:1\r\n1 7:1";
  const auto path = folder.write("a.svm", text);
  const Table whole = read_table(path);
  for (std::size_t bytes = 1; bytes <= text.size(); ++bytes) {
    ReadOptions options;
    options.chunk_bytes = bytes;
    const Table t = read_table(path, options);
    EXPECT_EQ(t.sparse->columns, whole.sparse->columns);
    EXPECT_EQ(t.sparse->offsets, whole.sparse->offsets);
    EXPECT_EQ(t.at("label").codes, whole.at("label").codes);
    EXPECT_EQ(t.where(1), whole.where(1));
  }
}

TEST(Svmlight, Errors) {
  const Folder folder;
  const auto message = [&](const std::string& text) {
    return read_message(folder, folder.write("a.svm", text));
  };
  EXPECT_THAT(message("1 1:2\n1 x:2\n"),
              StartsWith("a.svm:2:2: the index in 'x:2' is not a whole"));
  EXPECT_THAT(message("1 1.5:2\n"), StartsWith("a.svm:1:2: the index in '1.5:2' is not a whole"));
  EXPECT_THAT(message("1 -1:2\n"), StartsWith("a.svm:1:2: the index in '-1:2' is not a whole"));
  EXPECT_THAT(message("1 99999999999:2\n"),
              HasSubstr("is not a whole number from 0 to 2147483646"));
  EXPECT_THAT(message("1 1:2 3:4x\n"),
              StartsWith("a.svm:1:3: the value in '3:4x' is not a number"));
  EXPECT_THAT(message("1 1:\n"), StartsWith("a.svm:1:2: the value in '1:' is not a number"));
  EXPECT_THAT(message("1 1:nan\n"), StartsWith("a.svm:1:2: the value in '1:nan' is not finite"));
  EXPECT_THAT(message("1 5\n"), StartsWith("a.svm:1:2: '5' is not index:value"));
  EXPECT_THAT(message("1 2:1 1:1 2:3\n"), StartsWith("a.svm:1:4: the index 2 occurs twice"));
  EXPECT_THAT(message("# nothing\n\n"), StartsWith("a.svm: the file is empty"));
}

constexpr std::string_view weather =
    "% a comment\n@RELATION 'the weather'\n\n@Attribute 'out look' {sunny, 'over, cast', rainy}\n"
    "@attribute temp REAL\n@attribute \"note\" string\n@attribute\tn\tinteger\n@DATA\n"
    "sunny, 1.5, 'it\\'s, \"fine\"', 3\n% more\n'over, cast',?, ?,4\n";

TEST(Arff, DeclaredAttributes) {
  const Folder folder;
  const Table t = read_table(folder.write("a.arff", weather));
  EXPECT_EQ(t.rows, 2U);
  EXPECT_THAT(t.at("out look").levels, ElementsAre("sunny", "over, cast", "rainy"));
  EXPECT_THAT(t.at("out look").codes, ElementsAre(0, 1));
  EXPECT_EQ(t.at("temp").numbers[0], 1.5);
  EXPECT_TRUE(t.at("temp").missing(1));
  EXPECT_EQ(t.at("note").text(0), "it's, \"fine\"");
  EXPECT_TRUE(t.at("note").missing(1));
  EXPECT_THAT(t.at("n").numbers, ElementsAre(3.0, 4.0));
  EXPECT_EQ(t.where(1, t.at("temp")), t.source + ":11:2");
  ReadOptions options;
  options.text_columns = {"n"};
  EXPECT_EQ(read_table(t.source, options).at("n").text(1), "4");
}

TEST(Arff, SparseRows) {
  const Folder folder;
  const Table t = read_table(folder.write(
      "a.arff",
      "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute c numeric\n@data\n"
      "{0 2.5, 1 v}\n{}\n{ 2 ? , 0 1 }\n1,u,2\n"));
  EXPECT_THAT(t.at("a").numbers, ElementsAre(2.5, 0.0, 1.0, 1.0));
  EXPECT_THAT(t.at("b").codes, ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(t.at("c").numbers[0], 0.0);
  EXPECT_TRUE(t.at("c").missing(2));
  EXPECT_EQ(t.at("c").numbers[3], 2.0);
}

TEST(Arff, TabsSeparateValues) {
  const Folder folder;
  const Table t = read_table(folder.write(
      "a.arff",
      "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1\t2\n3 ,\t4\n 5 \t 6 \n"));
  EXPECT_THAT(t.at("b").numbers, ElementsAre(2.0, 4.0, 6.0));
}

TEST(Arff, Errors) {
  const Folder folder;
  const auto message = [&](const std::string& text) {
    return read_message(folder, folder.write("a.arff", text));
  };
  const std::string head = "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n";
  EXPECT_THAT(message(head + "x,u\n"), StartsWith("a.arff:5:1: 'x' is not a number, but"));
  EXPECT_THAT(message(head + "1,w\n"), StartsWith("a.arff:5:2: 'w' is not one of the values"));
  EXPECT_THAT(message(head + "1\n"), StartsWith("a.arff:5:2: expected 2 fields, found 1"));
  EXPECT_THAT(message(head + "1,u,3\n"), StartsWith("a.arff:5:3: expected 2 fields, found 3"));
  EXPECT_THAT(message(head + "1,'u\n"), StartsWith("a.arff:5:2: a quote is opened here"));
  EXPECT_THAT(message(head + "1,'u' v\n"), StartsWith("a.arff:5:2: 'v' follows a quoted value"));
  EXPECT_THAT(message(head + "{5 1}\n"), StartsWith("a.arff:5:1: '5' is not the index"));
  EXPECT_THAT(message(head + "{0 1, 0 2}\n"), StartsWith("a.arff:5:2: the index 0 occurs twice"));
  EXPECT_THAT(message(head + "{0 1\n"), StartsWith("a.arff:5:1: the sparse row is not closed"));
  EXPECT_THAT(message(head), StartsWith("a.arff:4: there are no rows of data after @data"));
  EXPECT_THAT(message("@relation r\n"), StartsWith("a.arff:1: there is no @data line"));
  EXPECT_THAT(message("@data\n1\n"), StartsWith("a.arff:1:1: there is no @attribute"));
  EXPECT_THAT(message("1,2\n"), StartsWith("a.arff:1:1: '1,2' is not @relation"));
  EXPECT_THAT(message("@attribute a relational\n"),
              StartsWith("a.arff:1:3: the type 'relational' is not"));
  EXPECT_THAT(message("@attribute a {x\n"), StartsWith("a.arff:1:3: the list of values is not"));
  EXPECT_THAT(message("@attribute a real\n@attribute a real\n"),
              StartsWith("a.arff:2:2: the attribute 'a' is declared twice"));
  EXPECT_THAT(message(""), StartsWith("a.arff: the file is empty"));
}

std::string npy(const std::string& dtype, const std::string& shape, std::string_view data,
                bool fortran = false, int version = 1) {
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}\n", dtype,
                                   fortran ? "True" : "False", shape);
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::size_t size = header.size();
  out += static_cast<char>(size & 0xFFU);
  out += static_cast<char>(size >> 8U);
  if (version > 1) out.append(2, '\0');
  return out + header + std::string(data);
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values, bool swap = false) {
  std::string out;
  for (const T value : values) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (swap) std::reverse(bytes.begin(), bytes.end());
    out.append(bytes.data(), bytes.size());
  }
  return out;
}

TEST(Npy, OrdersTypesAndVersions) {
  const Folder folder;
  const auto read = [&](const std::string& bytes) {
    return read_table(folder.write("a.npy", bytes));
  };
  const auto six = bytes_of<double>({1, 2, 3, 4, 5, 6});
  Table t = read(npy("'<f8'", "(2, 3)", six));
  ASSERT_EQ(t.columns.size(), 3U);
  EXPECT_THAT(t.at("c2").numbers, ElementsAre(2.0, 5.0));
  t = read(npy("'<f8'", "(2, 3)", six, true, 2));
  EXPECT_THAT(t.at("c2").numbers, ElementsAre(3.0, 4.0));
  t = read(npy("'<f4'", "(2,)", bytes_of<float>({0.5F, -2.0F}), false, 3));
  EXPECT_THAT(t.at("c1").numbers, ElementsAre(0.5, -2.0));
  EXPECT_THAT(read(npy("'<i8'", "(2, 1)", bytes_of<std::int64_t>({-3, 4}))).at("c1").numbers,
              ElementsAre(-3.0, 4.0));
  EXPECT_THAT(read(npy("'>i2'", "(2,)", bytes_of<std::int16_t>({-3, 400}, true))).at("c1").numbers,
              ElementsAre(-3.0, 400.0));
  EXPECT_THAT(read(npy("'|u1'", "(2,)", bytes_of<std::uint8_t>({3, 200}))).at("c1").numbers,
              ElementsAre(3.0, 200.0));
  EXPECT_THAT(read(npy("'|b1'", "(2,)", bytes_of<std::uint8_t>({0, 1}))).at("c1").numbers,
              ElementsAre(0.0, 1.0));
  EXPECT_EQ(read_table(folder.write_gz("b.npy.gz", npy("'<f8'", "(3, 2)", six))).rows, 3U);
  EXPECT_EQ(t.where(1, t.at("c1")), t.source + ":2:1");
}

TEST(Npy, Errors) {
  const Folder folder;
  const auto message = [&](const std::string& bytes) {
    return read_message(folder, folder.write("a.npy", bytes));
  };
  EXPECT_THAT(message(""), StartsWith("a.npy: the file is empty"));
  EXPECT_THAT(message("1,2\n3,4\n"), StartsWith("a.npy: this is not an NPY file"));
  EXPECT_THAT(message(npy("'|O'", "(2,)", "")), StartsWith("a.npy: arrays of type '|O' are not"));
  EXPECT_THAT(message(npy("'<c16'", "(2,)", "")),
              StartsWith("a.npy: arrays of type '<c16' are not"));
  EXPECT_THAT(message(npy("[('a', '<f8')]", "(2,)", "")),
              StartsWith("a.npy: the array holds records"));
  EXPECT_THAT(message(npy("'<f8'", "(2, 2)", "12345678")), HasSubstr("is truncated"));
  EXPECT_THAT(message(npy("'<f8'", "(99999999999, 9999)", "1")), HasSubstr("is truncated"));
  EXPECT_THAT(message(npy("'<f8'", "(9999999999999999, 9999999999)", "1")),
              HasSubstr("is damaged"));
  EXPECT_THAT(message(npy("'<f8'", "(0, 3)", "")), StartsWith("a.npy: the array is empty (0 x 3)"));
  EXPECT_THAT(message(npy("'<f8'", "(1, 1, 1)", "")),
              StartsWith("a.npy: the array has 3 dimensions"));
  EXPECT_THAT(message(npy("'<f8'", "()", "")), StartsWith("a.npy: the array has 0 dimensions"));
  EXPECT_THAT(message(npy("'<f8'", "(1,)", "", false, 9)), StartsWith("a.npy: NPY version 9"));
  EXPECT_THAT(message(npy("'<f8'", "(x,)", "")), HasSubstr("header of the NPY file is damaged"));
}

}  // namespace
}  // namespace covshift
