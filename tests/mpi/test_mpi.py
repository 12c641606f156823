"""Several processes with mpirun against one: fit, predict, evaluate, diagnose. `make test-mpi`."""

import csv
import glob
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = os.path.abspath(os.environ.get("COVSHIFT", os.path.join(ROOT, "build", "covshift")))
MPIRUN = shutil.which("mpirun")
# As root and with more processes than cores, as on a build machine.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")


def make_rows(count, mean, seed, labelled=True):
    """Numbers under a shift, a category, text with quotes, commas and line ends, missing values."""
    generator = random.Random(seed)
    for i in range(count):
        x = generator.gauss(mean, 1)
        z = generator.gauss(0, 1)
        colour = generator.choice(["red", "blue", 'a "dark" one', "two\nlines", "x, y"])
        score = x - 0.5 * z + (colour == "red") + generator.gauss(0, 0.7)
        row = [f"{x:.6f}", "" if generator.random() < 0.02 else f"{z:.6f}", colour]
        yield row + ["yes" if score > 0.3 else "no"] if labelled else row


def write(path, rows, header):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


class Processes(unittest.TestCase):
    def setUp(self):
        if not MPIRUN or not os.path.exists(os.path.join(os.path.dirname(PROGRAM), "covshift-mpi")):
            self.skipTest("covshift-mpi was not built")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        train = list(make_rows(600, 0, 1))
        target = list(make_rows(400, 0.6, 2, labelled=False))
        truth = list(make_rows(300, 0.6, 3))
        header = ["x", "z", "colour", "y"]
        write(self.path("train.csv"), train, header)
        write(self.path("new.csv"), target, header[:3])
        write(self.path("truth.csv"), truth, header)
        for part in range(5):  # uneven
            write(self.path(f"train-{part}.csv.gz"), train[part * part * 24:(part + 1) ** 2 * 24], header)
            write(self.path(f"new-{part}.csv.gz"), target[part * part * 16:(part + 1) ** 2 * 16], header[:3])

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, processes, *arguments):
        start = [MPIRUN, "-n", str(processes)] if processes > 1 else []
        return subprocess.run([*start, PROGRAM, *arguments], capture_output=True, text=True,
                              timeout=300, check=False, env=ENVIRONMENT, cwd=self.folder)

    def run_ok(self, processes, *arguments):
        done = self.call(processes, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fit(self, processes, train, target, *more):
        name = f"m{processes}.json"
        report = json.loads(self.run_ok(processes, "fit", train, "--target", target, "--label", "y",
                                        "--tolerance", "1e-12", "-o", name, "--json", *more))
        return name, report

    def predict(self, model, processes=1, data="truth.csv"):
        self.run_ok(processes, "predict", model, data, "-o", f"{model}.{processes}.csv")
        with open(self.path(f"{model}.{processes}.csv"), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def assert_same_model(self, one, other):
        (name, report), (other_name, other_report) = one, other
        self.assertLess(abs(report["objective"] - other_report["objective"]),
                        1e-9 * max(1, abs(report["objective"])))
        self.assertEqual(other_report["status"], "converged")
        for a, b in zip(self.predict(name), self.predict(other_name), strict=True):
            self.assertEqual(a["predicted"], b["predicted"])
            for column in a:
                if column.startswith("p:"):
                    self.assertAlmostEqual(float(a[column]), float(b[column]), delta=1e-6)

    def test_one_file_by_ranges_of_bytes(self):
        for method in ("auto", "robust", "robust01-view"):
            one = self.fit(1, "train.csv", "new.csv", "--method", method)
            for processes in (2, 4):
                with self.subTest(method, processes=processes):
                    other = self.fit(processes, "train.csv", "new.csv", "--method", method)
                    self.assert_same_model(one, other)
                    self.assertEqual(other[1]["engine"]["parts"], processes)
                    self.assertEqual(other[1]["engine"]["rows"], 600)
                    self.assertEqual(one[1]["missing"], other[1]["missing"])
                    self.assertAlmostEqual(one[1]["certificate"]["bound"] or 0,
                                           other[1]["certificate"]["bound"] or 0, delta=1e-6)

    def test_files_dealt_by_a_pattern(self):
        one = self.fit(1, "train.csv", "new.csv", "--method", "robust")
        for processes in (3, 7):  # 7: two have no file
            with self.subTest(processes=processes):
                other = self.fit(processes, "train-*.csv.gz", "new-*.csv.gz", "--method", "robust")
                self.assert_same_model(one, other)

    def test_given_densities_penalty_and_costs(self):
        """What is read from columns, and what other losses and penalties add up, with processes that have no rows."""
        generator = random.Random(5)
        header = ["x", "z", "g", "r", "r_x", "y"]

        def rows(count, mean):
            for _ in range(count):
                x, z = generator.gauss(mean, 1), generator.gauss(0, 1)
                ratio = 2.718281828 ** (0.6 * x - 0.18)
                kind = "abc"[min(2, max(0, round(x - z + generator.gauss(0, 1)) + 1))]
                yield [f"{v:.6f}" for v in (x, z, 0.1 * z, ratio, ratio * (1 + 0.1 * generator.random()))] + [kind]

        train, target, truth = list(rows(300, 0)), list(rows(200, 0.6)), list(rows(100, 0.6))
        write(self.path("all.csv"), train, header)
        write(self.path("to.csv"), target, header)
        write(self.path("truth.csv"), truth, header)
        for part in range(3):
            write(self.path(f"all-{part}.csv.gz"), train[part * 100:part * 100 + 100], header)
            write(self.path(f"to-{part}.csv.gz"), target[part * 60:part * 60 + (60 if part < 2 else 80)], header)
        with open(self.path("costs.csv"), "w", encoding="utf-8") as file:
            file.write("0,1,4\n2,0,1\n1,3,0\n")
        with open(self.path("views"), "w", encoding="utf-8") as file:
            file.write("first = x\nsecond = z\n")
        views = ["--views", "views"]
        for options in (["--ratio", "column:r", "--drop", "g,r_x"],
                        ["--ratio", "column:r,first=column:r_x", "--drop", "g", "--method", "robust-view", *views],
                        ["--ratio", "logistic,first=column:r_x", "--drop", "g,r", "--method", "robust-view", *views],
                        ["--ratio", "column:r", "--generalize", "column:g", "--drop", "r_x"],
                        ["--penalty", "norm", "--method", "robust", "--drop", "g,r,r_x"],
                        ["--loss", "cost:costs.csv", "--method", "robust", "--drop", "g,r,r_x"]):
            with self.subTest(options):
                one = self.fit(1, "all.csv", "to.csv", *options)
                self.assert_same_model(one, self.fit(2, "all.csv", "to.csv", *options))
                self.assert_same_model(one, self.fit(5, "all-*.csv.gz", "to-*.csv.gz", *options))

    def test_predict_evaluate_and_diagnose(self):
        name, _ = self.fit(1, "train.csv", "new.csv", "--method", "robust")
        alone = self.predict(name)
        self.assertEqual(alone, self.predict(name, processes=3))
        scores = json.loads(self.run_ok(1, "evaluate", name, "truth.csv", "--json"))
        together = json.loads(self.run_ok(4, "evaluate", name, "truth.csv", "--json"))
        self.assertEqual(scores["confusion"], together["confusion"])
        self.assertAlmostEqual(scores["log_loss"], together["log_loss"], delta=1e-12)
        counts = json.loads(self.run_ok(3, "predict", name, "truth.csv", "--json"))
        self.assertEqual(counts["n"], 300)
        self.assertEqual(len(counts["rows"]), 300)
        first = json.loads(self.run_ok(1, "diagnose", "train.csv", "new.csv", "--label", "y", "--json"))
        second = json.loads(self.run_ok(2, "diagnose", "train.csv", "new.csv", "--label", "y", "--json"))
        self.assertEqual(first["recommendation"]["method"], second["recommendation"]["method"])
        self.assertAlmostEqual(first["domain_auc"], second["domain_auc"], delta=1e-6)

    def test_a_column_that_is_text_in_one_part(self):
        rows = list(make_rows(200, 0, 4))
        for row in rows:
            row[2] = str(random.Random(row[0]).randrange(3))
        rows[-1][2] = "none"  # only the last process sees that the column holds categories
        write(self.path("codes.csv"), rows, ["x", "z", "colour", "y"])
        arguments = ("--method", "lr")
        one = self.fit(1, "codes.csv", "codes.csv", *arguments)
        other = self.fit(4, "codes.csv", "codes.csv", *arguments)
        self.assertEqual(one[1]["features"], other[1]["features"])
        self.assertLess(abs(one[1]["objective"] - other[1]["objective"]), 1e-9)

    def test_errors_are_said_once_and_nothing_is_written(self):
        rows = list(make_rows(100, 0, 5))
        rows[80][3] = ""  # a missing label, in the second part
        write(self.path("bad.csv"), rows, ["x", "z", "colour", "y"])
        for arguments, expected, code in (
                (("fit", "bad.csv", "--target", "new.csv", "--label", "y"), "bad.csv:", 1),
                (("fit", "absent-*.csv", "--label", "y"), "no file matches", 1),
                (("fit", "train.csv", "--target", "new.csv", "--label", "nothing"), "nothing", 1),
                (("fit", "train.csv", "--method", "no", "--label", "y"), "no", 2)):
            with self.subTest(arguments=arguments):
                done = self.call(3, *arguments, "-o", "none.json")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(expected, done.stderr)
                said = [line for line in done.stderr.splitlines() if line.startswith("covshift:")]
                self.assertLessEqual(len(said), 2, done.stderr)
                self.assertFalse(glob.glob(self.path("none.json*")))
        done = self.call(2, "compare", "train.csv", "new.csv", "--label", "y")
        self.assertEqual(done.returncode, 2)
        self.assertIn("without mpirun", done.stderr)

    def test_the_commands_of_the_page(self):
        """docs/large-data.md as it stands: its commands, and its job with mpirun in the place of srun."""
        with open(os.path.join(ROOT, "docs", "large-data.md"), encoding="utf-8") as file:
            commands, job = re.findall(r"^```bash\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)[:2]
        os.rename(self.path("truth.csv"), self.path("labelled_new.csv"))
        os.mkdir(self.path("bin"))
        os.symlink(PROGRAM, self.path("bin/covshift"))
        with open(self.path("bin/srun"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec mpirun -n 3 "$@"\n')
        os.chmod(self.path("bin/srun"), 0o755)
        environment = dict(ENVIRONMENT, PATH=f"{self.path('bin')}:{os.environ['PATH']}", SLURM_CPUS_PER_TASK="1")
        for text in (commands, job.replace("/data/", self.folder + "/")):
            self.assertIn("covshift fit", text)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True,
                                  timeout=600, check=False, env=environment, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("model written to", done.stdout)
        self.assertTrue(os.path.exists(self.path("predictions.csv")))

    def test_the_example_in_cpp(self):
        example = os.path.join(os.path.dirname(PROGRAM), "examples", "mpi_fit")
        if not os.path.exists(example):
            self.skipTest("the example was not built")
        done = subprocess.run([MPIRUN, "-n", "3", example], capture_output=True, text=True, timeout=300,
                              check=True, env=ENVIRONMENT)
        self.assertRegex(done.stdout, r"3 processes, 6000 rows: objective 0\.\d+, gap .*, \d+ passes")

    def test_a_killed_process_ends_all(self):
        rows = [(f"{random.Random(i).gauss(0, 1):.6f}", *[f"{random.Random(31 * i + j).random():.4f}" for j in range(20)],
                 "ab"[i % 2]) for i in range(20000)]
        header = [f"c{j}" for j in range(21)] + ["y"]
        write(self.path("long.csv"), rows, header)
        command = [MPIRUN, "-n", "3", PROGRAM, "fit", "long.csv", "--target", "long.csv", "--label", "y",
                   "-o", "killed.json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=ENVIRONMENT, cwd=self.folder) as job:
            victim = None
            end = time.monotonic() + 60
            while victim is None and time.monotonic() < end:
                time.sleep(0.3)
                children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True,
                                          check=False).stdout.split()
                if len(children) >= 3:
                    victim = int(children[-1])
            time.sleep(0.7)
            os.kill(victim, signal.SIGKILL)
            begin = time.monotonic()
            _, messages = job.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(messages, "(?i)kill|signal")
        self.assertFalse(glob.glob(self.path("killed.json*")))


if __name__ == "__main__":
    sys.exit(unittest.main())
