"""What the program says of mistakes in calls and tables that people make, word for word."""

import json
import os
import subprocess
import unittest

from program import PROGRAM, ProgramTest, shifted_data

MORE = "\nRun with --help for more information.\n"


class Mistakes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.header, self.rows, self.target_rows = shifted_data(seed=5)
        self.model = self.path("model.json")
        self.train = self.write_rows("t.csv", self.header, self.rows)

    def fit(self, train, *flags, label="y"):
        """Fits without choices; returns stderr without the folder's name."""
        result = self.run_ok("fit", train, "--label", label, "--method", "lr", "--lambda", "0.01", "-q", "-o",
                             self.model, *flags)
        return result.stderr.replace(self.folder + "/", "")

    def says(self, code, text, *arguments):
        """The call fails with this code and says exactly this."""
        result = self.assert_fails(code, *arguments)
        self.assertEqual(result.stderr.replace(self.folder + "/", ""), text)

    # --- options ---

    def test_probabilities_of_promises_are_not_too_near_0_or_1(self):
        more = "must be a number from 1e-09 to 0.999999999, not "
        for value in ("1e-17", "0", "1"):
            self.says(2, f"--delta {more}'{value}'{MORE}", "fit", self.train, "--label", "y", "--delta", value, "-o",
                      self.model)
        for value in ("0.9999999999999999", "1"):
            self.says(2, f"--level {more}'{value}'{MORE}", "estimate", self.model, self.train, "--target", self.train,
                      "--level", value)
        self.run_ok("fit", self.train, "--target", self.train, "--label", "y", "--method", "robust", "--lambda", "0.01",
                    "--delta", "1e-9", "-q", "-o", self.model)
        for value in ("1e-9", "0.999999999"):
            self.run_ok("estimate", self.model, self.train, "--target", self.train, "--level", value)


if __name__ == "__main__":
    unittest.main()
