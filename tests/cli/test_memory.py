"""Files that are read a block at a time, with rows in a cache on disk, give what whole files give."""

import gzip
import json
import os
import random
import resource
import signal
import struct
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

FIT = ["--label", "y", "--method", "robust", "--lambda", "0.01", "--seed", "1"]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class MemoryTest(ProgramTest):
    def make(self, rows=6000):
        """Numbers, categories, missing values, and text late in a column of numbers."""
        rng = random.Random(3)

        def line(shift, k, last):
            x = [rng.gauss(shift, 1) for _ in range(5)]
            label = int(x[0] + x[1] + rng.gauss(0, 1) > 0)
            city = rng.choice(["Kiel", "Bonn", "\"Ulm, \nold\""]) if k != rows - 5 else "Rom"
            gap = "" if rng.random() < 0.1 else f"{rng.random():.3f}"
            code = "none" if k == last else f"{rng.randrange(4):03d}"
            return ",".join([f"{v:.6f}" for v in x] + [city, gap, code, f"c{label}"])

        header = "a,b,c,d,e,city,gap,code,y\n"
        train = self.write(
            "train.csv", header + "\n".join(line(0, k, rows - 100) for k in range(rows)) + "\n"
        )
        target = self.write(
            "new.csv", header + "\n".join(line(0.7, k, -1) for k in range(rows // 2)) + "\n"
        )
        return train, target

    def assert_close(self, one, other, data):
        """Two models give the same probabilities."""
        rows = [self.run_json("predict", self.path(model), data)["rows"] for model in (one, other)]
        for a, b in zip(*rows, strict=True):
            for name, p in a["p"].items():
                self.assertAlmostEqual(p, b["p"][name], delta=1e-6)

    def test_same_model_predictions_and_scores(self):
        train, target = self.make()
        whole = self.run_json("fit", train, "--target", target, *FIT, "-o", self.path("a.json"))
        streamed = self.run_ok(
            "fit", train, "--target", target, *FIT, "-o", self.path("b.json"), "--json",
            "--memory", "4M", "--cache-dir", self.folder,
        )
        self.assertIn("train.csv: read twice", streamed.stderr)
        self.assertIn("6000 rows of", streamed.stderr)
        report = json.loads(streamed.stdout)
        memory = report.pop("memory")
        self.assertEqual(memory["rows"], 6000)
        self.assertEqual(memory["target_rows"], 3000)
        self.assertEqual(memory["file_passes"], 3)  # `code` holds text late
        self.assertEqual(memory["limit"], 4 << 20)
        self.assertEqual(memory["cache_bytes"], 8 * 9000 * 16)
        self.assertFalse(memory["single_precision"])
        self.assertEqual(report["engine"]["name"], "disk")
        self.assertGreater(report["engine"]["passes"], 5)
        self.assertAlmostEqual(report["objective"], whole["objective"], delta=1e-9 * whole["objective"])
        self.assertEqual(os.listdir(self.folder).count("a.json"), 1)
        self.assertEqual([f for f in os.listdir(self.folder) if "cache" in f], [])
        for model, flags in (("a", []), ("b", ["--memory", "2M"])):
            self.run_ok("predict", self.path("b.json"), target, "-o", self.path(model + ".csv"), *flags)
        self.assertEqual(text_of(self.path("a.csv")), text_of(self.path("b.csv")))
        self.assert_close("a.json", "b.json", target)
        one = self.run_json("evaluate", self.path("a.json"), train)
        two = self.run_json("evaluate", self.path("b.json"), train, "--memory", "1M")
        for key, value in one.items():
            if isinstance(value, float):
                self.assertAlmostEqual(two[key], value, places=6, msg=key)
            elif key != "confusion":
                self.assertEqual(two[key], value, key)

    def test_rows_beyond_the_limit_take_half_the_cache(self):
        rng = random.Random(5)

        def table(name, rows, shift):
            lines = []
            for _ in range(rows):
                x = [rng.gauss(shift, 1) for _ in range(60)]
                lines.append(",".join(f"{1e6 + v:.9f}" for v in x) + f",{int(x[0] + x[1] + rng.gauss(0, 1) > 0)}")
            header = ",".join(f"x{k}" for k in range(60)) + ",y\n"
            return self.write(name, header + "\n".join(lines) + "\n")

        train, target = table("train.csv", 2000, 0), table("new.csv", 1000, 0.05)
        whole = self.run_json("fit", train, "--target", target, *FIT, "-o", self.path("a.json"))
        common = ["fit", train, "--target", target, *FIT, "--json", "-o", self.path("b.json"), "--memory"]
        for limit, flags, size in (("1M", [], 4), ("2M", [], 8), ("1M", ["--scale", "none"], 8)):
            result = self.run_ok(*common, limit, *flags)
            report = json.loads(result.stdout)
            self.assertEqual(report["memory"]["cache_bytes"], size * 3000 * 60)
            self.assertEqual(report["memory"]["single_precision"], size == 4)
            self.assertEqual("kept in single precision" in result.stderr, size == 4)
            if not flags:
                self.assertAlmostEqual(report["objective"], whole["objective"], delta=1e-7 * whole["objective"])
                # A few rows may be dealt to other folds.
                bound = whole["certificate"]["bound"]
                self.assertAlmostEqual(report["certificate"]["bound"], bound, delta=0.02 * bound)
                self.assert_close("a.json", "b.json", target)

    def test_packed_files_and_standard_input(self):
        train, target = self.make(800)
        with open(train, "rb") as file:
            text = file.read()
        with gzip.open(self.path("train.csv.gz"), "wb") as file:
            file.write(text)
        common = ["--target", target, *FIT, "--memory", "1M", "--quiet", "-o"]
        self.run_ok("fit", train, *common, self.path("a.json"))
        self.run_ok("fit", self.path("train.csv.gz"), *common, self.path("b.json"))
        subprocess.run(
            [PROGRAM, "fit", "-", *common, self.path("c.json")], input=text, check=True, timeout=300
        )
        self.assertEqual(text_of(self.path("a.json")), text_of(self.path("b.json")))
        self.assertEqual(text_of(self.path("a.json")), text_of(self.path("c.json")))

    def test_npy(self):
        rng = random.Random(1)
        rows = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(500)]
        rows = [[a, b, float(a + b > 0)] for a, b in rows]
        head = "{'descr': '<f8', 'fortran_order': False, 'shape': (500, 3), }"
        head += " " * (117 - len(head)) + "\n"
        with open(self.path("x.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
            file.write(struct.pack("<1500d", *(v for row in rows for v in row)))
        arguments = [self.path("x.npy"), "--label", "c3", "--method", "lr", "--lambda", "0.1", "-o"]
        self.run_ok("fit", *arguments, self.path("a.json"))
        self.run_ok("fit", *arguments, self.path("b.json"), "--memory", "1M")
        self.assert_close("a.json", "b.json", self.path("x.npy"))

    def test_bad_sizes(self):
        train, target = self.make(200)
        for size in ("0", "0G", "10K", "2 G", "2GB", "G", "-1G", "", "1e9", "99999999999T"):
            result = self.call("fit", train, *FIT, "-o", self.path("m.json"), "--memory", size)
            self.assertEqual(result.returncode, 2, size + result.stderr)
            self.assertIn("--memory", result.stderr)
            self.assertFalse(os.path.exists(self.path("m.json")))
        result = self.call(
            "fit", train, "--target", target, *FIT, "-o", self.path("m.json"), "--memory", "1M",
            "--cache-dir", self.path("none"),
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("none: no file can be made there", result.stderr)
        self.assertIn("--cache-dir", result.stderr)

    def test_rows_that_do_not_fit(self):
        text = "x,y\n" + "".join(f"{k % 17},{k % 2}\n" for k in range(40000))
        result = self.call(
            "fit", self.write("long.csv", text), *FIT[:2], "--method", "lr", "--lambda", "1", "-o",
            self.path("m.json"), "--memory", "1M",
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("a fit to 40000 rows keeps about", result.stderr)
        self.assertIn("allow at least", result.stderr)

    def test_bad_files(self):
        rows = "1,2,a\n2,1,b\n" * 30000
        cases = {
            "ragged.csv": ("x,z,y\n" + rows + "1,2\n", "ragged.csv:60002:3: expected 3 fields, found 2"),
            "empty.csv": ("", "the file is empty"),
            "head.csv": ("x,z,y\n", "there are no rows of data"),
            "label.csv": ("x,z,y\n" + rows + "1,2,\n", "label.csv:60002:3: the label (column 'y') is missing"),
            "inf.csv": ("x,z,y\n" + rows + "1,inf,a\n", "inf.csv:60002:2: the value of column 'z' is infinite"),
        }
        for name, (text, message) in cases.items():
            result = self.call(
                "fit", self.write(name, text), "--label", "y", "--header", "yes", "--method", "lr",
                "--lambda", "1", "-o", self.path("m.json"), "--memory", "16M",
            )
            self.assertNotEqual(result.returncode, 0, name)
            self.assertIn(message, result.stderr)
            self.assertFalse(os.path.exists(self.path("m.json")))

    def test_full_disk(self):
        train, target = self.make(6000)
        # A limit on the size of files stands for a disk that is full; its signal stays ignored, as Python has it.
        result = subprocess.run(
            [PROGRAM, "fit", train, "--target", target, *FIT, "-o", self.path("m.json"), "--memory", "64M",
             "--cache-dir", self.folder],
            capture_output=True, text=True, timeout=300, check=False, restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("there is no room for 2097152 bytes", result.stderr)
        self.assertIn("name another folder (--cache-dir", result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["new.csv", "train.csv"])

    def test_killed_runs_leave_nothing(self):
        train, target = self.make(6000)
        process = subprocess.Popen(
            [PROGRAM, "fit", train, "--target", target, "--label", "y", "-o", self.path("m.json"),
             "--memory", "16M", "--cache-dir", self.folder],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        time.sleep(0.4)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        self.assertEqual(sorted(os.listdir(self.folder)), ["new.csv", "train.csv"])


if __name__ == "__main__":
    unittest.main()
