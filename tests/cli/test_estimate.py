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

    def test_columns_of_a_model_are_read_as_in_training(self):
        # Numbers with decimal commas, for which the fit was told --numeric: the shift must be seen.
        def comma(data):
            return [(str(x).replace(".", ","), *rest) for x, *rest in data]

        train = self.write_rows("t.csv", ("x", "y"), comma(rows(400, 0, 1)))
        labelled = self.write_rows("l.csv", ("x", "y"), comma(rows(600, 0, 2)))
        target = self.write_rows("n.csv", ("x",), comma([(x,) for x, _ in rows(500, 1, 3)]))
        found = []
        for files, flags in (((train, labelled, target), ("--numeric", "x")), ((self.train, self.labelled, self.target), ())):
            self.run_ok("fit", files[0], "--label", "y", "--method", "lr", "--lambda", "0.001", "-o", self.path("m.json"), *flags)
            found.append(self.run_json("estimate", self.path("m.json"), files[1], "--target", files[2]))
        self.assertEqual(found[0], found[1])
        self.assert_fails(2, "estimate", self.path("m.json"), self.labelled, "--target", self.target, "--drop", "x",
                          says=["a model reads its columns as its training file's"])

    def test_columns_of_predictions_can_be_left_out(self):
        # An id and the columns of `predict --sets` say nothing about a shift.
        header = ("x", "y", "p:no", "p:yes")
        plain = [self.write_rows(name, header, with_predictions(data))
                 for name, data in (("l.csv", rows(600, 0, 2)), ("n.csv", rows(500, 1, 3)))]
        wide = [self.write_rows(name, ("id", *header, "set:no", "set:yes"),
                                [(first + i, *row, i % 2, 1) for i, row in enumerate(with_predictions(data))])
                for name, first, data in (("lw.csv", 0, rows(600, 0, 2)), ("nw.csv", 5000, rows(500, 1, 3)))]
        expected = self.run_json("estimate", plain[0], "--target", plain[1], "--label", "y")
        self.assertEqual(self.run_json("estimate", wide[0], "--target", wide[1], "--label", "y", "--drop", "id"), expected)
        self.assertFalse(self.run_json("estimate", wide[0], "--target", wide[1], "--label", "y")["can_tell"])
        named = [self.write_rows(name, ("id", *header), [(f"{name}{i}", *row) for i, row in enumerate(with_predictions(data))])
                 for name, data in (("li.csv", rows(600, 0, 2)), ("ni.csv", rows(500, 1, 3)))]
        done = self.run_ok("estimate", named[0], "--target", named[1], "--label", "y", "--json")
        self.assertAlmostEqual(json.loads(done.stdout)["effective_sample_size"], expected["effective_sample_size"], delta=5)
        self.assertIn("as identifiers do", done.stderr)

    def test_probabilities_of_files(self):
        header = ("x", "y", "p:no", "p:yes")
        data = with_predictions(rows(60, 0, 2))
        target = self.write_rows("n.csv", header, with_predictions(rows(50, 0, 3)))
        rounded = self.write_rows("r.csv", header, [(*data[0][:2], 1 + 1e-9, 0), *data[1:]])
        self.run_ok("estimate", rounded, "--target", target, "--label", "y")
        wrong = self.write_rows("w.csv", header, [data[0], (*data[1][:2], -0.1, 1.1), *data[2:]])
        self.assert_fails(1, "estimate", wrong, "--target", target, "--label", "y",
                          says=["w.csv:3", "'p:no' is -0.1; probabilities lie between 0 and 1"])

    def test_cautions(self):
        # So strong a penalty that the ratio is 1: the weighted rows are not where the target is.
        plain, moved = (self.write_rows(name, ("x", "y", "p:no", "p:yes"), with_predictions(data))
                        for name, data in (("l.csv", rows(600, 0, 2)), ("m.csv", rows(500, 0.7, 3))))
        call = ("estimate", plain, "--target", moved, "--label", "y")
        stiff, chosen = (self.run_json(*call, "--ratio-lambda", value) for value in ("1000", "cv"))
        self.assertLess(stiff["ratio_p_value"], 0.01)
        self.assertIn("misses a part of the shift", stiff["cautions"][0])
        self.assertGreater(chosen["ratio_p_value"], 0.05)
        self.assertEqual(chosen["cautions"], [])
        certain = self.write_rows("c.csv", ("x", "y", "p:no", "p:yes"), [(x, y, 1, 0) for x, y in rows(600, 0, 2)])
        target = self.write_rows("n.csv", ("x", "p:no", "p:yes"), [(x, 1, 0) for x, _ in rows(500, 0.5, 3)])
        done, by_name = self.estimates(certain, "--target", target, "--label", "y")
        self.assertRegex(" ".join(done["cautions"]), "[0-9]+ labelled rows have a class that was given probability 0")
        self.assertNotIn(("accuracy", "confidence"), by_name)

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
