// Files read in blocks and in parts hold what the whole file holds.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/random.hpp"
#include "covshift/data/csv_range.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/table_blocks.hpp"
#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::message_of;

/// Every cell as text, with its line.
std::vector<std::string> cells(const Table& table) {
  std::vector<std::string> all;
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::string text = fmt::format("{}:", table.lines.line_of(row));
    for (const Column& column : table.columns) text += column.text(row) + "|";
    all.push_back(std::move(text));
  }
  return all;
}

std::vector<std::string> cells(TableBlocks& blocks, std::size_t& count) {
  std::vector<std::string> all;
  count = 0;
  while (const auto block = blocks.next()) {
    const auto own = cells(*block);
    all.insert(all.end(), own.begin(), own.end());
    ++count;
  }
  return all;
}

/// Quotes with line ends, delimiters and quotes in them, blank lines, CRLF.
std::string hard_csv(std::uint64_t seed, std::size_t rows, bool newlines) {
  Random random(seed);
  std::string text = "a,\"b\nc\",d\n";
  for (std::size_t i = 0; i < rows; ++i) {
    text += fmt::format("{}", random.below(1000));
    const std::vector<std::string> odd = {"plain",
                                          "\"quoted\"",
                                          "\"with \"\"quotes\"\"\"",
                                          " \"blank before\"",
                                          "in\"side",
                                          "\"\"",
                                          "\"a,b\"",
                                          newlines ? "\"two\nlines\"" : "\"x\"",
                                          newlines ? "\"\n,\"\"\n\"\"\"" : "y"};
    text += "," + odd[random.below(odd.size())];
    text += fmt::format(",{:.3f}", random.normal());
    if (random.below(9) == 0) text += "\r";
    text += "\n";
    if (random.below(20) == 0) text += "\n";
  }
  return text;
}

TEST(Blocks, OfAFileAreTheFile) {
  const Folder folder;
  const std::string text = hard_csv(1, 400, true);
  const auto whole = cells(read_table(folder.write("w.csv", text)));
  ASSERT_EQ(whole.size(), 400U);
  for (const std::string& path : {folder.write("w.csv", text), folder.write_gz("w.csv.gz", text)}) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{100}, std::size_t{3000}, std::size_t{1} << 20U}) {
      for (const int threads : {1, 2}) {
        ReadOptions options;
        options.threads = threads;
        TableBlocks blocks(path, options, bytes);
        std::size_t count = 0;
        EXPECT_EQ(cells(blocks, count), whole);
        EXPECT_EQ(count == 1, bytes > text.size());
        if (bytes == 3000) {
          EXPECT_GE(count, 3U);
        }
        blocks.restart(options);
        EXPECT_EQ(cells(blocks, count), whole);
      }
    }
  }
}

TEST(Blocks, TextThatComesLateIsFoundBySummaries) {
  const Folder folder;
  std::string text = "x,y\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("00{},{}\n", i % 7, i % 2);
  text += "few,0\n";
  const std::string path = folder.write("l.csv", text);
  PreparationOptions options;
  options.label = "y";
  ReadOptions read;
  read.text_columns = {"y"};
  read.threads = 1;
  TableBlocks blocks(path, read, 300);
  const auto learn = [&] {
    Summary all;
    Summary::Place place;
    while (const auto block = blocks.next()) {
      all.append(summarise(*block, options, place));
      place.first += block->rows;
    }
    return all;
  };
  EXPECT_THAT(learn().mixed(), ElementsAre("x"));
  read.text_columns.emplace_back("x");
  blocks.restart(read);
  const Summary all = learn();
  EXPECT_THAT(all.mixed(), ElementsAre());
  EXPECT_EQ(Preparation(all, options).encoder().to_json(),
            Preparation(read_table(path, read), options).encoder().to_json());
}

