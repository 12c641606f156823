#include "covshift/data/labels.hpp"
#include "covshift/data/summary.hpp"

#include <nlohmann/json.hpp>

#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using testing::message_of;
using ::testing::StartsWith;

Table labelled(const Folder& folder, const std::string& labels) {
  ReadOptions options;
  options.text_columns = {"y"};
  options.header = HeaderLine::present;
  return read_table(folder.write("a.csv", "x,y\n" + labels), options);
}

Classes classes_of(const Table& table) {
  std::vector<std::string> labels;
  const Summary summary(table, {"y", "", {}, {}}, {});
  for (const auto& level : summary.label()->levels) labels.push_back(level.text);
  return Classes::fit(labels);
}

TEST(Classes, AreSortedStrings) {
  const Folder folder;
  EXPECT_THAT(classes_of(labelled(folder, "1,b\n1,a\n1,10\n1,b\n")).names(),
              ElementsAre("10", "a", "b"));
  EXPECT_THAT(classes_of(labelled(folder, "1,10\n1,9\n1,-1\n")).names(),
              ElementsAre("-1", "9", "10"));
}

TEST(Classes, SpellingsOfANumberAreOneClass) {
  const Folder folder;
  const Table t = labelled(folder, "1,1.0\n1,+1\n1,0\n1,1\n1,-0.0\n1,01\n");
  const Classes classes = classes_of(t);
  EXPECT_THAT(classes.names(), ElementsAre("0", "1.0"));
  EXPECT_THAT(classes.codes(t, "y").codes, ElementsAre(1, 1, 0, 1, 0, 1));
  EXPECT_EQ(classes.index_of("1e0"), 1);
  EXPECT_EQ(classes.index_of("one"), -1);
  // Long identifiers are distinct although they are the same double.
  EXPECT_EQ(classes_of(labelled(folder, "1,9007199254740993\n1,9007199254740992\n")).size(), 2U);
}

TEST(Classes, UnknownAndMissingLabels) {
  const Folder folder;
  const Classes classes = Classes::from_names({"a", "b"});
  const Table t = labelled(folder, "1,b\n1,c\n1,\n1,c\n1,a\n");
  const LabelCodes codes = classes.codes(t, "y");
  EXPECT_THAT(codes.codes, ElementsAre(1, -1, -1, -1, 0));
  ASSERT_EQ(codes.unknown.size(), 2U);
  EXPECT_EQ(codes.unknown[0].text, "c");
  EXPECT_EQ(codes.unknown[0].line, 3U);
  EXPECT_EQ(codes.unknown[0].row, 1U);
  EXPECT_EQ(codes.unknown[0].count, 2U);
  EXPECT_EQ(codes.unknown[1].text, "");
  EXPECT_THAT(message_of(folder, [&] { classes_of(t); }),
              StartsWith("a.csv:4:2: the label (column 'y') is missing; "));
}

TEST(Classes, NumericColumnsWorkToo) {
  const Folder folder;
  const Table t = read_table(folder.write("b.csv", "x,y\n1,2\n1,1.5\n1,2.0\n"));
  const Classes classes = classes_of(t);
  EXPECT_THAT(classes.names(), ElementsAre("1.5", "2"));
  EXPECT_THAT(classes.codes(t, "y").codes, ElementsAre(1, 0, 1));
}

TEST(Classes, JsonRoundTrip) {
  const Classes classes = Classes::from_names({"b", "a", "1.0"});
  EXPECT_EQ(Classes::from_json(nlohmann::json::parse(classes.to_json().dump())).names(),
            classes.names());
  for (const char* text : {"{}", "[]", "[1]", R"(["1", "1.0"])", "null"}) {
    EXPECT_THROW(Classes::from_json(nlohmann::json::parse(text)), Error) << text;
  }
}

}  // namespace
}  // namespace covshift
