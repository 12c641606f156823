"""Runs the program as a user would, on data that the tests make."""

import csv
import json
import math
import os
import random
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get(
    "COVSHIFT", os.path.join(os.path.dirname(__file__), "..", "..", "build", "covshift")
)


class ProgramTest(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def write_rows(self, name, header, rows):
        with open(self.path(name), "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
        return self.path(name)

    def read_rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def call(self, *arguments):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
        )

    def run_ok(self, *arguments):
        result = self.call(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def run_json(self, *arguments):
        return json.loads(self.run_ok(*arguments, "--json").stdout)

    def run_next(self, words):
        """A command that the program recommends, run in the test's folder; its output."""
        done = subprocess.run(
            [os.path.abspath(PROGRAM), *words], capture_output=True, text=True, timeout=300, check=False,
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_fails(self, code, *arguments, says=()):
        """The call ends with this code, explains itself on stderr and leaves stdout alone."""
        result = self.call(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertNotIn("terminate", result.stderr)
        return result


class MessageTest(ProgramTest):
    """A test of what the program says of a table, t.csv, word for word. The folder's name is left out."""

    def setUp(self):
        super().setUp()
        self.header, self.rows, self.target_rows = shifted_data(seed=5)
        self.model = self.path("model.json")
        self.train = self.write_rows("t.csv", self.header, self.rows)

    def fit(self, train, *flags, label="y"):
        """Fits without choices or a target; returns stderr."""
        result = self.run_ok("fit", train, "--label", label, "--method", "lr", "--lambda", "0.01", "-q", "-o",
                             self.model, *flags)
        return result.stderr.replace(self.folder + "/", "")

    def says(self, code, text, *arguments):
        """The call fails with this code and says exactly this."""
        result = self.assert_fails(code, *arguments)
        self.assertEqual(result.stderr.replace(self.folder + "/", ""), text)

    def refuses(self, text, *arguments):
        """The call is a usage error, of which the program says exactly this."""
        self.says(2, f"covshift: {text}\nRun with --help for more information.\n", *arguments)


def shifted_data(seed=0, n_train=120, n_target=150, classes=3):
    """Two Gaussian inputs that shift in x1, and a third that does not matter."""
    source = random.Random(seed)
    names = ["ash", "birch", "cedar", "douglas"][:classes]

    def row(mean):
        x = [source.gauss(mean, 1), source.gauss(0, 1), source.gauss(0, 1)]
        scores = [x[1] + 0.3 * x[0], -x[1] + 0.2, 0.8 * x[0] - 0.5, 0.1 * x[2]][:classes]
        noisy = [s + source.gauss(0, 0.6) for s in scores]
        return [f"{v:.6f}" for v in x] + [names[noisy.index(max(noisy))]]

    train = [row(0) for _ in range(n_train)]
    target = [row(1) for _ in range(n_target)]
    return ["x1", "x2", "x3", "y"], train, target


def softmax(psi):
    top = max(psi)
    exps = [math.exp(v - top) for v in psi]
    return [v / sum(exps) for v in exps]
