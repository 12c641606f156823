"""Pages that are written by hand state what the generated ones have."""

import os
import re
import unittest

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


class Examples(unittest.TestCase):
    def test_the_lines_in_c_plus_plus_are_those_of_a_program_that_is_compiled(self):
        with open(os.path.join(DOCS, "..", "examples", "mpi", "fit.cpp"), encoding="utf-8") as file:
            program = {line.strip() for line in file}
        (block,) = re.findall(r"```cpp\n(.*?)```", page("large-data.md"), re.S)
        self.assertLessEqual(set(filter(None, block.splitlines())), program)


class Figures(unittest.TestCase):
    """docs/figures.md and docs/results.md are of one run: one program, one seed."""

    def setUp(self):
        self.results = page("results.md")
        written = page("figures.md")
        self.text = written[written.index("## Results"):written.index("These results depend on choices")]

    def test_seed_and_draws(self):
        draws, seed = re.search(r"(\d+) draws, seed (\d+)", self.text).groups()
        self.assertEqual(self.results.count(f"on the target, {draws} draws, seed {seed}, "), 3)

    def test_means(self):
        generated = set(re.findall(r"\d\.\d{3} ± \d\.\d{3}", self.results))
        stated = re.findall(r"\d\.\d{3} ± \d\.\d{3}", self.text)
        self.assertGreater(len(stated), 15)
        for number in stated:
            self.assertIn(number, generated)

    def test_quantiles(self):
        rows = re.findall(r"^\|[^|]*\| (\d\.\d{3} ± \d\.\d{3}) \| (\d\.\d{3}) \| (\d\.\d{3}) to (\d\.\d{3}) \|", self.text, re.M)
        self.assertEqual(len(rows), 8)
        for mean, median, low, high in rows:
            self.assertRegex(self.results, rf"{mean} \| {low} \| \S+ \| {median} \| \S+ \| {high} \|")


if __name__ == "__main__":
    unittest.main()
