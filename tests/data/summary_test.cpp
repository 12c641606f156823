// What is learned from several parts of a table is what is learned from the whole.
#include "covshift/data/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "covshift/base/number.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/preparation.hpp"
#include "tests/data/support.hpp"

namespace covshift {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::message_of;

/// The lines of a file, without its header, cut at some rows.
std::vector<std::string> cut(const std::vector<std::string>& lines,
                             const std::vector<std::size_t>& at) {
  std::vector<std::string> parts(at.size() + 1);
  for (std::size_t row = 0, part = 0; row < lines.size(); ++row) {
    while (part < at.size() && row >= at[part]) ++part;
    parts[part] += lines[row] + "\n";
  }
  return parts;
}

/// Uneven parts, some of them empty.
std::vector<std::vector<std::size_t>> cuts(std::size_t rows) {
  return {{}, {rows / 3}, {0, 1, rows - 2}, {3, 3, rows / 7, rows / 2, rows / 2 + 1, rows}};
}

/// Reads parts as files with the same header; those whose columns are mixed a second time.
Summary summary_of_parts(const Folder& folder, const std::string& header,
                         const std::vector<std::string>& parts, const PreparationOptions& options,
                         ReadOptions read, bool total_known) {
  read.header = HeaderLine::present;
  for (int again = 0; again < 2; ++again) {
    std::vector<Table> tables;
    Summary::Place place;
    for (const std::string& part : parts) {
      if (part.empty()) {  // no file has no rows: a table as an empty partition gives it
        tables.emplace_back();
        tables.back().source = "empty";
        for (const Column& column :
             read_table(folder.write("h.csv", header + "\n" + parts.back() + parts.front() +
                                                  parts[parts.size() / 2]),
                        read)
                 .columns) {
          tables.back().columns.push_back({column.name, false, {}, {}, {}});
        }
      } else {
        tables.push_back(read_table(folder.write("p.csv", header + "\n" + part), read));
      }
      place.total += tables.back().rows;
    }
    if (!total_known) place.total = 0;
    Summary all;
    for (const Table& table : tables) {
      // As it travels between processes.
      all.append(Summary::from_bytes(summarise(table, options, place).to_bytes()));
      place.first += table.rows;
    }
    if (all.mixed().empty()) return all;
    EXPECT_EQ(again, 0);
    const auto mixed = all.mixed();
    read.text_columns.insert(read.text_columns.end(), mixed.begin(), mixed.end());
  }
  return {};
}

struct Example {
  std::string header = "id,x,city,late,gap,key,when,cash,always,y";
  std::vector<std::string> lines;
  PreparationOptions options;
  ReadOptions read;

