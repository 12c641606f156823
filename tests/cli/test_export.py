"""`covshift export`: what the command promises. tests/python/test_onnx.py runs the files."""

import glob
import os
import subprocess

from program import PROGRAM, ProgramTest, shifted_data

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "model", "golden")
# ir_version 9 and the name of the producer: how every file begins.
HEAD = b"\x08\x09\x12\x08covshift"


class Export(ProgramTest):
    def model(self, *flags):
        header, train, target = shifted_data()
        self.write_rows("train.csv", header, train)
        self.write_rows("target.csv", header, target)
        self.run_ok("fit", self.path("train.csv"), "--target", self.path("target.csv"), "--label", "y",
                    "--method", "robust", "--lambda", 0.1, *flags, "-o", self.path("m.json"))
        return self.path("m.json")

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_writes_a_file_and_says_what_it_is(self):
        done = self.run_ok("export", self.model(), "-o", self.path("m.onnx"))
        size = os.path.getsize(self.path("m.onnx"))
        self.assertEqual(
            done.stdout,
            f"{size} bytes written to {self.path('m.onnx')}: ONNX, operator set 19, IR version 9\n",
        )
        self.assertTrue(self.content("m.onnx").startswith(HEAD))
        report = self.run_json("export", self.path("m.json"), "-o", self.path("again.onnx"))
        self.assertEqual(
            report,
            {"output": self.path("again.onnx"), "format": "onnx", "bytes": size, "opset": 19, "ir_version": 9},
        )
        self.assertEqual(self.content("again.onnx"), self.content("m.onnx"))
        self.assertEqual(self.run_ok("export", self.path("m.json"), "-o", self.path("q"), "-q").stdout, "")

    def test_standard_output_gets_the_file_alone(self):
        model = self.model()
        self.run_ok("export", model, "-o", self.path("m.onnx"))
        for output in ("-", "/dev/stdout"):
            done = subprocess.run(
                [PROGRAM, "export", model, "-o", output], capture_output=True, timeout=300, check=False
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, self.content("m.onnx"))

    def test_every_golden_model(self):
        paths = glob.glob(os.path.join(GOLDEN, "*.json"))
        self.assertGreaterEqual(len(paths), 13)
        for path in paths:
            self.run_ok("export", path, "-o", self.path("m.onnx"))
            self.assertTrue(self.content("m.onnx").startswith(HEAD), path)

    def test_what_cannot_be_exported_says_so_and_leaves_the_file_alone(self):
        costs = self.write("costs.csv", "0,1,2\n1,0,1\n3,1,0\n")
        model = self.model("--loss", "cost:" + costs)
        self.write("m.onnx", "as it was")
        self.assert_fails(1, "export", model, "-o", self.path("m.onnx"),
                          says=["linear program", "predict with covshift, or fit with another loss"])
        self.assertEqual(self.content("m.onnx"), b"as it was")

    def test_errors_are_those_of_other_commands(self):
        model = self.model()
        bad = self.write("bad.json", self.content("m.json").decode()[:-200])
        for path in (bad, self.path("none.json"), self.path("train.csv")):
            complaint = self.assert_fails(1, "export", path, "-o", self.path("m.onnx")).stderr
            other = self.assert_fails(1, "predict", path, self.path("target.csv")).stderr
            self.assertEqual(complaint, other)
            self.assertFalse(os.path.exists(self.path("m.onnx")))
        self.assert_fails(2, "export", model, says=["--output"])
        self.assert_fails(2, "export", model, "-o", model, says=["would overwrite"])
        self.assert_fails(1, "export", model, "-o", self.path("no/such/m.onnx"), says=["no/such"])
