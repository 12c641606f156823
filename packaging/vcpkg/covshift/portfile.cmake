# The library for vcpkg, from the sdist:
#     make dist
#     vcpkg install covshift --overlay-ports=packaging/vcpkg
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_extract_source_archive(SOURCE_PATH
  ARCHIVE "${CMAKE_CURRENT_LIST_DIR}/../../../build/dist/covshift-${VERSION}.tar.gz")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DCOVSHIFT_CLI=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/covshift)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