TEST(Blocks, ErrorsNameTheLineOfTheFile) {
  const Folder folder;
  const auto message = [&](const std::string& name, const std::string& text) {
    return message_of(folder, [&] {
      ReadOptions options;
      options.header = HeaderLine::present;
      TableBlocks blocks(folder.write(name, text), options, 64);
      while (blocks.next()) {
      }
    });
  };
  std::string rows = "a,b\n";
  for (int i = 0; i < 100; ++i) rows += "1,2\n";
  EXPECT_THAT(message("r.csv", rows + "1,2,3\n"), HasSubstr("r.csv:102:3: expected 2 fields"));
  EXPECT_THAT(message("q.csv", rows + "1,\"2\n"), HasSubstr("q.csv:102:2: a quote"));
  EXPECT_THAT(message("u.csv", rows + "1,\xff\n"), HasSubstr("u.csv:102:2: byte 1 of the value"));
  EXPECT_THAT(message("e.csv", ""), HasSubstr("e.csv: the file is empty"));
  EXPECT_THAT(message("h.csv", "a,b\n"), HasSubstr("h.csv:2: there are no rows of data"));
  EXPECT_THAT(message("n.npy", "x"), HasSubstr("n.npy: this is not an NPY file"));
}

std::string npy(const std::vector<double>& x, std::size_t rows, std::size_t cols, bool fortran) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': {}, 'shape': ({}, {}), }}",
                                   fortran ? "True" : "False", rows, cols);
  header.resize(117, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double));
}

TEST(Blocks, OfNpy) {
  const Folder folder;
  std::vector<double> x;
  for (int i = 0; i < 60; ++i) x.push_back(i == 17 ? std::nan("") : 0.5 * i);
  const std::string path = folder.write("x.npy", npy(x, 20, 3, false));
  for (const std::size_t bytes : {1, 24 * 7, 100'000}) {
    TableBlocks blocks(path, {}, bytes);
    std::size_t count = 0;
    EXPECT_EQ(cells(blocks, count), cells(read_table(path)));
    EXPECT_EQ(count, bytes == 1 ? 20U : bytes == 24 * 7 ? 3U : 1U);
  }
  EXPECT_THAT(
      message_of(folder, [&] { TableBlocks(folder.write("f.npy", npy(x, 20, 3, true)), {}, 100); }),
      HasSubstr("numpy.ascontiguousarray"));
}

/// One holder of several, which has heard what the others said.
class Told final : public Reducer {
 public:
  Told(std::size_t place, std::size_t holders) : place_(place), holders_(holders) {}
  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    if (piece.empty()) return std::vector<std::string>(holders_);
    said = piece;
    return heard.empty() ? std::vector<std::string>(holders_, piece) : heard;
  }
  [[nodiscard]] std::size_t holder() const override { return place_; }
  std::vector<std::string> heard;
  mutable std::string said;

 private:
  std::size_t place_, holders_;
};

TEST(CsvRange, PartsAreTheFile) {
  const Folder folder;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::string path =
        folder.write("p.csv", hard_csv(seed, seed == 6 ? 2 : 60, seed % 2 == 0));
    ReadOptions options;
    options.text_columns = {"b\nc"};
    const auto whole = cells(read_table(path, options));
    for (const std::size_t parts : {1, 2, 3, 4, 7, 50}) {
      std::vector<std::string> said;
      for (std::size_t k = 0; k < parts; ++k) {
        const Told first(k, parts);
        static_cast<void>(csv_range(path, options, first));
        said.push_back(first.said);
      }
      std::vector<std::string> all;
      for (std::size_t k = 0; k < parts; ++k) {
        Told told(k, parts);
        told.heard = said;
        const Table part = read_csv_range(path, options, csv_range(path, options, told));
        EXPECT_EQ(part.columns.size(), 3U);
        const auto own = cells(part);
        all.insert(all.end(), own.begin(), own.end());
      }
      EXPECT_EQ(all, whole) << "seed " << seed << ", " << parts << " parts";
    }
  }
  EXPECT_THAT(
      message_of(folder,
                 [&] { csv_range(folder.write_gz("p.csv.gz", "a,b\n1,2\n"), {}, Reducer()); }),
      HasSubstr("only a plain UTF-8 file can be read in parts"));
}

}  // namespace
}  // namespace covshift
