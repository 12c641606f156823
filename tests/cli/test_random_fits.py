"""A few of the random fits of bench/random_fits.py: every one converges or ends in an error message."""

import importlib.util
import pathlib
import unittest

from program import PROGRAM

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "random_fits.py"


class RandomFits(unittest.TestCase):
    def test_converged_or_refused_in_words(self):
        spec = importlib.util.spec_from_file_location("random_fits", SCRIPT)
        study = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(study)
        outcomes, refusals, failures = study.campaign(PROGRAM, 60, seed=2)
        self.assertEqual(failures, [])
        counts = [sum(kind[outcome] for kind in outcomes.values()) for outcome in ("converged", "refused")]
        self.assertEqual(sum(counts), 60)
        self.assertGreater(counts[0], 40, refusals)


if __name__ == "__main__":
    unittest.main()
