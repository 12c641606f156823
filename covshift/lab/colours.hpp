// Colours that readers with any colour vision, and a grey printer, can tell apart.
#pragma once

#include <cstddef>
#include <string>

#include "covshift/lab/png.hpp"

namespace covshift {

/// Blue at 0 over near-white at 1/2 to orange at 1, equally dark at both ends.
Rgb diverging(double t);

/// Colours for things without an order (Okabe and Ito's set, without yellow); repeats after seven.
std::string categorical(std::size_t i);

/// #rrggbb
std::string hex(Rgb colour);

}  // namespace covshift
