#include "covshift/draw/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "tests/draw/support.hpp"

namespace covshift {
namespace {

using testing::HasSubstr;

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<std::uint8_t>(bytes.at(at + i));
  return n;
}

/// Reads a PNG of our kind back, checking its signature, lengths and checksums.
Pixels decoded(const std::string& file) {
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::size_t at = 8;
  std::string header;
  std::string data;
  std::vector<std::string> types;
  while (at < file.size()) {
    const std::uint32_t length = number_at(file, at);
    const std::string type = file.substr(at + 4, 4);
    const std::string body = file.substr(at + 8, length);
    const std::string checked = type + body;
    EXPECT_EQ(
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())),
        number_at(file, at + 8 + length));
    types.push_back(type);
    if (type == "IHDR") header = body;
    if (type == "IDAT") data += body;
    at += 12 + length;
  }
  EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  EXPECT_EQ(header.substr(8), std::string("\x08\x02\0\0\0", 5));
  Pixels out;
  out.width = number_at(header, 0);
  out.height = number_at(header, 4);
  std::string raw(out.height * (1 + 3 * out.width), '\0');
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                       reinterpret_cast<const Bytef*>(data.data()), data.size()),
            Z_OK);
  EXPECT_EQ(size, raw.size());
  std::vector<std::uint8_t> row(3 * out.width, 0);
  for (std::size_t y = 0; y < out.height; ++y) {
    const char* line = raw.data() + y * (1 + 3 * out.width);
    EXPECT_EQ(line[0], 2) << "the filter: up";
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<std::uint8_t>(row[i] + line[1 + i]);
    }
    for (std::size_t x = 0; x < out.width; ++x) {
      out.colours.push_back({row[3 * x], row[3 * x + 1], row[3 * x + 2]});
    }
  }
  return out;
}

TEST(Png, DecodesToTheSamePixels) {
  Random random(4);
  for (const auto& [w, h] : {std::pair{1, 1}, {3, 2}, {2, 3}, {64, 17}}) {
    Pixels pixels{static_cast<std::size_t>(w), static_cast<std::size_t>(h), {}};
    for (int i = 0; i < w * h; ++i) {
      pixels.colours.push_back({static_cast<std::uint8_t>(random.next()),
                                static_cast<std::uint8_t>(random.next()),
                                static_cast<std::uint8_t>(random.next())});
    }
    const Pixels back = decoded(png(pixels));
    EXPECT_EQ(back.width, pixels.width);
    EXPECT_EQ(back.height, pixels.height);
    EXPECT_EQ(back.colours, pixels.colours);
  }
}

TEST(Png, RejectsInvalidImages) {
  EXPECT_THROW(png({0, 0, {}}), Error);
  EXPECT_THROW(png({2, 2, std::vector<Rgb>(3)}), Error);
  EXPECT_THROW(png({2, 2, std::vector<Rgb>(5)}), Error);
}

TEST(Base64, AsInTheRfc) {
  // The test vectors of RFC 4648, and bytes above 127.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xef\xbe"), "/+++");
}

TEST(Svg, IsWellFormedWithEveryShape) {
  Svg svg(200, 100, "all shapes");
  svg.text({1, 2}, "text", {.anchor = Font::Anchor::end, .bold = true, .italic = true});
  svg.text({1, 2}, "up", {.rotate = -90});
  svg.line({0, 0}, {1, 1}, {.stroke = "black", .dash = "4 2", .opacity = 0.5});
  const std::vector<Point> points = {{0, 0}, {1.23456, 2}, {3, -0.0001}};
  svg.polyline(points, {.stroke = "red"});
  svg.polyline(points, {.fill = "red"}, true);
  svg.begin_moved({5, 5});
  svg.begin_clipped({0, 0}, 10, 10);
  svg.circle({5, 5}, 2, {.fill = "blue"});
  svg.ellipse({5, 5}, 2, 1, 30, {.stroke = "blue"});
  svg.end();
  svg.end();
  svg.image({0, 0}, 10, 10, {1, 1, {Rgb{1, 2, 3}}});
  const std::string document = svg.str();
  EXPECT_EQ(xml_fault(document), "");
  EXPECT_THAT(document, HasSubstr("points=\"0,0 1.23,2 3,0\""));
  EXPECT_THAT(document, HasSubstr("text-anchor=\"end\""));
  EXPECT_THAT(document, HasSubstr("rotate(-90 1 2)"));
}

