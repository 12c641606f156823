#include "covshift/data/read_table.hpp"

#include <algorithm>

#include "covshift/data/readers.hpp"

namespace covshift {

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

Table read_table(const std::string& path, const ReadOptions& options) {
  ByteSource source(path);
  std::string name = to_lower(path);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto* const format = std::find_if(
      formats.begin(), formats.end(), [&](const Format& f) { return name.ends_with(f.extension); });
  return format != formats.end() ? format->read(source, options) : read_csv(source, options);
}

}  // namespace covshift
