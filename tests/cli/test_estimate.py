"""The performance of a classifier on a target without labels."""

import json
import math
import os
import random
import re
import unittest

from program import ProgramTest

CLASSES = ("no", "yes")


def rows(count, mean, seed, flipped=False):
    """x ~ N(mean, 1), P(yes|x) = sigmoid(2x)."""
    generator = random.Random(seed)
    result = []
    for _ in range(count):
        x = generator.gauss(mean, 1)
        yes = generator.random() < 1 / (1 + math.exp(-2 * x))
        result.append((x, CLASSES[yes != flipped]))
    return result


def with_predictions(data):
    """A classifier that knows P(y|x)."""
    table = []
    for x, y in data:
        p = 1 / (1 + math.exp(-2 * x))
        table.append((x, y, 1 - p, p))
    return table


def page_data(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)[1])


class Estimate(ProgramTest):
    def setUp(self):
        super().setUp()
        self.train = self.write_rows("train.csv", ("x", "y"), rows(400, 0, 1))
        self.labelled = self.write_rows("labelled.csv", ("x", "y"), rows(600, 0, 2))
        self.target = self.write_rows("target.csv", ("x",), [(x,) for x, _ in rows(500, 1, 3)])
        self.truth = self.write_rows("truth.csv", ("x", "y"), rows(2000, 1, 4))

    def estimates(self, *arguments):
        found = self.run_json("estimate", *arguments)
        return found, {(e["metric"], e["method"]): e for e in found["estimates"]}

    def test_intervals_of_a_model_hold_the_truth(self):
        model = self.path("m.json")
        self.run_ok("fit", self.train, "--target", self.target, "--label", "y", "--method", "lr",
                    "--lambda", "0.001", "-o", model)
        found, by_name = self.estimates(model, self.labelled, "--target", self.target)
        self.assertTrue(found["can_tell"])
        truth = self.run_json("evaluate", model, self.truth)
        train = self.run_json("evaluate", model, self.labelled)
        for metric in ("accuracy", "log_loss", "brier"):
            for method in ("doubly_robust", "weighting"):
                e = by_name[metric, method]
                self.assertTrue(e["low"] <= truth[metric] <= e["high"], (e, truth[metric]))
                # Nearer to the target than the mean without weights.
                self.assertLess(abs(e["value"] - truth[metric]), abs(train[metric] - truth[metric]))
        self.assertIn(("accuracy", "confidence"), by_name)

    def test_predictions_in_columns(self):
        header = ("x", "y", "p:no", "p:yes")
        labelled = self.write_rows("p.csv", header, with_predictions(rows(600, 0, 2)))
        target = self.write_rows(
            "pt.csv", ("x", "p:yes", "p:no"),
            [(x, p, q) for x, _, q, p in with_predictions(rows(500, 1, 3))],
        )
        _, by_name = self.estimates(labelled, "--target", target, "--label", "y")
        e = by_name["log_loss", "doubly_robust"]
        truth = [-math.log(p if y == "yes" else q) for _, y, q, p in with_predictions(rows(9000, 1, 5))]
        self.assertTrue(e["low"] <= sum(truth) / len(truth) <= e["high"])
        text = self.run_ok("estimate", labelled, "--target", target, "--label", "y").stdout
        self.assertIn("doubly_robust", text)

    def test_truth_tells_a_changed_concept_from_a_shift(self):
        model = self.path("m.json")
        self.run_ok("fit", self.train, "--label", "y", "--method", "lr", "-o", model)
        call = (model, self.labelled, "--target", self.target, "--truth")
        same, _ = self.estimates(*call, self.truth)
        self.assertFalse(same["concept"]["changed"])
        part = same["concept"]
        self.assertAlmostEqual(
            part["explained"] + part["unexplained"], part["target_loss"] - part["train_loss"]
        )
        other = self.write_rows("other.csv", ("x", "y"), rows(300, 1, 6, flipped=True))
        changed, _ = self.estimates(*call, other)
        self.assertTrue(changed["concept"]["changed"])
        text = self.run_ok("estimate", *call, other).stdout
        self.assertIn("No method for covariate shift can promise anything", text)

    def test_no_overlap_cannot_be_told(self):
        model = self.path("m.json")
        self.run_ok("fit", self.train, "--label", "y", "--method", "lr", "-o", model)
        far = self.write_rows("far.csv", ("x",), [(x,) for x, _ in rows(300, 12, 7)])
        found, _ = self.estimates(model, self.labelled, "--target", far)
        self.assertFalse(found["can_tell"])
        self.assertEqual({e[k] for e in found["estimates"] for k in ("value", "low", "high")}, {None})
        text = self.run_ok("estimate", model, self.labelled, "--target", far).stdout
        self.assertIn("cannot be estimated", text)
        self.assertNotIn("doubly_robust", text)

    def test_report(self):
        model = self.path("m.json")
        self.run_ok("fit", self.train, "--target", self.target, "--label", "y", "--method", "lr", "-o", model)
        page = self.path("page.html")
        call = (model, self.labelled, "--target", self.target, "--truth", self.truth, "--level", "0.8")
        found, by_name = self.estimates(*call, "--report", page)
        shown = page_data(page)
        self.assertEqual((shown["kind"], shown["data"]), ("estimate", found))
        self.assertEqual(shown["made"]["files"], [self.labelled, self.target, self.truth])
        self.assertEqual(shown["made"]["label"], "y")
        trust = found["diagnosis"]["recommendation"]["trust"]
        accuracy = by_name["accuracy", "doubly_robust"]
        self.assertEqual([trust["expected"][k] for k in ("accuracy", "low", "high", "level")],
                         [accuracy[k] for k in ("value", "low", "high")] + [0.8])
        self.assertIn("80% interval", trust["basis"])
        self.assertEqual([v["name"] for v in found["diagnosis"]["views"]], ["x"])  # not the label
        # The same numbers without a page, and from predictions in columns.
        plain, _ = self.estimates(*call)
        self.assertEqual({k: v for k, v in found.items() if k != "diagnosis"}, plain)
        paths = []
        for path in (self.labelled, self.target):
            paths.append(self.path("predicted-" + os.path.basename(path)))
            self.run_ok("predict", model, path, "--keep", "x,y" if path == self.labelled else "x", "-o", paths[-1])
        other, _ = self.estimates(paths[0], "--target", paths[1], "--label", "y", "--report", page)
        for a, b in zip(self.estimates(*call[:4])[0]["estimates"], other["estimates"], strict=True):
            self.assertAlmostEqual(a["value"], b["value"], 9)
        self.assertEqual([v["name"] for v in other["diagnosis"]["views"]], ["x"])  # no prediction either
        self.assertIn("Report: " + page, self.run_ok("estimate", *call, "--report", page).stdout)

    def test_bad_input(self):
        model = self.path("m.json")
        self.run_ok("fit", self.train, "--label", "y", "--method", "lr", "-o", model)
        call = ("estimate", model, self.labelled, "--target", self.target)
        self.assert_fails(2, *call, "--level", "1", says=["--level", "1"])
        self.assert_fails(2, "estimate", model, "--target", self.target, says=["not fitted to"])
        self.assert_fails(1, "estimate", self.labelled, "--target", self.target, "--label", "y",
                          says=["labelled.csv", "p:<class>"])
        self.assert_fails(1, "estimate", "mode.json", self.labelled, "--target", self.target,
                          says=["mode.json: there is no such file; check the path"])
        self.assert_fails(1, "estimate", self.labelled, self.labelled, "--target", self.target,
                          says=["labelled.csv: this is not a model file"])
        classes = self.write_rows("classes.csv", ("x", "y"), [(0, "maybe")] * 5)
        self.assert_fails(1, "estimate", model, classes, "--target", self.target,
                          says=["classes.csv:2", "maybe", "no, yes"])
        self.assert_fails(1, *call, "--report", self.path("nowhere/page.html"), says=["there is no folder"])
        self.assert_fails(2, *call, "--report", self.target, says=["--report", "target.csv"])
        one = self.write_rows("one.csv", ("x",), [(1,)])
        self.assert_fails(1, "estimate", model, self.labelled, "--target", one,
                          says=["two target rows"])
        abstaining = self.path("a.json")
        self.run_ok("fit", self.train, "--label", "y", "--method", "lr", "--loss", "abstain:0.2",
                    "-o", abstaining)
        self.assert_fails(1, "estimate", abstaining, self.labelled, "--target", self.target,
                          says=["no probabilities"])


if __name__ == "__main__":
    unittest.main()
