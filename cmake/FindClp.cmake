# Finds COIN-OR Clp (and the CoinUtils it needs) and defines Clp::Clp.
find_path(Clp_INCLUDE_DIR ClpSimplex.hpp PATH_SUFFIXES coin coin-or)  # coin-or from Clp 2
find_library(Clp_LIBRARY Clp)
find_library(CoinUtils_LIBRARY CoinUtils)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp REQUIRED_VARS Clp_LIBRARY CoinUtils_LIBRARY Clp_INCLUDE_DIR)
if(Clp_FOUND AND NOT TARGET Clp::Clp)
  add_library(Clp::Clp INTERFACE IMPORTED)
  set_target_properties(Clp::Clp PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Clp_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${Clp_LIBRARY};${CoinUtils_LIBRARY}")
endif()
