#include "covshift/data/features.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/threads.hpp"
#include "covshift/data/feature_map.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

using detail::json_field;

/// Different views draw different landmarks and frequencies.
std::uint64_t seed_of(std::uint64_t seed, std::size_t part) {
  return seed + 0x9e3779b97f4a7c15 * part;
}

}  // namespace

Views with_maps(Views views, const std::string& maps) {
  for (std::string& own : views.maps) {
    if (own.empty()) own = maps;
  }
  return views;
}

bool maps_open(const Views& views) {
  return std::any_of(views.maps.begin(), views.maps.end(), [](const std::string& own) {
    return !own.empty() && automatic(parse_maps(own));
  });
}

Views close_maps(Views views, const std::string& maps) {
  for (std::string& own : views.maps) {
    if (!own.empty() && automatic(parse_maps(own))) own = maps;
  }
  return views;
}

Features::Features(const Views& views) {
  Views linear = views;
  linear.maps.assign(views.names.size(), "");
  // Linear maps are the same for any rows.
  const std::vector<double> none(views.cols());
  *this = fit(linear, {MatrixView::dense(none.data(), 1, views.cols()), {}, nullptr, 0});
}

Features Features::fit(const Views& views, const FeatureData& data) {
  if (views.cols() != data.train.cols) {
    fail_input("the views are of {} columns, the data have {}", views.cols(), data.train.cols);
  }
  Features features;
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    if (views.columns[v].empty()) continue;  // an empty list would mean all columns
    const MapSpecs maps = parse_maps(views.maps[v].empty() ? "linear" : views.maps[v]);
    if (automatic(maps)) fail_input("the maps of view '{}' are not chosen yet", views.names[v]);
    for (const MapSpec& spec : maps) {
      Part part{static_cast<std::int32_t>(v), views.columns[v], nullptr, 0};
      MapData own{Rows(data.train, part.columns),
                  data.weight,
                  {},
                  seed_of(data.seed, features.parts_.size())};
      if (data.target != nullptr) own.target.emplace(*data.target, part.columns);
      try {
        part.map = fit_map(spec, own);
      } catch (const Error& e) {
        throw Error(e.kind(), fmt::format("view '{}': {}", views.names[v], e.what()));
      }
      features.parts_.push_back(std::move(part));
    }
  }
  features.lay_out(views);
  return features;
}

void Features::lay_out(const Views& views) {
  cols_ = views.cols();
  linear_ = std::all_of(parts_.begin(), parts_.end(),
                        [](const Part& part) { return part.map->linear(); });
  std::size_t first = 0;
  for (Part& part : parts_) {
    part.first = first;
    first += part.map->outputs();
  }
  identity_ = linear_ && first == cols_;  // every column is in some view: here, in one
  view_of_.assign(first, 0);
  for (const Part& part : parts_) {
    for (std::size_t j = 0; j < part.map->outputs(); ++j) {
      const std::size_t at = identity_ ? static_cast<std::size_t>(part.columns[j]) : part.first + j;
      view_of_[at] = part.view;
    }
  }
}

Matrix Features::apply(const MatrixView& x, int threads) const {
  if (x.cols != cols_) {
    fail_input("the data have {} columns, the features were fitted on {}", x.cols, cols_);
  }
  if (identity_) {
    std::vector<std::size_t> all(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i) all[i] = i;
    return take_rows(x, all);
  }
  if (linear_ && is_sparse(x)) return apply_sparse(x);
  Matrix out;
  out.rows = x.rows;
  out.cols = outputs();
  out.values.resize(out.rows * out.cols);
  constexpr std::size_t task_rows = 4 * block_rows;
  parallel_tasks(threads, (x.rows + task_rows - 1) / task_rows, [&](std::size_t task) {
    const std::size_t end = std::min(x.rows, (task + 1) * task_rows);
    for (std::size_t first = task * task_rows; first < end; first += block_rows) {
      apply_block(x, first, std::min(end, first + block_rows), out.values.data());
    }
  });
  return out;
}

