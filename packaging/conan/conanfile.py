"""The library for Conan 2, from the sdist:

    make dist
    conan create packaging/conan --build=missing
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir, unzip


class Covshift(ConanFile):
    name = "covshift"
    description = "Classification under covariate shift, with a certificate"
    license = "BSD-3-Clause"
    topics = ("machine-learning", "covariate-shift")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    default_options = {"boost/*:header_only": True}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"project\(covshift VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        unzip(self, os.path.join(self._root, "build", "dist", f"covshift-{self.version}.tar.gz"),
              destination=self.export_sources_folder, strip_root=True)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        for name in ("eigen/3.4.0", "fmt/10.2.1", "nlohmann_json/3.11.3"):
            self.requires(name, transitive_headers=True)
        for name in ("boost/1.84.0", "coin-clp/1.17.7", "zlib/[>=1.2.11 <2]"):
            self.requires(name)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COVSHIFT_CLI"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="covshift")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in ("cmake", "pkgconfig"):  # Conan writes its own
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.libs = ["covshift"]
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "m"]
