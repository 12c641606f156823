// Files of views and of costs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/data/encoder.hpp"
#include "covshift/data/views.hpp"
#include "covshift/model/costs.hpp"
#include "fuzz/targets.hpp"

namespace covshift::fuzz {
namespace {

const Encoder& some_columns() {
  static const Encoder encoder = [] {
    Table table;
    table.rows = 2;
    for (const char* name : {"x1", "x2", "a b", "y*", "x10"}) {
      Column column;
      column.name = name;
      column.numbers = {1.0, 2.0};
      table.columns.push_back(column);
    }
    table.columns[2].categorical = true;
    table.columns[2].codes = {0, 1};
    table.columns[2].levels = {"u", "v"};
    return Encoder::fit(table, {}, {});
  }();
  return encoder;
}

}  // namespace

void views(std::string_view bytes) {
  Views found;
  const std::string refused =
      refusal([&] { found = Views::from_file(file_of(bytes), some_columns()); });
  if (!refused.empty()) return;
  ensure(found.cols() == some_columns().cols(), "{} columns in views", found.cols());
  ensure(found.names.size() == found.columns.size() && found.maps.size() == found.names.size(),
         "names, columns and maps of views differ in number");
  // Names need not be UTF-8, which JSON would refuse.
  if (hash(bytes) % 8 != 0) return;
  for (const std::string& name : found.names) {
    if (first_invalid_utf8(name) != std::string::npos) return;
  }
  const Views again = Views::from_json(found.to_json());
  ensure(again.names == found.names && again.columns == found.columns && again.maps == found.maps,
         "views change when stored");
}

void costs(std::string_view bytes) {
  CostMatrix matrix;
  std::unique_ptr<Game> game;
  const std::string refused = refusal([&] {
    matrix = read_costs(file_of(bytes));
    if (matrix.labels > 5 || matrix.actions > 6) return;
    game = cost_game(matrix);
  });
  if (!refused.empty() || !game) return;
  const auto k = static_cast<std::size_t>(matrix.labels);
  const std::vector<double> psi(k, 0.5);
  std::vector<double> p(static_cast<std::size_t>(matrix.actions));
  if (!refusal([&] { game->predict(psi, p); }).empty()) return;
  double sum = 0;
  for (const double v : p) {
    ensure(v >= 0, "probability {}", v);
    sum += v;
  }
  ensure(std::abs(sum - 1) < 1e-6, "probabilities sum to {}", sum);
}

}  // namespace covshift::fuzz
