// Runs every kept input of every target: fuzz_replay CORPUS. Needs no libFuzzer.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/targets.hpp"

int main(int argc, char** argv) {
  using namespace covshift::fuzz;
  if (argc != 2) {
    fmt::print(stderr, "usage: fuzz_replay CORPUS\n");
    return 2;
  }
  for (const Target& target : targets) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(argv[1]) / target.name)) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    ensure(!files.empty(), "no inputs for {}", target.name);
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      fmt::print("{}\n", path.string());  // the last line names the input that failed
      std::fflush(stdout);
      target.run(bytes);
    }
  }
  return 0;
}
