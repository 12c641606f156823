// The page as text: what is in it, and that nothing in the data gets out of its place.
#include "covshift/report/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

using Json = nlohmann::ordered_json;

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t first = text.find(open) + open.size();
  return text.substr(first, text.find(close, first) - first);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Report, EscapesAllTexts) {
  if (!report_available()) GTEST_SKIP() << "built without the plotting library";
  const Json data = {{"names",
                      {"</script><script>alert(1)</script>", "<!--<script>", "{{script}}{{data}}",
                       "a\xff\x80z", "\xe2\x80\xa8", "ümläut & \"quotes\" \\ '"}},
                     {"x", 0.1}};
  const std::string page = report_page("diagnose", "<b>title</b>", data);
  const std::string plain = report_page("diagnose", "title", {});
  EXPECT_EQ(count(page, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(page, "<!--"), count(plain, "<!--"));
  EXPECT_EQ(count(page, "<b>title"), 0U);
  const std::string text =
      between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
  EXPECT_EQ(text.find('<'), std::string::npos);
  const Json read = Json::parse(text);
  EXPECT_EQ(read["title"], "<b>title</b>");
  EXPECT_EQ(read["data"]["x"], 0.1);
  for (const std::size_t k : {0, 1, 2, 4, 5}) {
    EXPECT_EQ(read["data"]["names"][k], data["names"][k]);
  }
  EXPECT_EQ(read["data"]["names"][3], "a\xef\xbf\xbd\xef\xbf\xbdz");  // bytes that are no UTF-8
}

TEST(Report, IsSelfContainedOrNamesWhatIsMissing) {
  if (!report_available()) {
    try {
      report_page("diagnose", "t", Json::object());
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("scripts/report_library.sh"), std::string::npos);
    }
    return;
  }
  const std::string page = report_page("diagnose", "t", Json::object());
  EXPECT_LT(page.size(), 1500000U);
  for (const char* loads : {"<script src", "<link", "<img", "<iframe", "@import", "url("}) {
    EXPECT_EQ(count(page.substr(0, page.find("<script>")), loads), 0U) << loads;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("Licensed to the Apache Software Foundation"), std::string::npos);
  EXPECT_EQ(page.find("{{"), page.find("{{", page.find("<script>")));  // no place is left empty
}

}  // namespace
}  // namespace covshift
