"""A few of the faults of `make faults`."""

import os
import subprocess
import sys
import unittest

from program import PROGRAM

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "faults.py")


class FaultsTest(unittest.TestCase):
    def test_faults_leave_no_partial_files(self):
        result = subprocess.run(
            [sys.executable, SCRIPT, PROGRAM, "--quick"], capture_output=True, text=True, timeout=900,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(" 0 failures", result.stdout)


if __name__ == "__main__":
    unittest.main()