  explicit Example(std::size_t rows) {
    Random random(5);
    for (std::size_t i = 0; i < rows; ++i) {
      // `late` holds text in one row near the end; one city and one class occur in one row.
      lines.push_back(fmt::format(
          "{},{:.6f},{},{},{},{},20{:02}-0{}-11,\"{}{},5\",7,{}", i, random.normal(),
          i == rows - 3 ? "Ulm" : std::array{"Kiel", "Bonn", "Jena"}[random.below(3)],
          i == rows - 2 ? "none" : fmt::format("00{}", i % 5),
          random.below(4) == 0 ? "NA" : fmt::format("{}", random.below(1000)),
          fmt::format("k{}", i), random.below(30), 1 + random.below(9), random.below(9),
          random.below(10), i == 4 ? "rare" : std::array{"1", "0", "1.0"}[random.below(3)]));
    }
    options.label = "y";
    options.columns.dates = {"when"};
    options.columns.numeric = {"cash"};
    read.text_columns = {"y", "when"};
  }
};

TEST(Summary, OfPartsIsThatOfTheWhole) {
  const Folder folder;
  const Example example(300);
  ReadOptions read = example.read;
  read.header = HeaderLine::present;
  const Table whole =
      read_table(folder.write("p.csv", example.header + "\n" + cut(example.lines, {})[0]), read);
  const Preparation expected(whole, example.options);
  EXPECT_EQ(expected.classes().names(), (std::vector<std::string>{"0", "1.0", "rare"}));
  const std::vector<std::string> warnings = expected.encode_training(whole).warnings;
  EXPECT_EQ(warnings.size(), 3U);  // id, late, key; fit() tells of always
  for (const auto& at : cuts(example.lines.size())) {
    for (const bool total_known : {false, true}) {
      const Summary all = summary_of_parts(folder, example.header, cut(example.lines, at),
                                           example.options, example.read, total_known);
      EXPECT_EQ(all.rows, 300U);
      const Preparation found(all, example.options);
      EXPECT_EQ(found.encoder().to_json(), expected.encoder().to_json());
      EXPECT_EQ(found.classes().names(), expected.classes().names());
      EXPECT_EQ(found.missing_report(), expected.missing_report());
      EXPECT_EQ(found.id_columns(), expected.id_columns());
      std::vector<std::string> found_warnings = found.encode_training(whole).warnings;
      // Lines are those of the part's own file.
      for (std::string& text : found_warnings) {
        if (text.find("'late'") == std::string::npos) continue;
        EXPECT_THAT(text, HasSubstr("holds numbers, but 'none' is not one; all of its 6 values"));
        text = warnings[1];
      }
      EXPECT_EQ(found_warnings, warnings);
    }
  }
}

TEST(Summary, MediansOfLongColumnsDoNotDependOnTheParts) {
  const std::size_t rows = 3 * Summary::median_rows + 17;
  Table table;
  table.source = "t";
  table.columns.push_back({"x", false, {}, {}, {}});
  Random random(1);
  for (std::size_t i = 0; i < rows; ++i) {
    table.columns[0].numbers.push_back(random.below(3) == 0 ? std::nan("") : random.normal());
  }
  table.rows = rows;
  const auto encoder = Encoder::fit(table, {}).to_json();
  EXPECT_LT(std::abs(encoder["columns"][0]["fill"].get<double>()), 0.05);
  EXPECT_NE(encoder["columns"][0]["fill"].get<double>(), 0);
  const auto summary_of = [&](std::size_t first, std::size_t last, std::size_t total) {
    Table part = table;
    part.rows = last - first;
    part.columns[0].numbers = {
        table.columns[0].numbers.begin() + static_cast<std::ptrdiff_t>(first),
        table.columns[0].numbers.begin() + static_cast<std::ptrdiff_t>(last)};
    return Summary(part, {}, {first, total});
  };
  for (const std::size_t total : {std::size_t{0}, rows}) {
    Summary all;
    std::size_t done = 0;
    for (const std::size_t end : {std::size_t{1}, std::size_t{7}, rows / 2, rows - 30'001, rows}) {
      const Summary part = summary_of(done, end, total);
      if (total > 0) {
        EXPECT_LE(part.columns[0].numbers.size(), (end - done) / 4 + 1);
      }
      all.append(part);
      done = end;
    }
    EXPECT_LE(all.columns[0].numbers.size(), Summary::median_rows);
    EXPECT_EQ(Encoder::fit(all, Missing::indicator).to_json(), encoder);
  }
}

TEST(Summary, TheFirstDateThatIsWrittenAnotherWayIsNamed) {
  const Folder folder;
  PreparationOptions options;
  options.columns.dates = {"when"};
  ReadOptions read;
  read.header = HeaderLine::present;
  read.text_columns = {"when"};
  // The first may be read either way, the third only with the day first, the fifth only with the
  // month first.
  const std::vector<std::string> lines = {"0,01/02/2020", "0,",           "0,31/01/2020",
                                          "0,05/06/2021", "0,02/28/2020", "0,soon"};
  for (const auto& at : std::vector<std::vector<std::size_t>>{
           {}, {1}, {2}, {3}, {4}, {1, 2, 3, 4, 5}, {2, 4}, {0, 5}}) {
    EXPECT_THAT(message_of(folder,
                           [&] {
                             const Summary all = summary_of_parts(folder, "x,when", cut(lines, at),
                                                                  options, read, false);
                             const Preparation found(all, options);
                           }),
                HasSubstr("column 'when' should hold dates, but '02/28/2020' is not one, or their "
                          "days and months are mixed"));
  }
}

TEST(Summary, OfAMatrix) {
  std::vector<double> x;
  Random random(2);
  for (int i = 0; i < 90; ++i) x.push_back(i % 7 == 0 ? std::nan("") : random.normal());
  const auto rows = [&](std::size_t first, std::size_t last) {
    return MatrixView::dense(x.data() + 3 * first, last - first, 3);
  };
  PreparationOptions options;
  options.classes = {"a", "b"};
  Summary all = summarise(rows(0, 0), options);
  all.append(summarise(rows(0, 19), options));
  all.append(summarise(rows(19, 30), options, {19, 0}));
  const Preparation found(all, options);
  EXPECT_EQ(found.encoder().to_json(), Preparation(rows(0, 30), options).encoder().to_json());
  EXPECT_THAT(found.classes().names(), ElementsAre("a", "b"));
  EXPECT_EQ(found.encoder().missing_count(0) + found.encoder().missing_count(1) +
                found.encoder().missing_count(2),
            13U);
}

TEST(Summary, OfSvmlightPartsThatAreNumberedFromZeroAndOne) {
  const Folder folder;
  const auto table = [&](const std::string& text) {
    return read_table(folder.write("a.svm", text));
  };
  PreparationOptions options;
  options.label = "label";
  const std::vector<std::string> parts = {"1 2:1 5:1\n", "0 0:3 70000:1\n", "1 4:1\n"};
  const Preparation whole(table(parts[0] + parts[1] + parts[2]), options);
  Summary all;
  for (std::size_t k = 0; k < 3; ++k) all.append(summarise(table(parts[k]), options, {k, 3}));
  const Preparation found(all, options);
  EXPECT_EQ(found.encoder().to_json(), whole.encoder().to_json());
  EXPECT_EQ(found.encoder().cols(), 5U);
  EXPECT_EQ(found.encode(table(parts[0])).features.cols, 5U);
}

TEST(Summary, IdentifiersAreFoundInAnyNumberOfRows) {
  const std::size_t rows = 50'000;
  const auto part = [](std::size_t first, std::size_t last, std::size_t factor) {
    Table table;
    table.source = "t";
    table.rows = last - first;
    table.columns.push_back({"user_id", false, {}, {}, {}});
    for (std::size_t i = first; i < last; ++i) {
      table.columns[0].numbers.push_back(static_cast<double>(i * factor % 100'003 / 2));
    }
    return Summary(table, {}, {first, 0});
  };
  RepeatSample distinct;
  for (std::size_t i = 0; i < rows; ++i) distinct.add(static_cast<double>(i));
  EXPECT_FALSE(distinct.repeats());
  Summary all = part(0, 20'000, 7919);
  all.append(part(20'000, rows, 7919));
  const Summary whole = part(0, rows, 7919);
  EXPECT_TRUE(whole.columns[0].repeated->repeats());  // pairs have the same half
  const auto sorted = [](const Summary& s) {
    auto counts = s.columns[0].repeated->to_json()["counts"];
    std::sort(counts.begin(), counts.end());
    return counts;
  };
  EXPECT_EQ(sorted(all), sorted(whole));
  EXPECT_LE(sorted(all).size(), 4096U);
  EXPECT_GE(sorted(all).size(), 1024U);
}

TEST(Summary, RefusesPartsThatDoNotBelongTogether) {
  const Folder folder;
  PreparationOptions options;
  options.label = "y";
  const auto part = [&](const std::string& name, const std::string& text) {
    ReadOptions read;
    read.text_columns = {"y"};
    read.header = HeaderLine::present;
    return summarise(read_table(folder.write(name, text), read), options);
  };
  Summary all = part("a.csv", "x,z,y\n1,2,a\n");
  EXPECT_THAT(message_of(folder, [&] { Summary(all).append(part("b.csv", "x,y\n1,b\n")); }),
              HasSubstr("b.csv: there is no column 'z', which a.csv has"));
  EXPECT_THAT(message_of(folder, [&] { Summary(all).append(part("b.csv", "x,z,y,w\n1,2,b,3\n")); }),
              HasSubstr("b.csv: a.csv has no column 'w'"));
  EXPECT_THAT(message_of(folder, [&] { part("b.csv", "x,y\n1,b\n2,\n"); }),
              HasSubstr("b.csv:3:2: the label (column 'y') is missing"));
  EXPECT_THAT(message_of(folder, [&] { static_cast<void>(Preparation(all, options)); }),
              HasSubstr("a.csv: column 'y' has only one class ('a')"));
  EXPECT_THAT(message_of(folder, [&] { static_cast<void>(Preparation(Summary(), options)); }),
              HasSubstr("there are no training rows"));
  EXPECT_THAT(message_of(folder, [&] { static_cast<void>(Summary::from_bytes("no")); }),
              HasSubstr("the summary of a part is damaged"));
  options.weight = "x";
  all = part("a.csv", "x,y\n0,a\n0,b\n");
  EXPECT_THAT(message_of(folder, [&] { static_cast<void>(Preparation(all, options)); }),
              HasSubstr("a.csv: no example has a positive weight (column 'x')"));
}

TEST(Summary, TooManyCategoriesInAllPartsTogether) {
  const auto part = [](std::size_t first, std::size_t rows) {
    Table table;
    table.source = "t";
    table.rows = rows;
    table.columns.push_back({"name", true, {}, {}, {}});
    for (std::size_t i = 0; i < rows; ++i) {
      table.columns[0].codes.push_back(static_cast<std::int32_t>(i));
      table.columns[0].levels.push_back(fmt::format("n{}", first + i));
    }
    return Summary(table, {}, {first, 0});
  };
  Summary all = part(0, 6000);
  const Folder folder;
  EXPECT_THAT(message_of(folder, [&] { all.append(part(6000, 6000)); }),
              HasSubstr("the column 'name' holds 12000 or more different strings"));
}

/// Lets threads gather, each in its place.
class Meeting {
 public:
  explicit Meeting(std::size_t holders) : pieces_(holders), barrier_(static_cast<int>(holders)) {}
  class At final : public Reducer {
   public:
    At(Meeting& all, std::size_t place) : all_(&all), place_(place) {}
    [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
      all_->pieces_[place_] = std::move(piece);
      all_->wait();
      std::vector<std::string> result = all_->pieces_;
      all_->wait();
      return result;
    }
    void sum(std::span<double> totals) const override {
      const std::vector<std::string> all =
          gather({reinterpret_cast<const char*>(totals.data()), totals.size_bytes()});
      std::fill(totals.begin(), totals.end(), 0.0);
      for (const std::string& piece : all) {
        for (std::size_t k = 0; k < totals.size(); ++k) {
          totals[k] += reinterpret_cast<const double*>(piece.data())[k];
        }
      }
    }
    [[nodiscard]] std::size_t holder() const override { return place_; }

   private:
    Meeting* all_;
    std::size_t place_;
  };

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    const int turn = turn_;
    if (++waiting_ == barrier_) {
      waiting_ = 0;
      ++turn_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn_ != turn; });
  }
  std::vector<std::string> pieces_;
  int barrier_;
  int waiting_ = 0;
  int turn_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

TEST(Summary, ScalingOfPartsIsThatOfTheWhole) {
  constexpr std::size_t cols = 4;
  constexpr std::size_t rows = 500;
  std::vector<double> x;
  std::vector<double> weight;
  Random random(3);
  for (std::size_t i = 0; i < rows; ++i) {
    // Far from 0, constant, huge, and small.
    x.insert(x.end(), {1e9 + random.normal(), 3.5, 1e160 * random.normal(), random.uniform()});
    weight.push_back(i < 100 ? 0.0 : static_cast<double>(random.below(4)));
  }
  for (const ScaleKind kind : {ScaleKind::standard, ScaleKind::unit, ScaleKind::none}) {
    const Scaler whole = Scaler::fit(kind, MatrixView::dense(x.data(), rows, cols), weight);
    // Of 7 parts one is empty and one has no weight.
    const std::vector<std::size_t> ends = {100, 101, 230, 230, 400, 499, rows};
    Meeting meeting(ends.size());
    std::vector<Scaler> found(ends.size());
    std::vector<std::thread> team;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      team.emplace_back([&, k] {
        const std::size_t first = k == 0 ? 0 : ends[k - 1];
        found[k] =
            Scaler::fit(kind, MatrixView::dense(x.data() + first * cols, ends[k] - first, cols),
                        std::span<const double>(weight).subspan(first, ends[k] - first),
                        Meeting::At(meeting, k));
      });
    }
    for (std::thread& t : team) t.join();
    for (const Scaler& scaler : found) {
      for (std::size_t c = 0; c < cols; ++c) {
        EXPECT_DOUBLE_EQ(scaler.offsets()[c], whole.offsets()[c]);
        EXPECT_DOUBLE_EQ(scaler.scales()[c], whole.scales()[c]);
      }
    }
  }
}

}  // namespace
}  // namespace covshift
