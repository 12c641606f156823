// The reader of each file format, chosen by read_table.
#pragma once

#include <string>

#include "covshift/data/byte_source.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/table.hpp"

namespace covshift {

Table read_csv(ByteSource& source, const ReadOptions& options);
Table read_svmlight(ByteSource& source, const ReadOptions& options);
Table read_arff(ByteSource& source, const ReadOptions& options);
Table read_npy(ByteSource& source);

}  // namespace covshift
