#include "covshift/data/encoder.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "covshift/data/column_checks.hpp"
#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;

std::vector<std::string> names_of(const Encoder& encoder) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < encoder.cols(); ++c) names.push_back(encoder.name(c));
  return names;
}

class EncoderTest : public ::testing::Test {
 protected:
  Encoder fit(const std::string& text) {
    return Encoder::fit(read_table(folder_.write("train.csv", text)), {"y"});
  }
  EncodedTable encode(const Encoder& encoder, const std::string& text) {
    return encoder.encode(read_table(folder_.write("new.csv", text), encoder.read_options()));
  }
  std::string message(const Encoder& encoder, const std::string& text) {
    return message_of(folder_, [&] { static_cast<void>(encode(encoder, text)); });
  }

  Folder folder_;
  Encoder mixed_ = fit("x,color,y,size\n1,red,a,10\n2,blue,b,9\n3,red,a,big\n");
};

TEST_F(EncoderTest, NamesAndOrder) {
  EXPECT_THAT(names_of(mixed_),
              ElementsAre("x", "color=blue", "color=red", "size=10", "size=9", "size=big"));
  EXPECT_THAT(mixed_.source_of(), ElementsAre(0, 1, 1, 2, 2, 2));
  const Encoder numeric_levels = Encoder::fit(read_table(folder_.write("a.csv", "g,y\n10,1\n9,2\n"),
                                                         [] {
                                                           ReadOptions options;
                                                           options.text_columns = {"g"};
                                                           return options;
                                                         }()),
                                              {"y"});
  EXPECT_THAT(names_of(numeric_levels), ElementsAre("g=9", "g=10"));
}

TEST_F(EncoderTest, MatchesColumnsByName) {
  const auto out = encode(mixed_, "more,size,color,x\n0,9,red,5\n0,10,blue,6\n");
  EXPECT_THAT(out.matrix.values, ElementsAre(5, 0, 1, 0, 1, 0,  //
                                             6, 1, 0, 1, 0, 0));
  EXPECT_TRUE(out.unseen.empty());
}

TEST_F(EncoderTest, UnseenCategoriesAreZeroAndCounted) {
  const auto out = encode(mixed_, "x,color,size\n1,red,9\n2,green,9\n3,pink,9\n4,green,9\n");
  EXPECT_THAT(std::vector<double>(out.matrix.values.begin() + 6, out.matrix.values.begin() + 12),
              ElementsAre(2, 0, 0, 0, 1, 0));
  ASSERT_EQ(out.unseen.size(), 1U);
  EXPECT_EQ(out.unseen[0].column, "color");
  EXPECT_EQ(out.unseen[0].text, "green");
  EXPECT_EQ(out.unseen[0].line, 3U);
  EXPECT_EQ(out.unseen[0].count, 3U);
}

TEST_F(EncoderTest, CategoriesReadAsNumbersAreFound) {
  const Table t = read_table(folder_.write("new.csv", "x,color,size\n1,red,9\n2,red,10\n"));
  ASSERT_FALSE(t.at("size").categorical);
  EXPECT_THAT(mixed_.encode(t).matrix.values, ElementsAre(1, 0, 1, 0, 1, 0, 2, 0, 1, 1, 0, 0));
}

TEST_F(EncoderTest, NumbersReadAsTextAreNumbers) {
  ReadOptions options;
  options.text_columns = {"x"};
  const Table t = read_table(folder_.write("new.csv", "x,color,size\n01,red,9\n"), options);
  EXPECT_EQ(mixed_.encode(t).matrix.values[0], 1.0);
}

