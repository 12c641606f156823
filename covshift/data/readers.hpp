// The reader of each file format, chosen by read_table.
#pragma once

#include <array>
#include <string_view>

#include <string>

#include "covshift/data/byte_source.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

Table read_csv(ByteSource& source, const ReadOptions& options);
Table read_svmlight(ByteSource& source, const ReadOptions& options);
Table read_arff(ByteSource& source, const ReadOptions& options);
Table read_npy(ByteSource& source, const ReadOptions& options);

/// The formats by file extension (before .gz); files of any other are delimited text.
struct Format {
  std::string_view extension;
  Table (*read)(ByteSource& source, const ReadOptions& options);
};
inline constexpr auto formats = std::to_array<Format>({{".svm", read_svmlight},
                                                       {".svmlight", read_svmlight},
                                                       {".libsvm", read_svmlight},
                                                       {".arff", read_arff},
                                                       {".npy", read_npy}});

}  // namespace covshift
