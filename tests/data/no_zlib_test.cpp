// The library without zlib (COVSHIFT_ZLIB=OFF): the same source, under another name.
#define ByteSource ByteSourceWithoutZlib
#undef COVSHIFT_ZLIB
#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // a source is included here, not a header
#include "covshift/data/byte_source.cpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace covshift {
namespace {

TEST(WithoutZlib, AGzipFileIsRefusedInWords) {
  try {
    const ByteSourceWithoutZlib source("a.csv.gz", "\x1f\x8b\x08 packed", Encoding::detect);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("gzip files need zlib"));
  }
}

TEST(WithoutZlib, TextInMemoryIsRead) {
  ByteSourceWithoutZlib source("a.csv", "a,b\n1,2\n", Encoding::detect);
  EXPECT_EQ(source.plain_size(), 8U);
  std::string text;
  EXPECT_EQ(source.read(text, 3), 3U);
  EXPECT_EQ(source.read(text, 100), 5U);
  EXPECT_EQ(text, "a,b\n1,2\n");
  source.rewind();
  text.clear();
  source.read(text, 1);
  EXPECT_EQ(text, "a");
}

}  // namespace
}  // namespace covshift
