#include "covshift/lab/datasets.hpp"

#include <algorithm>
#include <filesystem>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/sha256.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/data/read_table.hpp"

namespace covshift {
namespace {

std::string in_folder(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

const DatasetSource& source_of(std::string_view name) {
  for (const DatasetSource& source : dataset_sources()) {
    if (source.name == name) return source;
  }
  std::vector<std::string_view> known;
  for (const DatasetSource& source : dataset_sources()) known.push_back(source.name);
  fail_input("there is no data set '{}'; known: {}", name, listed(known, ", "));
}

/// An Error unless all files exist and, if `exact`, have the expected content.
void require_files(const DatasetSource& source, const std::string& folder, bool exact) {
  for (const DatasetFile& file : source.files) {
    const FileState state = check_file(folder, file);
    if (state == FileState::good || (state == FileState::different && !exact)) continue;
    fail_file("{}: {} (expected SHA-256 {}). Get the {} data from {} and {}, where DIR is {}",
              in_folder(folder, file.path),
              state == FileState::missing ? "no such file" : "the content is different",
              file.sha256, source.title, source.address, source.remedy, folder);
  }
}

/// Adds the rows of a table with the same columns.
void append(Table& table, const Table& more) {
  table.rows += more.rows;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    Column& column = table.columns[c];
    const Column& rows = more.columns[c];
    column.numbers.insert(column.numbers.end(), rows.numbers.begin(), rows.numbers.end());
    std::vector<std::string>& levels = column.levels;
    for (const std::int32_t code : rows.codes) {
      const std::string& text = rows.levels[static_cast<std::size_t>(code)];
      const auto at = std::find(levels.begin(), levels.end(), text) - levels.begin();
      if (at == std::ssize(levels)) levels.push_back(text);
      column.codes.push_back(static_cast<std::int32_t>(at));
    }
  }
}

}  // namespace

std::span<const DatasetSource> dataset_sources() {
  static const std::vector<DatasetSource> sources = {
      {"seeds",
       "Seed",
       "https://archive.ics.uci.edu/dataset/236/seeds",
       "put seeds_dataset.txt into DIR/seeds/",
       {{"seeds/seeds_dataset.txt",
         "1f3f83c0d8485ae9148061389d19628607e3f5660e3d6f40ec9102fb398bb12f"}}},
      {"vertebral",
       "Vertebral",
       "https://archive.ics.uci.edu/dataset/212/vertebral+column",
       "unpack column_3C.dat into DIR/vertebral/",
       {{"vertebral/column_3C.dat",
         "fb5fc4ae49d9f2586158f3368058309364ec3153954cd2ff01fb15d739fe552f"}}},
      {"vehicle",
       "Vehicle",
       "https://archive.ics.uci.edu/dataset/149/statlog+vehicle+silhouettes",
       "put xaa.dat to xai.dat into DIR/vehicle/",
       {{"vehicle/xaa.dat", "7fd869de06e71e027cfd8d2a4720d0e3cbead77fef5a8a1d81fa628bb61d6d2d"},
        {"vehicle/xab.dat", "eb9b39becd4d0c4e77e2a5d47732d83960b6418243eac39da261a290178ee0f7"},
        {"vehicle/xac.dat", "4975a47f907d7dab052518f5aceefab03c9eb50d52b108e7641bc7bf2982ed06"},
        {"vehicle/xad.dat", "4d026d84e318e4a7d60d207c84475d3caa869f499276bd58cdee386ca628c678"},
        {"vehicle/xae.dat", "b65fc1395cb068b9f579796969dc80944124c42b5d7cbd92a19b34bfd6173309"},
        {"vehicle/xaf.dat", "297d6811d98c355819addd03678b8a8ac4f8355ca7c556bae2f1f2427afad97c"},
        {"vehicle/xag.dat", "e343075bc28293062f1ca82d955c1406235e3d63c419c5ef67ebb9e8516e1eec"},
        {"vehicle/xah.dat", "4befe2b54c121bc94fbc4599196180b33e646c7a52a345d1f91d90666e260480"},
        {"vehicle/xai.dat", "74781b1c689c3e4899f6021f55a054bf020cf38f74d699faeb6ad72c724af92e"}}},
      {"spam",
       "Spam",
       "https://archive.ics.uci.edu/dataset/94/spambase",
       "unpack spambase.data into DIR/spambase/",
       {{"spambase/spambase.data",
         "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12"}}},
      {"documents",
       "Language",
       "https://archive.ics.uci.edu/dataset/259/"
       "reuters+rcv1+rcv2+multilingual+multiview+text+categorization+test+collection",
       "make DIR/reuters/EN.svm, FR.svm, GR.svm, IT.svm and SP.svm from 600 of its English "
       "documents: "
       "one line per document in svmlight format, the same documents in the same order, label "
       "first. Other documents work as well",
       {{"reuters/EN.svm", "ca7814f1d943323ba3e5f9ce5c1c9b3280338a8ea9ae58ed91c6a10d31f4004d"},
        {"reuters/FR.svm", "5a0e2b26425c313c90f3d589e286f6a6a9240b2660648a8a74d8461e2bc4ae87"},
        {"reuters/GR.svm", "2769178624f9295fe6f22a23fd4e8fde99b834c6bd6740ffa46870fb49d1a91c"},
        {"reuters/IT.svm", "917de17967317a52fc38eef8dbe5d1744f166334cac62b28b01c83c206ffa392"},
        {"reuters/SP.svm", "56453e3abd9dbc6a3576f3a79badd6848fd35ae3e1087cfc3bf65e6baadacd80"}}},
  };
  return sources;
}

FileState check_file(const std::string& folder, const DatasetFile& file) {
  const std::string path = in_folder(folder, file.path);
  if (!std::filesystem::exists(path)) return FileState::missing;
  return sha256(read_whole(path)) == file.sha256 ? FileState::good : FileState::different;
}

Dataset load_dataset(const std::string& name, const std::string& folder) {
  const DatasetSource& source = source_of(name);
  if (name == "documents") fail_input("the documents have several views: use load_documents");
  require_files(source, folder, true);
  ReadOptions reading;
  reading.header = HeaderLine::absent;
  reading.delimiter = name == "spam" ? ',' : ' ';
  Table table = read_table(in_folder(folder, source.files[0].path), reading);
  for (const DatasetFile& file : std::span(source.files).subspan(1)) {
    append(table, read_table(in_folder(folder, file.path), reading));
  }
  PreparationOptions options;
  options.label = table.columns.back().name;
  options.scale = ScaleKind::unit;  // the paper's, whatever the default is
  Preparation preparation(table, options);
  PreparedRows rows = preparation.encode_training(table);
  preparation.fit(rows, nullptr);
  return {source.name, source.title, std::move(rows.own), std::move(rows.labels),
          static_cast<int>(preparation.classes().size())};
}

Documents load_documents(const std::string& folder) {
  const DatasetSource& source = source_of("documents");
  require_files(source, folder, false);
  Documents documents;
  for (const DatasetFile& file : source.files) {
    const std::string path = in_folder(folder, file.path);
    const Table table = read_table(path);
    PreparationOptions options;
    options.label = unnamed_label;
    const Preparation preparation(table, options);
    PreparedRows rows = preparation.encode_training(table);
    if (!documents.views.empty() && rows.labels != documents.labels) {
      fail_input(
          "{}: its labels differ from those of {}: the views must hold the same documents in the "
          "same order",
          path, in_folder(folder, source.files[0].path));
    }
    documents.languages.push_back(std::filesystem::path(path).stem().string());
    documents.views.push_back(std::move(rows.own));
    documents.labels = std::move(rows.labels);
    documents.classes = static_cast<int>(preparation.classes().size());
  }
  return documents;
}

}  // namespace covshift
