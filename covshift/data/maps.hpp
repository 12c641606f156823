// The feature maps: a file for each, <name>_map.cpp. Only
// feature_map.cpp uses this header, for its table.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "covshift/data/feature_map.hpp"

namespace covshift {

std::unique_ptr<FeatureMap> fit_linear(const MapSpec& spec, const MapData& data);
std::unique_ptr<FeatureMap> load_linear(const nlohmann::json& json, std::size_t columns);
std::unique_ptr<FeatureMap> fit_quadratic(const MapSpec& spec, const MapData& data);
std::unique_ptr<FeatureMap> load_quadratic(const nlohmann::json& json, std::size_t columns);
std::unique_ptr<FeatureMap> fit_splines(const MapSpec& spec, const MapData& data);
std::unique_ptr<FeatureMap> load_splines(const nlohmann::json& json, std::size_t columns);
std::unique_ptr<FeatureMap> fit_fourier(const MapSpec& spec, const MapData& data);
std::unique_ptr<FeatureMap> load_fourier(const nlohmann::json& json, std::size_t columns);
std::unique_ptr<FeatureMap> fit_nystroem(const MapSpec& spec, const MapData& data);
std::unique_ptr<FeatureMap> load_nystroem(const nlohmann::json& json, std::size_t columns);

}  // namespace covshift
