#include "covshift/data/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/data/json_fields.hpp"
#include "covshift/data/maps.hpp"

namespace covshift {
namespace {

using detail::json_field;

/// A row of the table of maps.
struct MapKind {
  std::string_view name;
  std::size_t size = 0;    ///< the default; 0: the map has no size
  bool has_width = false;  ///< the map has a Gaussian kernel
  std::unique_ptr<FeatureMap> (*fit)(const MapSpec& spec, const MapData& data);
  /// Throws Error if the fields are missing or do not suit this number of columns.
  std::unique_ptr<FeatureMap> (*load)(const nlohmann::json& json, std::size_t columns);
};

constexpr MapKind map_table[] = {
    {"linear", 0, false, fit_linear, load_linear},
    {"quadratic", 0, false, fit_quadratic, load_quadratic},
    {"splines", 8, false, fit_splines, load_splines},
    {"fourier", 200, true, fit_fourier, load_fourier},
    {"nystroem", 200, true, fit_nystroem, load_nystroem},
};

const MapKind* find_kind(std::string_view name) {
  const auto* kind = std::find_if(std::begin(map_table), std::end(map_table),
                                  [&](const MapKind& k) { return k.name == name; });
  return kind == std::end(map_table) ? nullptr : kind;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> known;
  for (const MapKind& kind : map_table) known.push_back(kind.name);
  known.push_back(automatic_map);
  return known;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(trim(text.substr(begin, end - begin)));
  }
  return parts;
}

MapSpec parse_map(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  MapSpec spec{std::string(parts[0]), 0, {}};
  if (spec.map == automatic_map && parts.size() == 1) return spec;
  const MapKind* const kind = find_kind(spec.map);
  if (kind == nullptr) fail_name("the map", spec.map, known_names());
  const std::size_t most = 1 + (kind->size > 0 ? 1 : 0) + (kind->has_width ? 1 : 0);
  if (parts.size() > most) {
    fail_input("'{}': the map {} takes {}", text, kind->name,
               kind->size == 0   ? "no size; write its name alone"
               : kind->has_width ? "a size and a width, and no more"
                                 : "a size, and no more");
  }
  if (parts.size() > 1) {
    const std::optional<std::uint64_t> size = parse_count(parts[1]);
    constexpr std::uint64_t largest = 100'000;
    if (!size || *size < 1 || *size > largest) {
      fail_input("'{}': the size of the map {} must be a whole number from 1 to {}, not '{}'", text,
                 kind->name, largest, parts[1]);
    }
    spec.size = *size;
  }
  if (parts.size() > 2) {
    spec.width = parse_number(parts[2]);
    if (!spec.width || !(*spec.width > 0) || !std::isfinite(*spec.width)) {
      fail_input("'{}': the width of the map {} must be a positive number, not '{}'", text,
                 kind->name, parts[2]);
    }
  }
  return spec;
}

}  // namespace

std::string map_values() {
  std::string values;
  for (const MapKind& kind : map_table) {
    values += fmt::format("{}{}|", kind.name,
                          kind.has_width  ? "[:N]"
                          : kind.size > 0 ? "[:K]"
                                          : "");
  }
  return values + std::string(automatic_map);
}

MapSpecs parse_maps(std::string_view text) {
  MapSpecs maps;
  for (const std::string_view part : split(text, '+')) maps.push_back(parse_map(part));
  for (const MapSpec& map : maps) {
    if (map.map == automatic_map && maps.size() > 1) {
      fail_input("'{}': auto chooses the maps itself; write it alone", text);
    }
    if (std::count(maps.begin(), maps.end(), map) > 1) {
      fail_input("'{}': the same map twice; keep one", text);
    }
  }
  return maps;
}

std::string to_string(const MapSpecs& maps) {
  std::string text;
  for (const MapSpec& map : maps) {
    if (!text.empty()) text += " + ";
    text += map.map;
    if (map.size > 0) text += fmt::format(":{}", map.size);
    if (map.width) {
      if (map.size == 0) text += fmt::format(":{}", find_kind(map.map)->size);
      text += fmt::format(":{:.6g}", *map.width);
    }
  }
  return text;
}

std::unique_ptr<FeatureMap> fit_map(const MapSpec& spec, const MapData& data) {
  const MapKind* const kind = find_kind(spec.map);
  if (kind == nullptr) fail_name("the map", spec.map, known_names());
  if (data.train.size() == 0) fail_input("a map of features is fitted on rows, but there are none");
  MapSpec own = spec;
  if (own.size == 0) own.size = kind->size;
  return kind->fit(own, data);
}

nlohmann::json to_json(const FeatureMap& map) {
  nlohmann::json json = map.store();
  json["map"] = map.spec().map;
  return json;
}

std::unique_ptr<FeatureMap> map_from_json(const nlohmann::json& json, std::size_t columns) {
  const auto name = json_field<std::string>(json, "map", "features");
  const MapKind* const kind = find_kind(name);
  if (kind == nullptr) fail_name("features: the map", name, known_names());
  return kind->load(json, columns);
}

}  // namespace covshift
