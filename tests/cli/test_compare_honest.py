"""compare without labels of the target, where weighting leaves next to nothing."""

import random
import unittest

from program import ProgramTest


class NoOverlap(ProgramTest):
    def test_no_winner_is_named_under_the_default_ratio(self):
        draw = random.Random(4)

        def rows(mean, count):
            out = []
            for _ in range(count):
                x, z = draw.gauss(mean, 1), draw.gauss(0, 1)
                out.append([x, z, "a" if z + draw.gauss(0, 0.5) > 0 else "b"])
            return out

        train = self.write_rows("train.csv", ["x", "z", "y"], rows(0, 200))
        target = self.write_rows("target.csv", ["x", "z", "y"], rows(4, 200))
        out = self.run_json("compare", train, target, "--label", "y", "--json")
        comparison = out.get("comparison", out)
        self.assertLess(comparison["effective_sample_size"], 30)
        self.assertIn("No winner can be named", comparison["statement"])


if __name__ == "__main__":
    unittest.main()