TEST_F(EncoderTest, Errors) {
  EXPECT_THAT(message(mixed_, "x,size\n1,9\n"),
              StartsWith("new.csv: the column 'color' of the training file is missing"));
  EXPECT_THAT(message(mixed_, "size,x,color\n9,1,red\n9,n/a,red\n"),
              StartsWith("new.csv:3:2: 'n/a' is not a number, but the column 'x' is numeric"));
  ColumnOptions strict;
  strict.missing = Missing::error;
  const Table train =
      read_table(folder_.write("s.csv", "x,color,y,size\n1,red,a,10\n2,blue,b,9\n"));
  const Encoder refusing = Encoder::fit(train, {"y"}, strict);
  EXPECT_THAT(message(refusing, "color,x,size\nred,1,9\nred,,9\n,3,9\n"),
              StartsWith("new.csv:3:2: the value of column 'x' is missing; "));
  EXPECT_THAT(message(refusing, "color,x,size\nred,1,9\n\n?,3,9\nred,,9\n"),
              StartsWith("new.csv:4:1: the value of column 'color' is missing; "));
  EXPECT_THAT(message(mixed_, "color,x,size\nred,inf,9\n"),
              StartsWith("new.csv:2:2: the value of column 'x' is infinite; "));
  EXPECT_THAT(message(mixed_, "color,x,size\nred,-1e999,9\n"), HasSubstr("'x' is infinite"));
  EXPECT_THAT(message_of(folder_, [&] { fit("x,z\n1,2\n"); }),
              StartsWith("train.csv: there is no column 'y'; its columns are x, z"));
  EXPECT_THAT(message_of(folder_, [&] { fit("y\n1\n"); }),
              StartsWith("train.csv: there are no columns to learn from"));
  std::string ids = "id,y\n";
  for (int k = 0; k < 10'001; ++k) ids += fmt::format("user{},1\n", k);
  EXPECT_THAT(message_of(folder_, [&] { fit(ids); }),
              HasSubstr("the column 'id' holds 10001 different strings"));
}

TEST_F(EncoderTest, Svmlight) {
  const Table train = read_table(folder_.write("train.svm", "1 1:1 3:2\n2 2:5\n"));
  const Encoder encoder = Encoder::fit(train, {"label"});
  EXPECT_THAT(names_of(encoder), ElementsAre("1", "2", "3"));
  const auto wider = encoder.encode(
      read_table(folder_.write("new.svm", "1 2:1 4:2\n2 9:5\n"), encoder.read_options()));
  EXPECT_EQ(wider.ignored_entries, 2U);
  EXPECT_EQ(wider.matrix.cols, 3U);
  EXPECT_THAT(wider.matrix.offsets, ElementsAre(0, 1, 1));
  EXPECT_THAT(wider.matrix.columns, ElementsAre(1));
  const auto narrower = encoder.encode(read_table(folder_.write("new.svm", "1 1:1\n")));
  EXPECT_EQ(narrower.matrix.cols, 3U);

  const Table zero = read_table(folder_.write("zero.svm", "1 0:1 2:2\n"));
  const Encoder from_zero = Encoder::fit(zero, {"label"});
  EXPECT_THAT(names_of(from_zero), ElementsAre("0", "1", "2"));
  EXPECT_THAT(from_zero.encode(read_table(folder_.write("new.svm", "1 1:1\n"))).matrix.columns,
              ElementsAre(1));
  EXPECT_THAT(
      message_of(folder_, [&] { static_cast<void>(encoder.encode(zero)); }),
      StartsWith(
          "zero.svm:1: index 0 occurs, but the features of the training file are numbered from 1"));
  EXPECT_THAT(
      message_of(folder_, [&] { static_cast<void>(mixed_.encode(zero)); }),
      StartsWith("zero.svm: this file is svmlight, but the training file has named columns"));
}

TEST_F(EncoderTest, MissingValuesAreFilledFromTrainingAndIndicated) {
  const std::string train = "x,color,y\n1,red,a\n,blue,b\n5,red,a\n3,,b\n";
  const Encoder indicating = fit(train);
  EXPECT_THAT(names_of(indicating),
              ElementsAre("x", "x missing", "color=blue", "color=red", "color missing"));
  const auto out = encode(indicating, "x,color\nNA,?\n2,blue\n");
  EXPECT_THAT(out.matrix.values, ElementsAre(3, 1, 0, 0, 1,  // the median of 1, 3, 5
                                             2, 0, 1, 0, 0));
  ColumnOptions options;
  options.missing = Missing::impute;
  const Encoder filling = Encoder::fit(read_table(folder_.write("i.csv", train)), {"y"}, options);
  EXPECT_THAT(names_of(filling), ElementsAre("x", "color=blue", "color=red"));
  EXPECT_THAT(encode(filling, "x,color\nNA,?\n").matrix.values, ElementsAre(3, 0, 1));
  // Missing only later: filled, and counted.
  const auto later = encode(mixed_, "x,color,size\n,red,9\n7,,9\n");
  EXPECT_THAT(later.matrix.values, ElementsAre(2, 0, 1, 0, 1, 0,  //
                                               7, 0, 1, 0, 1, 0));
  ASSERT_EQ(later.absent.size(), 2U);
  EXPECT_EQ(later.absent[0].column, "x");
  EXPECT_EQ(later.absent[0].count, 1U);
  const Encoder back = Encoder::from_json(indicating.to_json(), indicating.cols());
  EXPECT_EQ(encode(back, "x,color\nNA,?\n2,blue\n").matrix.values, out.matrix.values);
}

TEST_F(EncoderTest, MissingNumbersOfAMatrixAreTreatedAsThoseOfATable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x = {1, 2, nan, 4, 5, 6, 3, 9};
  const MatrixView view = MatrixView::dense(x.data(), 4, 2);
  const Encoder encoder = Encoder::fit(view, {"a", "b"}, Missing::indicator);
  EXPECT_THAT(names_of(encoder), ElementsAre("a", "a missing", "b"));
  const auto matrix = encoder.encode(view);
  ASSERT_TRUE(matrix.has_value());
  EXPECT_THAT(matrix->matrix.values, ElementsAre(1, 0, 2, 3, 1, 4, 5, 0, 6, 3, 0, 9));
  const Encoder table = fit("a,b,y\n1,2,u\n,4,v\n5,6,u\n3,9,v\n");
  EXPECT_EQ(encode(table, "a,b\n1,2\n,4\n5,6\n3,9\n").matrix.values, matrix->matrix.values);
  // Nothing is copied where nothing is missing.
  const Encoder full = Encoder::fit(MatrixView::dense(x.data(), 1, 2), {}, Missing::indicator);
  EXPECT_FALSE(full.encode(MatrixView::dense(x.data() + 4, 2, 2)).has_value());
}

TEST_F(EncoderTest, RowsWithWhatTrainingNeverSawAreCountedOnce) {
  const Encoder encoder = fit("a,b,c,y\n1,2,u,0\n,4,v,1\n5,6,u,0\n3,9,v,1\n");
  const auto unlike = [&](const std::string& text) { return encode(encoder, text).unlike; };
  EXPECT_EQ(unlike("a,b,c\n1,2,u\n,4,v\n"), 0U);        // a was missing in training
  EXPECT_EQ(unlike("a,b,c\n1,,u\n,4,v\n"), 1U);         // b never was
  EXPECT_EQ(unlike("a,b,c\n1,,w\n,4,w\n5,6,u\n"), 2U);  // w is new
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x = {1, 2, nan, 4};
  const Encoder numbers = Encoder::fit(MatrixView::dense(x.data(), 2, 2), {}, Missing::indicator);
  const std::vector<double> other = {nan, nan, 3, nan, 5, 6};
  EXPECT_EQ(numbers.encode(MatrixView::dense(other.data(), 3, 2))->unlike, 2U);
  // Names of rows are new in every file.
  std::string many = "id,x,y\n";
  for (int i = 0; i < 60; ++i) many += fmt::format("r{},{},{}\n", i, i % 7, i % 2);
  const Encoder named = fit(many);
  EXPECT_EQ(encode(named, "id,x\ns1,1\ns2,2\n").unlike, 0U);
}

TEST_F(EncoderTest, DatesBecomeNumbersInTheOrderOfTheColumn) {
  ColumnOptions options;
  options.dates = {"d"};
  ReadOptions read;
  read.text_columns = {"d"};
  const auto train = [&](const std::string& text) {
    return Encoder::fit(read_table(folder_.write("d.csv", text), read), {"y"}, options);
  };
  const Encoder encoder = train("d,y\n1970-01-01,a\n2024-02-29T12:00:00Z,b\n");
  EXPECT_THAT(names_of(encoder), ElementsAre("d:year", "d:month", "d:weekday", "d:days"));
  EXPECT_THAT(encode(encoder, "d\n2024-02-29 12:00\n").matrix.values,
              ElementsAre(2024, 2, 3, 19782.5));  // a Thursday
  // 13 cannot be a month, so the others are days first, too.
  const Encoder days_first = train("d,y\n02.03.2020,a\n13.01.2020,b\n");
  EXPECT_EQ(encode(days_first, "d\n02.03.2020\n").matrix.values[1], 3);
  const Encoder months_first = train("d,y\n02/03/2020,a\n01/13/2020,b\n");
  EXPECT_EQ(encode(months_first, "d\n02/03/2020\n").matrix.values[1], 2);
  EXPECT_THAT(message(encoder, "d\n29.02.2024\n"),
              HasSubstr("new.csv:2:1: '29.02.2024' is not a date written as in training"));
  EXPECT_THAT(message_of(folder_, [&] { train("d,y\n2020-02-30,a\n2020-01-01,b\n"); }),
              HasSubstr("d.csv:2:1: column 'd' should hold dates, but '2020-02-30' is not one"));
}

TEST_F(EncoderTest, NumbersAreReadAsPeopleWriteThem) {
  ColumnOptions options;
  options.numeric = {"p"};
  const auto train = [&](const std::string& text) {
    return Encoder::fit(read_table(folder_.write("n.csv", text)), {"y"}, options);
  };
  const Encoder commas = train("p;y\n1,5;a\n1.234,25;b\n-7;a\n");
  EXPECT_THAT(encode(commas, "p;q\n1.000,5;0\n2;0\n").matrix.values, ElementsAre(1000.5, 2));
  const Encoder thousands = train("p,y\n\"1,500\",a\n\"12,345.5\",b\n");
  EXPECT_THAT(encode(thousands, "p,q\n\"2,000\",0\n").matrix.values, ElementsAre(2000));
  EXPECT_THAT(message_of(folder_, [&] { train("p,y\n1,a\nfew,b\n"); }),
              HasSubstr("n.csv:3:1: 'few' is not a number, but column 'p' was said to be numeric"));
}

TEST_F(EncoderTest, CategoriesThatNeedMuchMemoryAreNamed) {
  Table table;
  table.source = "t.csv";
  table.rows = 20000;
  Column column;
  column.name = "shop";
  column.categorical = true;
  for (int k = 0; k < 4000; ++k) column.levels.push_back(fmt::format("s{}", k));
  for (int row = 0; row < 20000; ++row) column.codes.push_back(row % 4000);
  table.columns.push_back(column);
  EXPECT_THAT(
      column_warnings(Summary(table, {}, {}), Encoder::fit(table, {})),
      ElementsAre("t.csv: column 'shop' has 4000 categories, each of which becomes a column: the "
                  "20000 rows take 0.6 GB; group the rare ones, or leave it out (--drop shop)"));
  table.rows = 8000;
  table.columns[0].codes.resize(8000);
  EXPECT_THAT(column_warnings(Summary(table, {}, {}), Encoder::fit(table, {})), ElementsAre());
}

TEST_F(EncoderTest, FewEntriesOfManyFeaturesTakeFewColumns) {
  const Encoder encoder =
      Encoder::fit(read_table(folder_.write("w.svm", "1 5:1 2147483646:2\n0 7:3\n")), {"label"});
  EXPECT_THAT(names_of(encoder), ElementsAre("5", "7", "2147483646"));
  const auto out = encoder.encode(
      read_table(folder_.write("v.svm", "0 6:9 7:4 2147483646:5\n"), encoder.read_options()));
  EXPECT_THAT(out.matrix.columns, ElementsAre(1, 2));
  EXPECT_EQ(out.ignored_entries, 1U);
}

TEST_F(EncoderTest, JsonRoundTrip) {
  for (const Encoder& encoder :
       {mixed_, fit("x,c,y\n1,u,a\n,v,b\n"),
        Encoder::fit(read_table(folder_.write("t.svm", "1 0:1 7:2\n")), {})}) {
    const auto json = encoder.to_json();
    const Encoder back = Encoder::from_json(nlohmann::json::parse(json.dump()), encoder.cols());
    EXPECT_EQ(back.to_json(), json);
    EXPECT_EQ(names_of(back), names_of(encoder));
    EXPECT_EQ(back.source_of(), encoder.source_of());
  }
}

TEST(EncoderJson, RejectsMalformedInput) {
  const Folder folder;
  for (const char* text :
       {"{}", "[]", "null", R"({"format": "columns"})", R"({"format": "other"})",
        R"({"format": "columns", "columns": []})", R"({"format": "columns", "columns": [{}]})",
        R"({"format": "columns", "columns": [{"name": 3}]})",
        R"({"format": "columns", "columns": [{"name": "a"}, {"name": "a"}]})",
        R"({"format": "columns", "columns": [{"name": "a", "levels": ["u", "u"]}]})",
        R"({"format": "columns", "columns": [{"name": "a", "levels": "u"}]})",
        R"({"format": "svmlight", "features": -1, "index_base": 1})",
        R"({"format": "svmlight", "features": 5, "index_base": 2})",
        R"({"format": "svmlight", "features": 5.5, "index_base": 1})"}) {
    EXPECT_THROW(static_cast<void>(Encoder::from_json(nlohmann::json::parse(text), 100)), Error)
        << text;
  }
}

}  // namespace
}  // namespace covshift
