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
  # Unlike a shared library an archive does not say what it needs (LAPACK, bzip2, ...); pkg-config may know.
  cmake_path(GET CoinUtils_LIBRARY EXTENSION LAST_ONLY Clp_kind)
  if(Clp_kind STREQUAL CMAKE_STATIC_LIBRARY_SUFFIX)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(PC_Clp QUIET clp)
    endif()
    if(PC_Clp_FOUND)
      set(Clp_more ${PC_Clp_STATIC_LIBRARIES})
      list(FILTER Clp_more EXCLUDE REGEX "^(Clp|ClpSolver|CoinUtils)$")  # the archives themselves, and Clp's program
      set_property(TARGET Clp::Clp APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${Clp_more})
      set_property(TARGET Clp::Clp PROPERTY INTERFACE_LINK_DIRECTORIES ${PC_Clp_STATIC_LIBRARY_DIRS})
      unset(Clp_more)
    endif()
  endif()
  unset(Clp_kind)
endif()
