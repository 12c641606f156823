"""The recipes in packaging/ agree with the build: version, dependencies, the file they build from."""

import ast
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What CMake finds, and its name for Conan, vcpkg and conda.
NAMES = {
    "Eigen3": ("eigen", "eigen3", "eigen"),
    "fmt": ("fmt", "fmt", "fmt"),
    "nlohmann_json": ("nlohmann_json", "nlohmann-json", "nlohmann_json"),
    "ZLIB": ("zlib", "zlib", "zlib"),
    "Boost": ("boost", "boost-math", "libboost-headers"),
    "Clp": ("coin-clp", "coin-or-clp", "coin-or-clp"),
}


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = text_of("CMakeLists.txt")
        cls.version = re.search(r"project\(covshift VERSION ([0-9.]+)", build)[1]
        before_program = build.split("if(COVSHIFT_CLI)")[0]
        cls.cmake = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", build)[1]
        cls.libraries = set(re.findall(r"^ *find_package\((\w+)", before_program, re.M)) - {"Threads"}  # of the C library

    def test_the_table_of_names_is_complete(self):
        self.assertEqual(self.libraries, set(NAMES))

    def test_conan(self):
        text = text_of("packaging/conan/conanfile.py")
        ast.parse(text)
        self.assertNotIn(self.version, text)  # read from CMakeLists.txt
        tools = re.findall(r'tool_requires\("([\w-]+/\S+)"\)', text)
        self.assertEqual(tools, [f"cmake/[>={self.cmake}]"])
        required = set(re.findall(r'"([\w-]+)/[0-9\[]', text)) - {"cmake"}
        self.assertEqual(required, {names[0] for names in NAMES.values()})
        self.assertIn('"build", "dist", f"covshift-{self.version}.tar.gz"', text)
        platform = text_of("packaging/conan/debian.profile").split("[platform_requires]")[1].split()
        self.assertEqual({name.split("/")[0] for name in platform}, {names[0] for names in NAMES.values()})
        exact = set(re.findall(r'"([\w-]+/[0-9.]+)"', text))
        self.assertEqual({name for name in platform if not name.startswith("zlib/")}, exact)
        ast.parse(text_of("packaging/conan/test_package/conanfile.py"))
        self.assertIn(f"VERSION {self.cmake})", text_of("packaging/conan/test_package/CMakeLists.txt"))

    def test_vcpkg(self):
        manifest = json.loads(text_of("packaging/vcpkg/covshift/vcpkg.json"))
        self.assertEqual(manifest["version-semver"], self.version)
        self.assertEqual({name for name in manifest["dependencies"] if isinstance(name, str)},
                         {names[1] for names in NAMES.values()})
        port = text_of("packaging/vcpkg/covshift/portfile.cmake")
        archive = re.search(r"\$\{CMAKE_CURRENT_LIST_DIR\}/([./]+)/build/dist/covshift-\$\{VERSION\}.tar.gz", port)
        self.assertEqual((ROOT / "packaging/vcpkg/covshift" / archive[1]).resolve(), ROOT)

    def test_conda(self):
        text = text_of("packaging/conda/recipe.yaml")
        self.assertIn(f'version: "{self.version}"', text)
        host = text.split("  host:")[1].split("  run:")[0]
        self.assertLessEqual({names[2] for names in NAMES.values()} | {"cli11"},
                             set(re.findall(r"- ([\w-]+)", host)))
        project = text_of("pyproject.toml")
        for section, pattern in ((text.split("  run:")[1], r"dependencies = \[(.*)\]"), (host, r"requires = \[(.*)\]")):
            for name, least in re.findall(r'"([\w-]+)>=([\d.]+)"', re.search(pattern, project)[1]):
                self.assertIn(f"- {name} >={least}\n", section)
        oldest = re.search(r'requires-python = ">=([\d.]+)"', project)[1]
        self.assertIn(f"- python >={oldest}\n", text)
        self.assertIn("path: ../../build/dist/covshift-${{ version }}.tar.gz", text)

    def test_the_build_writes_the_version_once(self):
        for path in ("pyproject.toml", "python/CMakeLists.txt", "python/covshift/__init__.py",
                     "covshift/base/version.cpp", "cmake/covshift.pc.in"):
            self.assertNotIn(self.version, text_of(path), path)


if __name__ == "__main__":
    unittest.main()
