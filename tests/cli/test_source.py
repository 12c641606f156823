"""The source tree keeps its own rules: who includes whom, public headers, length of functions."""

import ast
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 80  # lines of a function; clang-tidy checks those in C++ (.clang-tidy)


def sources():
    """(folder, path) of every C++ source in a folder with a row in the table."""
    folders = ("covshift/*/*", "cli/*", "python/bind/*", "playground/*")
    for path in sorted(path for folder in folders for path in ROOT.glob(folder)):
        if path.suffix in (".cpp", ".hpp"):
            yield str(path.parent.relative_to(ROOT)), path


def includes(path):
    text = path.read_text(encoding="utf-8")
    return re.findall(r'^#include ["<]((?:covshift|cli|python/bind)/[^">]+)[">]', text, re.M)


def permissions():
    """The table of docs/architecture.md: folder -> folders and headers that it may use."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| .* \| ([^|]*) \|$", text, re.M)
    return {
        folder: {"covshift/" + name.strip() for name in uses.split(",") if name.strip() != "nothing"}
        for folder, uses in rows
    }


class Includes(unittest.TestCase):
    def test_follow_the_table(self):
        allowed = permissions()
        used = {folder: set() for folder in allowed}
        for folder, path in sources():
            self.assertIn(folder, allowed, "no row in docs/architecture.md")
            for header in includes(path):
                other = header.rpartition("/")[0]
                permission = header if header in allowed[folder] else other
                if other != folder:
                    self.assertIn(permission, allowed[folder], f"{path} includes {header}")
                    used[folder].add(permission)
        for folder, names in allowed.items():
            self.assertEqual(names - used[folder], set(), f"{folder} may use these but does not")

    def test_have_no_cycle(self):
        allowed = permissions()
        self.assertGreater(len(allowed), 10, "the table was not found")
        below = {
            folder: {re.sub(r"/[^/]*\.hpp$", "", name) for name in names}
            for folder, names in allowed.items()
        }
        while below:
            lowest = [folder for folder, names in below.items() if not names & set(below)]
            self.assertTrue(lowest, f"a cycle among {sorted(below)}")
            for folder in lowest:
                del below[folder]

    def test_public_headers_include_public_headers_only(self):
        public = includes(ROOT / "covshift/covshift.hpp")
        for header in public:
            for other in includes(ROOT / header):
                self.assertIn(other, public, f"{header} is public but includes {other}")


class Functions(unittest.TestCase):
    def test_in_python_are_short(self):
        for path in sorted(ROOT.glob("python/**/*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    first = node.body[0]
                    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                    start = first.end_lineno if documented else node.lineno
                    self.assertLessEqual(node.end_lineno - start, LONGEST, f"{path}: {node.name}")


if __name__ == "__main__":
    unittest.main()
