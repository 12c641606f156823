// What an experiment produces: the same numbers as text, data and picture.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace covshift {

struct LabResult {
  std::string name;  ///< of the files: table1, ...
  std::string markdown, csv, svg;
  nlohmann::ordered_json json;
};

/// A row of a Markdown table, and the heading with the line below it.
std::string markdown_row(const std::vector<std::string>& cells);
std::string markdown_heading(const std::vector<std::string>& cells);

/// The paper's claims, each judged against its best rival, from the data of table1 to table3. On a
/// data set a claim holds or is contradicted if a paired t-test decides, and else is not decided.
std::string claims_table(const nlohmann::ordered_json& one, const nlohmann::ordered_json& two,
                         const nlohmann::ordered_json& three);

/// A Markdown page from the results of table1 to table3, figure1 to figure3, the sweep and
/// `beyond`. Every number and every verdict on it is computed from them. An Error if one of them is
/// missing.
std::string results_page(std::span<const LabResult> results);

}  // namespace covshift
