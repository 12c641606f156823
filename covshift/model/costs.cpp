#include "covshift/model/costs.hpp"

#include "covshift/data/read_table.hpp"

namespace covshift {

CostMatrix read_costs(const std::string& path) {
  ReadOptions options;
  options.header = HeaderLine::absent;
  const Table table = read_table(path, options);
  CostMatrix costs;
  costs.source = path + ": the cost matrix";
  costs.actions = static_cast<int>(table.rows);
  costs.labels = static_cast<int>(table.columns.size());
  for (const Column& column : table.columns) finite_numbers(table, column, "cost");
  for (std::size_t a = 0; a < table.rows; ++a) {
    for (const Column& column : table.columns) costs.cost.push_back(column.numbers[a]);
  }
  return costs;
}

}  // namespace covshift
