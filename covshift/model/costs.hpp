// Cost matrices from files.
#pragma once

#include <string>

#include "covshift/game/game.hpp"

namespace covshift {

/// A CSV file without header: a row for each action, a column for each class.
CostMatrix read_costs(const std::string& path);

}  // namespace covshift
