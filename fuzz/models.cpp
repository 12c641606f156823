// Model files: as they are, and with the checksum made right again after a change.
#include <zlib.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/export/onnx.hpp"
#include "covshift/model/model.hpp"
#include "fuzz/targets.hpp"

namespace covshift::fuzz {
namespace {

constexpr const char* name = "model.json";

std::string sealed(std::string_view body) {
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  return fmt::format(
      "{{\n\"format\": \"covshift model\",\n\"version\": 2,\n\"program\": \"fuzz\",\n"
      "\"checksum\": \"{:08x}\",\n\"body\": {}\n}}\n",
      ::crc32_z(0, bytes, body.size()), body);
}

std::optional<Model> load(const std::string& text) {
  std::optional<Model> model;
  const std::string refused = refusal([&] { model.emplace(Model::from_text(text, name)); });
  ensure(model || refused.starts_with(name), "a message without the file's name: {}", refused);
  return model;
}

void check_stored(const Model& model) {
  const std::string text = model.to_text();
  const Model again = Model::from_text(text, name);
  ensure(again.to_text() == text, "a model changes when stored");
}

/// Exported, or refused in words.
void check_exported(const Model& model) {
  std::string file;
  const std::string refused = refusal([&] { file = to_onnx(model); });
  ensure(!file.empty() || !refused.empty(), "an empty file");
}

/// Rows that are small, large and far apart.
std::vector<double> some_rows(std::size_t rows, std::size_t cols) {
  std::vector<double> x(rows * cols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double small = static_cast<double>((i * 7919) % 13) / 4.0 - 1.5;
    x[i] = i / cols == 2 ? small * 1e6 : small;
  }
  return x;
}

void check_predictions(const Predictions& p) {
  const auto actions = static_cast<std::size_t>(p.actions);
  for (std::size_t row = 0; row < p.rows; ++row) {
    double sum = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      const double v = p.p[row * actions + a];
      ensure(v >= 0 && v <= 1 + 1e-9, "row {}: probability {}", row, v);
      sum += v;
    }
    ensure(std::abs(sum - 1) < 1e-6, "row {}: probabilities sum to {}", row, sum);
    ensure(p.action[row] >= 0 && p.action[row] < p.actions, "action {}", p.action[row]);
    ensure(std::isfinite(p.log_ratio[row]), "log ratio {}", p.log_ratio[row]);
  }
}

void check_same(const Predictions& a, const Predictions& b) {
  ensure(a.p == b.p && a.action == b.action && a.log_ratio == b.log_ratio,
         "predictions depend on threads or company");
}

}  // namespace

void model(std::string_view bytes) {
  const auto found = load(std::string(bytes));
  if (found) check_stored(*found);
}

void resealed(std::string_view bytes) {
  const auto found = load(sealed(bytes));
  if (!found) return;
  check_stored(*found);
  check_exported(*found);
}

void predict(std::string_view bytes) {
  const auto found = load(sealed(bytes));
  if (!found || found->preparation().needs_columns()) return;
  const Encoder& encoder = found->preparation().encoder();
  if (!encoder.numeric() || encoder.source_count() > 50) return;
  constexpr std::size_t rows = 4;
  const std::size_t cols = encoder.source_count();
  const std::vector<double> x = some_rows(rows, cols);
  Predictions all;
  const auto predicted = [&](std::size_t first, std::size_t n, int threads) {
    return found->predict(Input(MatrixView::dense(x.data() + first * cols, n, cols)), threads);
  };
  if (!refusal([&] { all = predicted(0, rows, 1); }).empty()) return;
  check_predictions(all);
  const std::uint32_t h = hash(bytes);
  if (h % 1024 == 0) check_same(all, predicted(0, rows, 2));
  if (h % 16 != 1) return;
  const Predictions one = predicted(1, 1, 1);
  const auto a = static_cast<std::ptrdiff_t>(all.actions);
  ensure(std::equal(one.p.begin(), one.p.end(), all.p.begin() + a), "a row alone differs");
}

}  // namespace covshift::fuzz
