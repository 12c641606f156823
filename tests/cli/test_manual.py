"""The manual pages have every command and option, and man shows them without complaint."""

import os
import re
import shutil
import subprocess
import unittest

from program import ProgramTest


class Manual(ProgramTest):
    def setUp(self):
        super().setUp()
        self.man = self.path("man")
        self.run_ok("options", "--man", self.man)

    def shown(self, page):
        done = subprocess.run(
            ["groff", "-ww", "-man", "-Tascii", "-P-cbou", "-rLL=100n", os.path.join(self.man, page)],
            capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "", page)
        return done.stdout

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_every_command_has_a_page_with_all_its_options(self):
        commands = re.findall(r"^  (\w+) {2,}", self.run_ok("--help").stdout.split("Subcommands:")[1], re.M)
        self.assertIn("fit", commands)
        self.assertEqual(sorted(os.listdir(self.man)),
                         sorted(["covshift.1", *(f"covshift-{name}.1" for name in commands)]))
        program = self.shown("covshift.1")
        for name in commands:
            self.assertIn(f"covshift-{name}(1)", program)
            page = self.shown(f"covshift-{name}.1")
            self.assertIn(f"covshift {name} [OPTION]...", page)
            for line in self.run_ok(name, "--help").stdout.splitlines():
                found = re.match(r"  ((-\w,)?--[\w-]+|[A-Z]+) ", line)
                if found:
                    self.assertRegex(page, rf"(?m)^ +{found[1].replace(',', ', ')}\b")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_values_defaults_and_examples(self):
        page = self.shown("covshift-fit.1")
        text = " ".join(page.split())
        self.assertIn("--scale VALUE", text)
        self.assertIn("Values: unit|standard|none.", text)
        self.assertNotRegex(page, r"[a-z]-\n +[a-z]", "a word is hyphenated")
        self.assertIn("covshift fit [OPTION]... TRAIN", text)
        self.assertIn("-o, --output FILE Model file to write (-: stdout). Required.", text)
        program = self.shown("covshift.1")
        self.assertIn("  covshift diagnose train.csv new.csv --label y", program)
        for word in ("covshift help [COMMAND]", "covshift-mpi", "COVSHIFT_KERNELS", "TMPDIR", "SOURCE_DATE_EPOCH"):
            self.assertIn(word, program)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_methods_are_those_of_the_help(self):
        lines = self.run_ok("help", "fit").stdout.split("Methods:\n")[1].strip().splitlines()
        self.assertGreater(len(lines), 5)
        page = self.shown("covshift-fit.1")
        self.assertIn("METHODS", page)
        for line in lines:
            self.assertIn(line.strip(), page)

    def test_a_folder_that_cannot_be_written(self):
        blocked = self.write("file", "")
        result = self.call("options", "--man", blocked)
        self.assertEqual(result.returncode, 1)
        self.assertIn(blocked, result.stderr)


if __name__ == "__main__":
    unittest.main()
