# Debian's packages in place of Conan's, to try the recipe without a package server:
#     scripts/packages.sh build && make dist
#     conan create packaging/conan --profile:all=packaging/conan/debian.profile --no-remote --test-folder=""
# Conan does not know where Debian's libraries are, and so cannot link test_package with them.
{% set _, version, _ = detect_api.detect_gcc_compiler() %}
[settings]
os=Linux
arch={{ detect_api.detect_arch() }}
build_type=Release
compiler=gcc
compiler.version={{ detect_api.default_compiler_version("gcc", version) }}
compiler.libcxx=libstdc++11
compiler.cppstd=20

[platform_tool_requires]
cmake/3.25.1

[platform_requires]
boost/1.84.0
coin-clp/1.17.7
eigen/3.4.0
fmt/10.2.1
nlohmann_json/3.11.3
zlib/1.3.1