TEST(Svg, HostileTextStaysText) {
  const std::string hostile = R"(</text><script>alert("1")</script> & 'x' ]]> &amp; <!--)";
  Svg svg(10, 10, hostile);
  svg.text({0, 0}, hostile, {.fill = "\"><script>"});
  svg.text({0, 0}, std::string("a\0b\x01\x1f\xff\xc0\xaf\xed\xa0\x80\xe2\x82 \xef\xbf\xbe", 17));
  EXPECT_EQ(xml_fault(svg.str()), "");
  EXPECT_EQ(svg.str().find("<script"), std::string::npos);
}

TEST(Svg, ReplacesInvalidCharacters) {
  EXPECT_EQ(xml_escaped("λ ± 0.1, 漢, 😀"), "λ ± 0.1, 漢, 😀");
  EXPECT_EQ(xml_escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  const std::string none = "\xef\xbf\xbd";
  EXPECT_EQ(xml_escaped(std::string_view("\0", 1)), none);
  EXPECT_EQ(xml_escaped("\xc3"), none);                        // cut short
  EXPECT_EQ(xml_escaped("\xc0\xbc"), none + none);             // '<' in two bytes
  EXPECT_EQ(xml_escaped("\xed\xa0\x80"), none + none + none);  // a surrogate
  EXPECT_EQ(xml_escaped("\xe2\x28\xa1"), none + "(" + none);   // a broken sequence
  EXPECT_EQ(xml_escaped("\xf5\x80\x80\x80"), none + none + none + none);
}

TEST(Svg, RejectsNonFiniteNumbers) {
  Svg svg(10, 10, "");
  EXPECT_THROW(svg.line({0, std::nan("")}, {1, 1}, {}), Error);
  EXPECT_THROW(svg.circle({0, 0}, INFINITY, {}), Error);
  EXPECT_EQ(xml_fault(svg.str()), "") << "nothing of a refused shape stays";
}

TEST(Svg, RejectsUnbalancedGroups) {
  Svg svg(10, 10, "");
  EXPECT_THROW(svg.end(), Error);
  svg.begin_moved({1, 1});
  EXPECT_THROW(svg.str(), Error);
  svg.end();
  EXPECT_EQ(xml_fault(svg.str()), "");
}

TEST(Svg, XmlCheckerFindsFaults) {
  for (const char* bad : {"", "<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&x</a>",
                          "<a/><b/>", "<a b=\"<\"/>", "<a>\x01</a>", "x<a/>"}) {
    EXPECT_NE(xml_fault(bad), "") << bad;
  }
}

TEST(Colours, AreEquallyDarkOnBothSides) {
  // Relative luminance as in WCAG: who sees no hue must not take one class for the other's lack of
  // certainty, and the middle is the lightest.
  const auto luminance = [](Rgb c) {
    const auto linear = [](std::uint8_t v) {
      const double s = v / 255.0;
      return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  };
  for (int i = 0; i < 10; ++i) {
    const double t = 0.05 * i;
    EXPECT_NEAR(luminance(diverging(t)), luminance(diverging(1 - t)), 0.1) << t;
    EXPECT_LT(luminance(diverging(t)), luminance(diverging(t + 0.05))) << t;
    EXPECT_GT(diverging(t).blue, diverging(t).red);
    EXPECT_LT(diverging(1 - t).blue, diverging(1 - t).red);
  }
  EXPECT_EQ(diverging(-1), diverging(0));
  EXPECT_EQ(diverging(7), diverging(1));
  EXPECT_EQ(hex({0, 10, 255}), "#000aff");
}

TEST(Svg, TicksAreRound) {
  EXPECT_EQ(round_ticks(0, 10, 6), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(0.27, 2.24, 4), (std::vector<double>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(round_ticks(-3, 3, 3), (std::vector<double>{-2, 0, 2}));
  for (const double width : {1e-9, 0.3, 7.0, 1e12}) {
    const std::vector<double> ticks = round_ticks(1, 1 + width, 5);
    EXPECT_GE(ticks.size(), 1U);
    EXPECT_LE(ticks.size(), 5U);
  }
  EXPECT_TRUE(round_ticks(1, 1, 5).empty());
  EXPECT_FALSE(std::signbit(round_ticks(0, 10, 6)[0]));
}

}  // namespace
}  // namespace covshift
