// What libFuzzer calls: covshift_fuzz --target=NAME [libFuzzer's flags] FOLDER
#include <cstring>

#include "fuzz/targets.hpp"

namespace {

const covshift::fuzz::Target* target = nullptr;

}  // namespace

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

int LLVMFuzzerInitialize(const int* argc, char*** argv) {
  constexpr std::string_view flag = "--target=";
  for (int k = 1; k < *argc; ++k) {
    const std::string_view argument = (*argv)[k];
    if (argument.starts_with(flag)) target = covshift::fuzz::find(argument.substr(flag.size()));
  }
  if (target != nullptr) return 0;
  fmt::print(stderr, "covshift_fuzz: say --target= and one of");
  for (const covshift::fuzz::Target& known : covshift::fuzz::targets) {
    fmt::print(stderr, " {}", known.name);
  }
  fmt::print(stderr, "\n");
  std::exit(2);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed) {
  std::mt19937 random(seed);
  // Now and then bytes are changed, which makes other JSON, or none.
  if (target->json && random() % 16 != 0) {
    const std::string changed =
        covshift::fuzz::mutate_json({reinterpret_cast<const char*>(data), size}, random);
    if (!changed.empty() && changed.size() <= max_size) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
}