void Features::apply_block(const MatrixView& x, std::size_t first, std::size_t last,
                           double* out) const {
  std::vector<double> block;
  for (const Part& part : parts_) {
    const Rows rows(x, part.columns);
    const std::size_t pitch = padded(rows.dims());
    block.assign(block_rows * pitch, 0.0);
    for (std::size_t i = first; i < last; ++i) {
      rows.gather(i, block.data() + (i - first) * pitch);
    }
    double* const to = out + first * outputs() + part.first;
    part.map->apply({block.data(), pitch, last - first, rows.dims()}, to, outputs());
    for (std::size_t b = 0; b < last - first; ++b) {
      for (std::size_t j = 0; j < part.map->outputs(); ++j) {
        const double value = to[b * outputs() + j];
        if (!std::isfinite(value)) {
          fail_input(
              "row {}: a feature of the map {} is {}; the row is too far from the training data "
              "for this map: scale the data, or use another map",
              first + b + 1, part.map->spec().map, value);
        }
      }
    }
  }
}

Matrix Features::apply_sparse(const MatrixView& x) const {
  std::vector<std::vector<std::int32_t>> places(cols_);  // the outputs of each column
  for (const Part& part : parts_) {
    for (std::size_t j = 0; j < part.columns.size(); ++j) {
      places[part.columns[j]].push_back(static_cast<std::int32_t>(part.first + j));
    }
  }
  Matrix out;
  out.rows = x.rows;
  out.cols = outputs();
  out.sparse = true;
  out.offsets.push_back(0);
  const Rows rows(x, {});
  std::vector<std::pair<std::int32_t, double>> entries;
  RowBuffer buffer;
  for (std::size_t i = 0; i < x.rows; ++i) {
    entries.clear();
    rows.each_once(i, buffer, [&](std::size_t column, double value) {
      for (const std::int32_t place : places[column]) entries.emplace_back(place, value);
    });
    std::sort(entries.begin(), entries.end());
    for (const auto& [place, value] : entries) {
      out.columns.push_back(place);
      out.values.push_back(value);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

std::vector<std::string> Features::names(std::span<const std::string> columns) const {
  std::vector<std::string> all(outputs());
  for (const Part& part : parts_) {
    std::vector<std::string> own;
    for (const std::int32_t c : part.columns) own.push_back(columns[static_cast<std::size_t>(c)]);
    const std::vector<std::string> outputs = part.map->names(own);
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      all[identity_ ? static_cast<std::size_t>(part.columns[j]) : part.first + j] = outputs[j];
    }
  }
  return all;
}

std::vector<std::string> Features::maps() const {
  std::int32_t views = 0;
  for (const Part& part : parts_) views = std::max(views, part.view + 1);
  std::vector<std::string> all(static_cast<std::size_t>(views));
  for (const Part& part : parts_) {
    std::string& own = all[static_cast<std::size_t>(part.view)];
    own += (own.empty() ? "" : " + ") + to_string({part.map->spec()});
  }
  return all;
}

nlohmann::json Features::to_json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Part& part : parts_) {
    nlohmann::json one = covshift::to_json(*part.map);
    one["view"] = static_cast<std::size_t>(part.view);
    list.push_back(std::move(one));
  }
  return list;
}

Features Features::from_json(const nlohmann::json& json, const Views& views) {
  if (!json.is_array()) fail_input("features: must be a list of maps");
  Features features;
  for (const nlohmann::json& one : json) {
    const auto view = json_field<std::size_t>(one, "view", "features");
    if (view >= views.names.size() || views.columns[view].empty()) {
      fail_input("features: a map of view {}, but there are {} views", view, views.names.size());
    }
    const std::vector<std::int32_t>& columns = views.columns[view];
    features.parts_.push_back(
        {static_cast<std::int32_t>(view), columns, map_from_json(one, columns.size()), 0});
  }
  for (std::size_t v = 0; v < views.names.size(); ++v) {
    const bool mapped =
        std::any_of(features.parts_.begin(), features.parts_.end(),
                    [&](const Part& part) { return static_cast<std::size_t>(part.view) == v; });
    if (!mapped && !views.columns[v].empty()) {
      fail_input("features: view '{}' has no map", views.names[v]);
    }
  }
  features.lay_out(views);
  return features;
}

}  // namespace covshift
