"""docs/equations.md names files, functions, flags and tests: all of them exist."""

import glob
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def text_of(pattern):
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


class Equations(unittest.TestCase):
    def setUp(self):
        self.page = text_of("docs/equations.md")
        self.rows = [
            [cell.strip() for cell in line.strip("|\n").split("|")]
            for line in self.page.splitlines()
            if line.startswith("| ") and not line.startswith("| in the paper")
        ]
        self.names = [name for name in re.findall(r"`([^`]+)`", self.page)]

    def test_every_row_has_its_four_cells(self):
        self.assertGreater(len(self.rows), 60)
        for row in self.rows:
            self.assertEqual(len(row), 4, row)
            self.assertTrue(row[0] and row[1], row)

    def test_files_exist(self):
        files = [name for name in self.names if "/" in name and " " not in name]
        self.assertGreater(len(files), 40)
        for name in files + re.findall(r"\]\(([^)]+)\)", self.page):
            path = name if "/" in name else os.path.join("docs", name)
            self.assertTrue(os.path.isfile(os.path.join(ROOT, path)), name)

    def test_tests_exist(self):
        sources = text_of("tests/*/*.cpp")
        cpp = {
            f"{suite}.{name}"
            for suite, name in re.findall(r"^(?:RC_GTEST_PROP|TEST\w*)\((\w+),\s*(\w+)", sources, re.M)
        }
        programs = set(re.findall(r"def (test_\w+)", text_of("tests/cli/*.py")))
        named = [name for row in self.rows for name in re.findall(r"`([^`]+)`", row[3])]
        self.assertGreater(len(named), 60)
        for name in named:
            self.assertIn(name, cpp if "." in name else programs)

    def test_flags_and_commands_exist(self):
        page = text_of("docs/options.md")
        for row in self.rows:
            for flag in re.findall(r"--[a-z-]+", row[2]):
                self.assertTrue(f"`{flag}`" in page or flag in ("--json", "--data"), f"{flag} in {row}")

    def test_functions_exist(self):
        sources = text_of("covshift/**/*.[ch]pp")
        for row in self.rows:
            for name in re.findall(r"`([A-Za-z_:]+)`", row[1]):
                for part in name.split("::"):
                    self.assertRegex(sources, rf"\b{part}\b", row)


if __name__ == "__main__":
    unittest.main()
