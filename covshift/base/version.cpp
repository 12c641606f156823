#include "covshift/base/version.hpp"

namespace covshift {

std::string_view version() { return COVSHIFT_VERSION; }

}  // namespace covshift
