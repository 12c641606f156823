"""Nearly the same data give nearly the same answers."""

import csv
import gzip
import math
import pathlib
import random
import struct
import unittest

from program import ProgramTest

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "shift"


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def changed(header, rows, change):
    """Rows whose numbers, but not the label, are changed; change gets a number and its column's range."""
    columns = [list(column) for column in zip(*rows)]
    for name, column in zip(header, columns):
        if name == "label" or not all(map(is_number, column)):
            continue
        values = [float(text) for text in column]
        extent = max(values) - min(values)
        column[:] = [repr(change(value, extent)) for value in values]
    return [list(row) for row in zip(*columns)]


def float32(value, _):
    return struct.unpack("f", struct.pack("f", value))[0]


class Steady(ProgramTest):
    def probabilities(self, train, target, *flags):
        for name, (header, rows) in (("train.csv", train), ("target.csv", target)):
            self.write_rows(name, header, rows)
        self.run_ok("fit", self.path("train.csv"), "--target", self.path("target.csv"), "--label", "label",
                    "-o", self.path("m.json"), "-q", *flags)
        self.run_ok("predict", self.path("m.json"), self.path("target.csv"), "-o", self.path("p.csv"), "-q")
        rows = self.read_rows("p.csv")
        names = [name for name in rows[0] if name.startswith("p:")]
        return [[float(row[name]) for name in names] for row in rows]

    def check(self, train, target, seed=True):
        plain = self.probabilities(train, target)

        def moved(a, b, *flags):
            other = self.probabilities(a, b, *flags)
            return max(abs(p - q) for one, two in zip(plain, other) for p, q in zip(one, two))

        draws = random.Random(1)
        jitter = lambda value, extent: value + 1e-7 * extent * draws.gauss(0, 1)
        for what, change in (("jitter", jitter), ("float32", float32)):
            other = [(header, changed(header, rows, change)) for header, rows in (train, target)]
            self.assertLess(moved(*other), 1e-3, what)
        reversed_columns = [(header[::-1], [row[::-1] for row in rows]) for header, rows in (train, target)]
        self.assertLess(moved(*reversed_columns), 1e-3, "order of columns")
        if seed:
            self.assertLess(moved(train, target, "--seed", 1), 0.02, "another seed")

    @staticmethod
    def people(count, seed, older):
        """Ages, categories and sums of money: many of the rows are equal, and some columns of few values."""
        draws = random.Random(seed)
        rows = []
        for _ in range(count):
            age = min(70, max(18, 5 * round(draws.gauss(38 + older, 10) / 5)))
            city = draws.choices(["Ulm", "Bonn", "Kiel"], (5, 3, 1))[0]
            member = draws.randrange(2)
            money = round(math.exp(draws.gauss(age / 30, 0.3)), 1)
            odds = 0.08 * (age - 45) + (city == "Kiel") - member + 0.2 * money * (age > 40)
            rows.append([age, city, member, money, "yes" if draws.random() < 1 / (1 + math.exp(-odds)) else "no"])
        return ["age", "city", "member", "money", "label"], rows

    def test_people(self):
        self.check(self.people(400, 1, 0), self.people(300, 2, 8))

    def test_without_a_shift(self):
        self.check(self.people(400, 3, 0), self.people(300, 4, 0))

    @staticmethod
    def texts(count, seed, words):
        """Shares of a hundred words, most of them rare: each column ranges over many of its deviations, and what a
        digit moves adds up. Every tenth row is a copy."""
        draws = random.Random(seed)
        header = [f"w{j}" for j in range(words)] + ["label"]
        rows = []
        for i in range(count):
            if i % 10 == 9:
                rows.append(rows[i // 2])
                continue
            found = [min(int(draws.expovariate(0.05)), words - 1) for _ in range(6)]
            odds = 2 * sum(1 if j % 3 == 0 else -0.5 for j in found)
            rows.append([found.count(j) / 6 for j in range(words)] +
                        ["yes" if draws.random() < 1 / (1 + math.exp(-odds)) else "no"])
        return header, rows

    def test_rare_words_and_copies(self):
        self.check(self.texts(300, 5, 100), self.texts(300, 6, 100), seed=False)

    @unittest.skipUnless(SHARED.exists(), "the shared data do not lie beside the checkout")
    def test_shared_task(self):
        tables = []
        for name in ("train", "target"):
            with gzip.open(SHARED / "adult-low-to-high-education" / f"{name}.csv.gz", "rt", newline="") as file:
                rows = list(csv.reader(file))
            tables.append((rows[0], rows[1:]))
        self.check(*tables)


if __name__ == "__main__":
    unittest.main()
