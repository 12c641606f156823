#include <nlohmann/json.hpp>

#include "fuzz/targets.hpp"

namespace covshift::fuzz {
namespace {

using nlohmann::json;

void collect(json& node, std::vector<json*>& all) {
  all.push_back(&node);
  if (!node.is_structured()) return;
  for (json& child : node) collect(child, all);
}

json odd_value(std::mt19937& random) {
  static const json values = json::parse(
      R"([0, 1, 2, 3, -1, 0.5, 1e-9, -0.0, 1e308, -1e308, 1e-320, 2147483647, 2147483648, -2147483649,
          4294967296, 9223372036854775807, 18446744073709551615, 1e19, null, true, false, "", "x", "none",
          "log", "logistic", "test", "nystroem:2", [], {}, [0], [[]], [1, 2], {"a": 1}])");
  return values[random() % values.size()];
}

void change_structure(json& node, std::mt19937& random, const std::vector<json*>& all) {
  if (node.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(random() % node.size());
  const auto place = std::next(node.begin(), at);
  switch (random() % 3) {
    case 0:
      node.erase(place);
      break;
    case 1:
      if (node.is_array() && node.size() < 64) node.insert(node.begin() + at, json(*place));
      break;
    default:
      *place = json(*all[random() % all.size()]);
  }
}

void change_value(json& node, std::mt19937& random) {
  if (node.is_number() && random() % 2 == 0) {
    const double factors[] = {-1, 0, 0.5, 2, 10, 1e10, 1e-10, 1e200};
    const double changed = node.get<double>() * factors[random() % 8];
    node = node.is_number_float() || random() % 2 == 0
               ? json(changed)
               : json(static_cast<std::int64_t>(node.get<std::uint64_t>() + random() % 5 - 2));
    return;
  }
  node = odd_value(random);
}

}  // namespace

std::string mutate_json(std::string_view bytes, std::mt19937& random) {
  json body = json::parse(bytes, nullptr, false);
  if (body.is_discarded()) return {};
  const std::uint64_t changes = 1 + random() % 3;
  for (std::uint64_t k = 0; k < changes; ++k) {
    std::vector<json*> all;
    collect(body, all);
    json& node = *all[random() % all.size()];
    if (node.is_structured() && random() % 2 == 0) {
      change_structure(node, random, all);
    } else if (!node.is_structured() || random() % 8 == 0) {
      change_value(node, random);
    }
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace covshift::fuzz
