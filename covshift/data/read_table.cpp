#include "covshift/data/read_table.hpp"

#include <algorithm>
#include <string_view>

#include "covshift/data/readers.hpp"

namespace covshift {

namespace {

TableFormat format_of(const std::string& path) {
  std::string name = path;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view stem = name;
  if (stem.ends_with(".gz")) stem.remove_suffix(3);
  const auto ends = [&](std::string_view extension) { return stem.ends_with(extension); };
  if (ends(".svm") || ends(".svmlight") || ends(".libsvm")) return TableFormat::svmlight;
  if (ends(".arff")) return TableFormat::arff;
  if (ends(".npy")) return TableFormat::npy;
  return TableFormat::delimited;
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& options) {
  ByteSource source(path);
  const TableFormat format =
      options.format == TableFormat::by_extension ? format_of(path) : options.format;
  switch (format) {
    case TableFormat::svmlight:
      return read_svmlight(source, options);
    case TableFormat::arff:
      return read_arff(source, options);
    case TableFormat::npy:
      return read_npy(source);
    default:
      return read_csv(source, options);
  }
}

}  // namespace covshift
