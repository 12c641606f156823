#include "covshift/data/views.hpp"

#include <nlohmann/json.hpp>

#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using testing::message_of;
using ::testing::StartsWith;

class ViewsTest : public ::testing::Test {
 protected:
  Views read(const std::string& text) {
    return Views::from_file(folder_.write("v.txt", text), encoder_);
  }
  std::string message(const std::string& text) {
    return message_of(folder_, [&] { static_cast<void>(read(text)); });
  }
  Folder folder_;
  Encoder encoder_ = Encoder::fit(
      read_table(folder_.write("a.csv", "w1,w2,color,\"a,b\",x*\n1,2,red,3,4\n1,2,blue,3,4\n")),
      {});
};

TEST_F(ViewsTest, AllAndEach) {
  const Views all = Views::parse("all", encoder_);
  EXPECT_THAT(all.names, ElementsAre("all"));
  EXPECT_THAT(all.columns, ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_EQ(all.cols(), 6U);
  const Views each = Views::parse("each", encoder_);
  EXPECT_THAT(each.names, ElementsAre("w1", "w2", "color", "a,b", "x*"));
  EXPECT_THAT(each.columns, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3),
                                        ElementsAre(4), ElementsAre(5)));
}

TEST_F(ViewsTest, FilesWithWildcards) {
  const Views v = read("# views\n words = w*  # both\r\n\nlook=c?lor, \"a,b\", x*\n");
  EXPECT_THAT(v.names, ElementsAre("words", "look"));
  EXPECT_THAT(v.columns, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4, 5)));
  const Views rest = read("words = w1, w1");
  EXPECT_THAT(rest.names, ElementsAre("words", "rest"));
  EXPECT_THAT(rest.columns, ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4, 5)));
  const Views named = read("rest = w1\nb = w2\n");
  EXPECT_THAT(named.names, ElementsAre("rest", "b"));
  EXPECT_THAT(named.columns, ElementsAre(ElementsAre(0, 2, 3, 4, 5), ElementsAre(1)));
  EXPECT_THAT(read("every = *\n").columns, ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST_F(ViewsTest, AColumnMayBeInSeveralViews) {
  const Views v = read("a = w1\n\nb = color, w*\n");
  EXPECT_THAT(v.names, ElementsAre("a", "b", "rest"));
  EXPECT_THAT(v.columns, ElementsAre(ElementsAre(0), ElementsAre(0, 1, 2, 3), ElementsAre(4, 5)));
}

TEST_F(ViewsTest, MapsFollowAColon) {
  const Views v = read("a = w1, \"a,b\" : nystroem:20 + linear # both\nb = w2, color\n");
  EXPECT_THAT(v.maps, ElementsAre("nystroem:20 + linear", "", ""));
  EXPECT_THAT(v.columns[0], ElementsAre(0, 4));
  EXPECT_EQ(message("a = w1 : nystrom\n"),
            "v.txt:1: the map must be linear, quadratic, splines, fourier, nystroem or auto, not "
            "'nystrom'; did you mean 'nystroem'?");
  EXPECT_THAT(message("a = w1 :\n"), StartsWith("v.txt:1: no map follows the colon"));
  // Without a blank, or in quotes, a colon is part of the name.
  EXPECT_THAT(message("a = w:1\n"), StartsWith("v.txt:1: there is no feature 'w:1'"));
  EXPECT_THAT(message("a = \"w :1\"\n"), StartsWith("v.txt:1: there is no feature 'w :1'"));
  EXPECT_EQ(Views::from_groups(
                {{"a", {"w1", "a,b"}, "nystroem:20 + linear"}, {"b", {"w2", "color"}}}, encoder_),
            v);
}

TEST_F(ViewsTest, GroupsEqualAFile) {
  const Views file = read("words = w*\nlook = c?lor, \"a,b\", x*\n");
  EXPECT_EQ(Views::from_groups({{"words", {"w*"}}, {"look", {"c?lor", "a,b", "x*"}}}, encoder_),
            file);
  EXPECT_THAT(Views::from_groups({{"one", {"w1"}}}, encoder_).names, ElementsAre("one", "rest"));
  const auto fails = [&](const Views::Groups& groups) {
    return message_of(folder_, [&] { static_cast<void>(Views::from_groups(groups, encoder_)); });
  };
  EXPECT_THAT(fails({}), StartsWith("views: there is no view"));
  EXPECT_THAT(fails({{"a", {}}}), StartsWith("views:1: the view names no columns"));
  EXPECT_THAT(fails({{"a", {"z"}}}), StartsWith("views:1: there is no feature 'z'"));
}

TEST_F(ViewsTest, Errors) {
  EXPECT_THAT(message("a = w1\nb = nope\n"), StartsWith("v.txt:2: there is no feature 'nope'"));
  EXPECT_THAT(message("a = z*\n"), StartsWith("v.txt:1: there is no feature 'z*'"));
  EXPECT_THAT(message("a = \"w*\"\n"), StartsWith("v.txt:1: there is no feature 'w*'"));
  EXPECT_THAT(message("a = w1\na = w2\n"), StartsWith("v.txt:2: the view 'a' is defined twice"));
  EXPECT_THAT(message("w1, w2\n"), StartsWith("v.txt:1: there is no = in this line"));
  EXPECT_THAT(message("a =\n"), StartsWith("v.txt:1: the view names no columns"));
  EXPECT_THAT(message(" = w1\n"), StartsWith("v.txt:1: the view has no name"));
  EXPECT_THAT(message("a = \"w1\n"), StartsWith("v.txt:1: a quote (\") is opened and not closed"));
  EXPECT_THAT(message("a = \"w1\" x\n"), StartsWith("v.txt:1: text follows a closing quote"));
  EXPECT_THAT(message("# none\n"), StartsWith("v.txt: the file holds no view"));
  EXPECT_THAT(message_of(folder_, [&] { Views::parse(folder_.path("none"), encoder_); }),
              StartsWith("none: there is no such file"));
}

TEST_F(ViewsTest, FilesOfTheFirstVersionHaveAViewForEachColumn) {
  const Views v =
      Views::from_json(nlohmann::json::parse(R"({"names": ["a", "b"], "view_of": [1, 0, 1]})"));
  EXPECT_THAT(v.columns, ElementsAre(ElementsAre(1), ElementsAre(0, 2)));
  EXPECT_THAT(v.maps, ElementsAre("", ""));
}

TEST_F(ViewsTest, JsonRoundTrip) {
  const Views v = read("words = w* : splines:3\ntoo = w1");
  EXPECT_EQ(Views::from_json(nlohmann::json::parse(v.to_json().dump())), v);
  for (const char* text :
       {"{}", R"({"names": [], "view_of": []})", R"({"names": ["a"], "view_of": [1]})",
        R"({"names": ["a"], "view_of": [-1]})", R"({"names": ["a", "a"], "view_of": [0, 1]})",
        R"({"names": "a", "view_of": [0]})", R"({"names": ["a"], "columns": [[0]]})",
        R"({"names": ["a"], "columns": [[1]], "maps": [""]})",
        R"({"names": ["a"], "columns": [[0, 0]], "maps": [""]})",
        R"({"names": ["a"], "columns": [[-1, 0]], "maps": [""]})",
        R"({"names": ["a"], "columns": [[0, 2147483647]], "maps": [""]})",
        R"({"names": ["a"], "columns": [[0], [1]], "maps": ["", ""]})"}) {
    EXPECT_THROW(Views::from_json(nlohmann::json::parse(text)), Error) << text;
  }
}

}  // namespace
}  // namespace covshift
