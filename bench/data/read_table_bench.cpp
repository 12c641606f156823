// Reads a file once and says how fast: read_table_bench PATH. Prints one JSON object.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "covshift/data/read_table.hpp"

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      fmt::print(stderr, "usage: read_table_bench PATH\n");
      return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const covshift::Table table = covshift::read_table(argv[1]);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double megabytes = static_cast<double>(std::filesystem::file_size(argv[1])) / 1e6;
    fmt::print(R"({{"rows": {}, "columns": {}, "seconds": {:.4f}, "mb_per_second": {:.1f}}})"
               "\n",
               table.rows, table.columns.size(), elapsed.count(), megabytes / elapsed.count());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "read_table_bench: {}\n", error.what());
    return 1;
  }
}
