"""Hostile files end in an error message and take memory in proportion to their size; the program is hardened."""

import gzip
import json
import os
import resource
import shutil
import struct
import subprocess
import unittest
import zlib

from program import PROGRAM, ProgramTest, shifted_data

MIB = 1 << 20


def sealed(body):
    """A model file with this body, as JSON text, and the checksum that belongs to it."""
    return (
        '{\n"format": "covshift model",\n"version": 2,\n"program": "covshift",\n'
        f'"checksum": "{zlib.crc32(body.encode()):08x}",\n"body": {body}\n}}\n'
    )


def npy(shape, data=b""):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class Hostile(ProgramTest):
    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def modest(self, size, *arguments):
        """Runs the program, which must take at most 64 MiB and 40 times the file."""

        def limit():  # whatever goes wrong, the machine survives
            resource.setrlimit(resource.RLIMIT_AS, (4096 * MIB, 4096 * MIB))

        with subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit
        ) as process:
            output = process.stdout.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertLessEqual(usage.ru_maxrss * 1024, 64 * MIB + 40 * size, output)
        self.assertIn(process.returncode, (0, 1), output)
        return process.returncode, output

    def fit_modestly(self, path, *flags, label="label"):
        return self.modest(
            os.path.getsize(path), "fit", path, "--label", label, "--method", "lr", "--lambda", "1",
            "-q", "-o", self.path("m.json"), *flags,
        )

    # --- memory ---

    def test_a_huge_index_in_svmlight(self):
        path = self.write_bytes("a.svm", b"+1 1:2 2147483646:1\n-1 1:3 2:4\n")
        self.assertEqual(self.fit_modestly(path), (0, ""))
        code, output = self.modest(
            os.path.getsize(path), "predict", self.path("m.json"), path
        )
        self.assertEqual(code, 0, output)

    def test_sparse_rows_of_arff(self):
        columns = 5_000
        text = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(columns))
        text += "@attribute label {x,y}\n@data\n" + ("{0 1}\n{0 2, %d y}\n" % columns) * 10_000
        code, output = self.fit_modestly(self.write("s.arff", text))
        self.assertEqual(code, 1)
        for says in ("s.arff:", "sparse rows of 5001 attributes", "svmlight"):
            self.assertIn(says, output)

    def test_sparse_rows_of_arff_that_fit(self):
        text = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(50))
        text += "@attribute label {x,y}\n@data\n" + "{0 1}\n{1 2, 50 y}\n" * 200
        self.assertEqual(self.fit_modestly(self.write("s.arff", text))[0], 0)

    def test_commas(self):
        for name, content, says in (
            ("many.csv", b"," * 5_000_000, "5000001 fields"),
            ("few.csv", (b"," * 900_000 + b"\n") * 2, "900001 fields, but there are only 1800002"),
            ("open.csv", b'"' + b",\n" * 1_000_000, "quote"),
            ("blank.csv", b"\n" * 2_000_000, "empty"),
            ("quotes.csv", b'a"b\n' * 300_000, "no column 'label'"),
        ):
            with self.subTest(name):
                code, output = self.fit_modestly(self.write_bytes(name, content))
                self.assertEqual(code, 1)
                self.assertIn(says, output)

    def test_a_hundred_thousand_columns(self):
        columns = 100_000
        row = ",".join(str(k % 7) for k in range(columns))
        text = ",".join(f"x{k}" for k in range(columns)) + ",label\n" + f"{row},a\n{row[::-1]},b\n" * 5
        # Every thread leaves out folds of its own, with weights of its own.
        code, output = self.fit_modestly(self.write("wide.csv", text), "--threads", "1")
        self.assertEqual(code, 0, output)

    def test_packed_arrays_that_claim_more_than_they_hold(self):
        for shape in ("(1, 10000000)", "(100000000, 1)", "(4000000000, 4000000000)"):
            with self.subTest(shape):
                path = self.write_bytes("a.npy.gz", gzip.compress(npy(shape)))
                code, output = self.fit_modestly(path, label="c1")
                self.assertEqual(code, 1)
                self.assertIn("a.npy.gz", output)

    # --- model files ---

    def body(self):
        header, rows, _ = shifted_data(seed=3)
        train = self.write_rows("train.csv", header, rows)
        model = self.path("model.json")
        self.run_ok("fit", train, "--label", "y", "--method", "lr", "--lambda", "1", "-q", "-o", model)
        with open(model, encoding="utf-8") as file:
            return json.load(file)["body"]

    def load(self, text):
        data = self.write("data.csv", "x1,x2,x3\n1,2,3\n")
        path = self.write("bad.json", text)
        code, output = self.modest(os.path.getsize(path), "predict", path, data)
        self.assertEqual(code, 1, output)
        self.assertIn("bad.json", output)
        self.assertNotIn("json.exception", output)
        return output

    def test_nested_model_files(self):
        self.assertIn("nested", self.load("[" * 150_000))
        self.assertIn("nested", self.load('{"a":' * 150_000))
        self.assertIn("nested", self.load(sealed("[" * 150_000 + "]" * 150_000)))

    def test_numbers_of_model_files(self):
        body = self.body()
        text = json.dumps(body)
        self.assertIn('"lambda": 1.0', text)
        self.assertIn("out of range", self.load(sealed(text.replace('"lambda": 1.0', '"lambda": 1e400'))))
        for version in ("2.5", "1e300", "-1", "true", "4294967298", "null"):
            with self.subTest(version):
                self.load(sealed(text).replace('"version": 2', f'"version": {version}'))

    def test_models_that_claim_many_features(self):
        body = self.body()
        for count in (2147483646, 10**18, -1, 0, 1e300, 2.5, True):
            with self.subTest(count):
                body["encoder"] = {"format": "svmlight", "features": count, "index_base": 1}
                self.load(sealed(json.dumps(body)))

    def test_models_whose_views_claim_many_columns(self):
        body = self.body()
        for last in (2147483646, 2147483647):
            body["views"] = {"names": ["all"], "columns": [[0, last]], "maps": [""]}
            self.assertIn("views: names or columns are invalid", self.load(sealed(json.dumps(body))))

    # --- the program itself ---

    @unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
    def test_the_program_is_hardened(self):
        def readelf(*flags):
            return subprocess.run(
                ["readelf", "-W", *flags, PROGRAM], capture_output=True, text=True, check=True
            ).stdout

        self.assertIn("DYN (Position-Independent Executable", readelf("-h"))
        self.assertIn("GNU_RELRO", readelf("-l"))
        stack = [line for line in readelf("-l").splitlines() if "GNU_STACK" in line]
        self.assertNotIn("E", stack[0].split()[-2], "the stack is executable")
        self.assertIn("NOW", readelf("-d"))
        self.assertIn("__stack_chk_fail", readelf("--dyn-syms"))
        # What leaves no certain trace in the program is in the record of its build.
        commands = os.path.join(os.path.dirname(PROGRAM), "compile_commands.json")
        if not os.path.exists(commands):
            return
        with open(commands, encoding="utf-8") as file:
            for entry in json.load(file):
                for flag in ("-D_FORTIFY_SOURCE=2", "-fstack-clash-protection"):
                    self.assertIn(flag, entry["command"].split(), entry["file"])


if __name__ == "__main__":
    unittest.main()
