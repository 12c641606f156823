#include "covshift/data/encoder.hpp"

#include <nlohmann/json.hpp>

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
  EXPECT_THAT(message(mixed_, "color,x,size\nred,1,9\nred,,9\n,3,9\n"),
              StartsWith("new.csv:3:2: the value of column 'x' is missing; "));
  EXPECT_THAT(message(mixed_, "color,x,size\nred,1,9\n\n?,3,9\nred,,9\n"),
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

TEST_F(EncoderTest, JsonRoundTrip) {
  for (const Encoder& encoder :
       {mixed_, Encoder::fit(read_table(folder_.write("t.svm", "1 0:1 7:2\n")), {})}) {
    const auto json = encoder.to_json();
    const Encoder back = Encoder::from_json(nlohmann::json::parse(json.dump()));
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
    EXPECT_THROW(static_cast<void>(Encoder::from_json(nlohmann::json::parse(text))), Error) << text;
  }
}

}  // namespace
}  // namespace covshift
