"""The source tree keeps its own rules: who includes whom, public headers, length of functions."""

import ast
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 80  # lines of a function
LONGEST_FILE = 600


def sources():
    """(folder, path) of every C++ source in a folder with a row in the table; cli/mpi belongs to cli."""
    folders = ("covshift/*/*", "cli/**/*", "python/bind/*", "playground/*")
    for path in sorted(path for folder in folders for path in ROOT.glob(folder)):
        if path.suffix in (".cpp", ".hpp"):
            folder = str(path.parent.relative_to(ROOT))
            yield "cli" if folder.startswith("cli/") else folder, path


def includes(path):
    text = path.read_text(encoding="utf-8")
    return re.findall(r'^#include ["<]((?:covshift|cli|python/bind|playground)/[^">]+)[">]', text, re.M)


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


def blocks(text):
    """(line, lines) of functions and other blocks of C++ and JavaScript: up to a lone brace, from the last line before
    it that is indented as it is."""
    lines = text.split("\n")
    for end, line in enumerate(lines):
        if re.fullmatch(r" *\}", line):
            opening = re.compile(line[:-1] + r"[^\s#/]")
            begin = next((k for k in range(end - 1, -1, -1) if opening.match(lines[k])), end)
            if not lines[begin].startswith("class "):  # of JavaScript
                yield begin + 1, end - begin - 1


class Path(unittest.TestCase):
    def test_every_step_is_where_the_page_says(self):
        text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
        path = text[text.index("## The path of a row"):]
        self.assertIn("\n15. ", path)
        self.assertNotIn("\n16. ", path)
        steps = re.findall(r"`([\w:]+)`\s\(`([\w/]+\.[ch]pp)`\)", path)
        self.assertGreater(len(steps), 15)
        for name, file in steps:
            place = ROOT / file if (ROOT / file).exists() else ROOT / "covshift" / file
            words = re.findall(r"\w+", place.read_text(encoding="utf-8"))
            for part in name.split("::"):
                self.assertIn(part, words, file)


class Lengths(unittest.TestCase):
    def sources(self):
        for folder in ("covshift", "cli", "python", "playground", "fuzz", "bench", "tests", "scripts", "examples"):
            yield from (path for path in sorted(ROOT.glob(f"{folder}/**/*"))
                        if path.suffix in (".cpp", ".hpp", ".py", ".js", ".css", ".sh"))

    def test_functions_are_found(self):
        text = "int f(int x,\n      int y) {\n  if (x) {\n    return y;\n  }\n  return 2;\n}\nstruct A {\n  int g() {\n    return 3;\n  }\n};\n"
        self.assertEqual(list(blocks(text)), [(3, 1), (1, 5), (9, 1)])

    def test_files_are_short(self):
        sources = list(self.sources())
        self.assertGreater(len(sources), 500, "the sources were not found")
        for path in sources:
            lines = len(path.read_text(encoding="utf-8").splitlines())
            self.assertLess(lines, LONGEST_FILE, path)

    def test_functions_are_short(self):
        """Those of C++ are checked by clang-tidy as well (.clang-tidy)."""
        count = 0
        for path in self.sources():
            if path.suffix not in (".cpp", ".hpp", ".js"):
                continue
            for line, length in blocks(path.read_text(encoding="utf-8")):
                self.assertLess(length, LONGEST, f"{path}:{line}")
                count += 1
        self.assertGreater(count, 3000, "the functions were not found")

    def test_functions_in_python_are_short(self):
        for path in (path for path in self.sources() if path.suffix == ".py" and "tests" not in path.parts):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    first = node.body[0]
                    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                    start = first.end_lineno if documented else node.lineno
                    self.assertLess(node.end_lineno - start, LONGEST, f"{path}: {node.name}")


if __name__ == "__main__":
    unittest.main()
