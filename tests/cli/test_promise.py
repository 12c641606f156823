"""What a fit promises for the target, against the truth; prediction sets of a model file."""

import csv
import math
import os
import random
import unittest

from program import ProgramTest

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "model", "golden")


def rows(count, mean, seed):
    """x ~ N(mean, 1), P(yes|x) = sigmoid(2x)."""
    generator = random.Random(seed)
    result = []
    for _ in range(count):
        x = generator.gauss(mean, 1)
        result.append((x, "yes" if generator.random() < 1 / (1 + math.exp(-2 * x)) else "no"))
    return result


class Promise(ProgramTest):
    def setUp(self):
        super().setUp()
        self.train = self.write_rows("train.csv", ("x", "y"), rows(400, 0, 1))
        self.target = self.write_rows("target.csv", ("x",), [(x,) for x, _ in rows(500, 0.7, 3)])
        self.truth = self.write_rows("truth.csv", ("x", "y"), rows(4000, 0.7, 4))
        self.model = self.path("m.json")

    def fit(self, *arguments, target=None):
        return self.run_json("fit", self.train, "--target", target or self.target, "--label", "y",
                             "-o", self.model, *arguments)["certificate"]

    def test_the_bound_holds_and_follows_delta(self):
        for method in ("auto", "robust", "iw", "overlap", "robust01", "iw-svm"):
            with self.subTest(method):
                certificate = self.fit("--method", method, "--lambda", "0.001")
                loss = self.run_json("evaluate", self.model, self.truth)["expected_loss"]
                self.assertTrue(certificate["reliable"], certificate)
                self.assertLess(loss, certificate["bound"])
                self.assertLess(certificate["bound"], 1.5 * loss)
                self.assertLess(certificate["estimate"], certificate["bound"])
                self.assertIn("Promised, with probability 95%", certificate["statement"])
                self.assertEqual(certificate["held_out"], 400)
        again = self.fit("--method", "robust", "--lambda", "0.001", "--delta", "0.001")
        robust = self.fit("--method", "robust", "--lambda", "0.001")
        self.assertGreater(again["bound"], robust["bound"])
        self.assertIn("99.9%", again["statement"])
        self.assertAlmostEqual(robust["uninformed"], math.log(2))
        rarely = self.fit("--method", "robust", "--lambda", "0.001", "--delta", "0.00001")
        self.assertIn("with probability 99.999%", rarely["statement"])

    def test_a_method_that_ignores_the_target_promises_nothing_there(self):
        for method in ("lr", "svm"):
            certificate = self.fit("--method", method)
            self.assertIsNone(certificate["bound"])
            self.assertIn("nothing is promised about data that differ from the training data",
                          certificate["statement"])

    def test_weights_of_classes_are_costs_and_nothing_is_promised(self):
        weighted = [(x, y, 5 if y == "no" else 0.5) for x, y in rows(400, 0, 1)]
        for promised in (False, True):
            if promised:
                weighted[7] = (*weighted[7][:2], 1)
            train = self.write_rows("weighted.csv", ("x", "y", "w"), weighted)
            certificate = self.run_json("fit", train, "--target", self.target, "--label", "y", "--weight", "w",
                                        "--method", "robust", "-o", self.model)["certificate"]
            self.assertEqual(certificate["bound"] is not None, promised, certificate)
            self.assertEqual("factors of classes" in certificate["reason"], not promised)

    def test_tables_of_yes_and_no(self):
        """Rows that are equal by chance are no copies, also for the ratio; a product of two columns may be constant."""
        generator = random.Random(5)
        moved = []
        for shift in (0, 0.15):
            share = [0.5, 0.4, 0.6, 0.45, 0.55, 0.5]
            table = []
            for _ in range(6500):
                x = [generator.random() < p + shift * (-1) ** j for j, p in enumerate(share)]
                y = generator.random() < 1 / (1 + math.exp(1 - 2 * x[0] - x[2] + x[3]))
                table.append((*("yes" if v else "no" for v in x), "a" if y else "b"))
            moved.append(table)
        header = ("c1", "c2", "c3", "c4", "c5", "c6", "y")
        train = self.write_rows("cells.csv", header, moved[0][:500])
        for name, table in (("same", moved[0][500:]), ("moved", moved[1][500:])):
            target = self.write_rows(f"{name}.csv", header[:-1], [row[:-1] for row in table[:500]])
            truth = self.write_rows(f"{name}-truth.csv", header, table)
            report = self.run_json("fit", train, "--target", target, "--label", "y", "--method", "robust", "-o", self.model)
            certificate = report["certificate"]
            self.assertIsNotNone(certificate["bound"], certificate)
            self.assertLess(self.run_json("evaluate", self.model, truth)["expected_loss"], certificate["bound"])
            if name == "moved":  # the ratio is not flat
                self.assertLess(report["ratio"]["effective_sample_size"], 450)

    def test_without_a_ratio_its_test_allows_for_no_noise_of_it(self):
        train = self.write_rows("ones.csv", ("x", "y", "one"), [(*row, 1) for row in rows(400, 0, 1)])
        target = self.write_rows("ones-target.csv", ("x", "one"), [(x, 1) for x, _ in rows(500, 0, 3)])
        common = ["fit", train, "--target", target, "--label", "y", "--method", "iw", "--lambda", "0.01", "-o", self.model]
        none = self.run_json(*common, "--ratio", "none", "--drop", "one")["certificate"]
        given = self.run_json(*common, "--ratio", "column:one")["certificate"]
        self.assertAlmostEqual(none["ratio_p_value"], given["ratio_p_value"], places=9)
        self.assertAlmostEqual(none["bound"], given["bound"], places=9)

    def test_a_bound_that_says_nothing_says_so(self):
        generator = random.Random(5)
        coin = [(generator.gauss(0, 1), generator.choice(("no", "yes"))) for _ in range(80)]
        train = self.write_rows("coin.csv", ("x", "y"), coin)
        certificate = self.run_json("fit", train, "--target", self.target, "--label", "y", "--method",
                                    "iw", "-o", self.model)["certificate"]
        self.assertGreater(certificate["bound"], certificate["uninformed"])
        self.assertIn("so this bound says nothing", certificate["statement"])

    def test_no_bound_without_support(self):
        apart = self.write_rows("apart.csv", ("x",), [(x,) for x, _ in rows(200, 9, 5)])
        certificate = self.fit("--method", "robust", "--lambda", "0.01", target=apart)
        self.assertIsNone(certificate["bound"])
        self.assertFalse(certificate["reliable"])
        self.assertIn("Not promised: a bound", certificate["statement"])
        self.assertTrue(certificate["reason"])

    def test_no_bound_where_the_target_has_what_training_never_had(self):
        # Missing values and new categories are encoded as if they were ordinary, but nothing is known about such rows.
        def table(name, count, seed, wide):
            mixed = [(x, "uv"[i % 2], y) for i, (x, y) in enumerate(rows(count, 0, seed))]
            return self.write_rows(name, ("x", "c", "y"), [wide(i, row) for i, row in enumerate(mixed)])

        train = table("wide.csv", 400, 1, lambda i, row: row)
        for wide in (lambda i, row: row if i % 5 else ("", *row[1:]), lambda i, row: row if i % 5 else (row[0], "w", row[2])):
            target = table("strange.csv", 300, 2, wide)
            done = self.run_json("fit", train, "--target", target, "--label", "y", "--method", "robust", "--lambda", "0.01",
                                 "-o", self.model)["certificate"]
            self.assertIsNone(done["bound"])
            self.assertRegex(done["reason"], "2[0-9]% of the target rows are unlike any labelled row")
            found = self.run_json("estimate", self.model, train, "--target", target)
            self.assertFalse(found["can_tell"])
        # A few of them are no obstacle.
        few = table("few.csv", 300, 2, lambda i, row: row if i % 50 else ("", *row[1:]))
        self.assertIsNotNone(self.run_json("fit", train, "--target", few, "--label", "y", "--method", "robust", "--lambda",
                                           "0.01", "-o", self.model)["certificate"]["bound"])

    def test_one_target_row(self):
        one = self.write_rows("one.csv", ("x",), [(0.5,)])
        certificate = self.fit("--method", "robust", "--lambda", "0.01", target=one)
        self.assertIsNone(certificate["bound"])
        self.assertIn("the target has one row", certificate["statement"])

    def sets(self, data, alpha="0.1"):
        self.run_ok("predict", self.model, data, "--sets", alpha, "-o", self.path("sets.csv"))
        with open(self.path("sets.csv"), newline="") as file:
            return list(csv.DictReader(file))

    def test_sets_cover(self):
        self.fit()
        truth = [y for _, y in rows(4000, 0.7, 4)]
        for alpha in (0.1, 0.3):
            found = self.sets(self.truth, str(alpha))
            hits = sum(row["set:" + y] == "1" for row, y in zip(found, truth)) / len(truth)
            self.assertGreater(hits, 1 - alpha - 0.03)
            self.assertTrue(all(row["set:" + row["predicted"]] == "1" for row in found))
        # As JSON, and from a file that was written and read.
        listed = self.run_json("predict", self.model, self.truth, "--sets", "0.3")
        self.assertEqual([row["set"] for row in listed["rows"]],
                         [[y for y in ("no", "yes") if row["set:" + y] == "1"] for row in found])
        self.assertGreaterEqual(listed["mean_set_size"], 1)

    def test_a_row_without_support_may_have_any_class(self):
        self.fit("--method", "robust", "--lambda", "0.01")
        far = self.write_rows("far.csv", ("x",), [(200,)])
        self.assertEqual([(row["set:no"], row["set:yes"]) for row in self.sets(far)], [("1", "1")])

    def test_bad_input(self):
        self.fit("--method", "lr", "--lambda", "0.1")
        for alpha in ("0", "1", "-0.1", "nan", "many"):
            self.assert_fails(2, "predict", self.model, self.truth, "--sets", alpha, says=["--sets"])
        old = os.path.join(GOLDEN, "lr.json")
        data = self.write("old.csv", "x1,x2,colour\n0.5,0.5,red\n")
        self.assert_fails(1, "predict", old, data, "--sets", "0.1", says=["no held-out scores", "fit it again"])
        self.run_ok("fit", self.train, "--target", self.target, "--label", "y", "--loss", "abstain:0.2",
                    "--lambda", "0.1", "-o", self.model)
        self.assert_fails(1, "predict", self.model, self.truth, "--sets", "0.1",
                          says=["abstain:0.2", "no prediction sets"])


if __name__ == "__main__":
    unittest.main()
