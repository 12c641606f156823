// What an experiment leaves: the same numbers as text, data and picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace covshift {

struct LabResult {
  std::string name;  ///< of the files: table1, ...
  std::string markdown, csv, svg;
  nlohmann::ordered_json json;
};

}  // namespace covshift
