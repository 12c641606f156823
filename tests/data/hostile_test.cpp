// Reading any bytes gives a table or an Error.
#include <random>

#include "tests/data/support.hpp"

namespace covshift {
namespace {

using testing::Folder;

void read_or_refuse(const std::string& path) {
  ReadOptions options;
  options.chunk_bytes = 32;
  options.threads = 1;
  try {
    const Table table = read_table(path, options);
    for (const Column& column : table.columns) {
      ASSERT_EQ(column.categorical ? column.codes.size() : column.numbers.size(), table.rows);
      for (std::size_t r = 0; r < table.rows; ++r) ASSERT_LE(column.text(r).size(), 1'000'000U);
    }
  } catch (const Error& error) {
    ASSERT_STRNE(error.what(), "");
  }
}

struct Sample {
  std::string name;
  std::string bytes;
};

std::vector<Sample> samples(const Folder& folder) {
  const std::string csv = "a,\"b\n\"\"c\",d\n1,\"x,\ny\",3\r\n2.5,z,NA\n\n,\"\",7e3\n";
  std::string npy = "\x93NUMPY\x01";
  npy += std::string("\0\x3c\0", 3);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  npy += header + "\n" + std::string(16, '\1');
  return {{"s.csv", csv},
          {"s.csv.gz", testing::slurp(folder.write_gz("s.gz", csv))},
          {"s.txt", " 1 2\tx\n 3 \"4 5\" y\n"},
          {"s.svm", "+1 1:2 3:4.5 # c\n-1 qid:3 2:1 1:7\n0 0:1\n"},
          {"s.arff",
           "@relation 'r r'\n@attribute 'a b' {x,'y z'}\n@attribute n real\n@attribute s string\n"
           "@data\nx,1,'q\\'s'\n{0 'y z', 1 2}\n?,?,?\n"},
          {"s.npy", npy}};
}

TEST(Hostile, Truncations) {
  const Folder folder;
  for (const Sample& sample : samples(folder)) {
    read_or_refuse(folder.write(sample.name, sample.bytes));
    for (std::size_t n = 0; n < sample.bytes.size(); ++n) {
      read_or_refuse(folder.write(sample.name, std::string_view(sample.bytes).substr(0, n)));
    }
  }
}

TEST(Hostile, Mutations) {
  const Folder folder;
  std::mt19937_64 random(11);
  const std::string spice = "\"',;:{}@%#?\n\r\t \\0-.e=";
  for (const Sample& sample : samples(folder)) {
    for (int round = 0; round < 400; ++round) {
      std::string bytes = sample.bytes;
      const auto changes = 1 + random() % 4;
      for (std::uint64_t k = 0; k < changes; ++k) {
        const std::size_t at = random() % bytes.size();
        const char c =
            random() % 2 == 0 ? spice[random() % spice.size()] : static_cast<char>(random());
        if (random() % 3 == 0) {
          bytes.insert(at, 1, c);
        } else {
          bytes[at] = c;
        }
      }
      read_or_refuse(folder.write(sample.name, bytes));
    }
  }
}

TEST(Hostile, RandomBytes) {
  const Folder folder;
  std::mt19937_64 random(12);
  for (const Sample& sample : samples(folder)) {
    for (int round = 0; round < 150; ++round) {
      std::string bytes(random() % 300, '\0');
      const bool text = round % 2 == 0;
      for (char& c : bytes)
        c = text ? "ab1,;\"'\n\r {}:.@?"[random() % 16] : static_cast<char>(random());
      // Pass the check of the magic bytes, if there is one.
      if (sample.name == "s.npy" || sample.name == "s.csv.gz") {
        bytes.insert(0, sample.bytes, 0, random() % 12);
      }
      read_or_refuse(folder.write(sample.name, bytes));
    }
  }
}

/// shared/data, if present, is next to the checkout.
std::filesystem::path real_data() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return root.parent_path() / "shared" / "data";
}

TEST(RealData, IsReadCompletely) {
  const auto folder = real_data();
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "there is no shared/data beside the checkout";
  const Table seeds = read_table((folder / "seeds" / "seeds_dataset.txt").string());
  EXPECT_EQ(seeds.rows, 210U);
  EXPECT_EQ(seeds.columns.size(), 8U);
  const Table spam = read_table((folder / "spambase" / "spambase.data").string());
  EXPECT_EQ(spam.rows, 4601U);
  EXPECT_EQ(spam.columns.size(), 58U);
  const Table dat = read_table((folder / "vertebral" / "column_3C.dat").string());
  const Table arff = read_table((folder / "vertebral" / "column_3C_weka.arff").string());
  EXPECT_EQ(dat.rows, 310U);
  EXPECT_EQ(arff.rows, 310U);
  EXPECT_EQ(dat.columns.back().levels.size(), 3U);
  EXPECT_EQ(arff.columns.back().levels.size(), 3U);
  const Table vehicle = read_table((folder / "vehicle" / "xaa.dat").string());
  EXPECT_EQ(vehicle.columns.size(), 19U);
  EXPECT_TRUE(vehicle.columns.back().categorical);
  const Table reuters = read_table((folder / "reuters" / "EN.svm").string());
  EXPECT_EQ(reuters.rows, reuters.sparse->rows);
  EXPECT_EQ(reuters.index_base, 1);
}

}  // namespace
}  // namespace covshift
