"""What goes wrong in practice, each with its defined answer."""

import json
import os
import unittest

from program import ProgramTest, shifted_data


class BadInput(ProgramTest):
    def setUp(self):
        super().setUp()
        self.header, self.rows, self.target_rows = shifted_data(seed=1)
        self.train = self.write_rows("train.csv", self.header, self.rows)
        self.target = self.write_rows("target.csv", self.header, self.target_rows)
        self.model = self.path("model.json")

    def fit_fails(self, code, train, *flags, says=()):
        result = self.assert_fails(
            code, "fit", train, "--target", self.target, "--label", "y", "-o", self.model, *flags,
            says=says,
        )
        self.assertEqual(
            [f for f in os.listdir(self.folder) if f.startswith("model.json")], [],
            "nothing half written",
        )
        return result

    def fit(self, *flags, train=None):
        self.run_ok(
            "fit", train or self.train, "--target", self.target, "--label", "y", "-q", "-o",
            self.model, "--lambda", "0.01", *flags,
        )

    def changed(self, name, row, column, value):
        rows = [list(r) for r in self.rows]
        rows[row][column] = value
        return self.write_rows(name, self.header, rows)

    # --- the seven kinds that the contract names ---

    def test_unseen_category_counts_as_none_of_the_known(self):
        colours = ["red", "green", "blue"]
        rows = [[r[0], colours[i % 3], r[3]] for i, r in enumerate(self.rows)]
        train = self.write_rows("t.csv", ["x1", "colour", "y"], rows)
        self.run_ok("fit", train, "--label", "y", "--method", "lr", "-q", "-o", self.model)
        new = self.write_rows("n.csv", ["x1", "colour"], [["0.1", "red"], ["0.1", "mauve"]])
        result = self.run_ok("predict", self.model, new)
        self.assertIn("n.csv:3", result.stderr)
        self.assertIn("mauve", result.stderr)
        self.assertIn("colour", result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_every_command_warns_once_of_categories_that_training_never_saw(self):
        colours = ["red", "green", "blue"]
        rows = [[r[0], colours[i % 3], r[3]] for i, r in enumerate(self.rows)]
        header = ["x1", "colour", "y"]
        train = self.write_rows("t.csv", header, rows)
        target = [[r[0], "mauve" if i % 4 == 1 else "red", r[2]] for i, r in enumerate(rows)]
        target = self.write_rows("n.csv", header, target)
        count = sum(i % 4 == 1 for i in range(len(rows)))
        for command in (
            ("fit", train, "--target", target, "--method", "iw", "-o", self.model),
            ("diagnose", train, target),
            ("compare", train, target, "--methods", "lr,iw"),
        ):
            warnings = self.run_ok(*command, "--label", "y", "-q").stderr
            self.assertEqual(warnings.count("mauve"), 1, (command, warnings))
            self.assertIn("n.csv:3: column 'colour'", warnings)
            self.assertIn(f"({count} of {len(rows)} rows", warnings)

    def test_missing_value(self):
        self.fit_fails(
            1, self.changed("t.csv", 4, 1, ""), "--missing", "error",
            says=["t.csv:6:2", "x2", "missing", "--missing indicator"],
        )

    def test_nan_and_infinity(self):
        self.fit_fails(
            1, self.changed("t.csv", 0, 0, "NaN"), "--missing", "error", says=["t.csv:2:1", "x1"]
        )
        self.fit_fails(1, self.changed("u.csv", 9, 2, "inf"), says=["u.csv:11:3", "x3"])

    def test_missing_column(self):
        narrow = self.write_rows("narrow.csv", ["x1", "x3"], [r[:1] + r[2:3] for r in self.rows])
        self.assert_fails(
            1, "fit", self.train, "--target", narrow, "--label", "y", "-o", self.model,
            says=["narrow.csv", "x2"],
        )
        self.fit_fails(1, narrow, says=["narrow.csv", "y"])
        self.fit()
        self.assert_fails(1, "predict", self.model, narrow, says=["narrow.csv", "x2"])

    def test_one_class_only(self):
        train = self.write_rows("one.csv", self.header, [r[:3] + ["ash"] for r in self.rows])
        self.fit_fails(1, train, says=["one.csv", "one class", "ash"])

    def test_empty_file(self):
        self.fit_fails(1, self.write("empty.csv", ""), says=["empty.csv", "empty"])
        self.fit_fails(1, self.write("head.csv", "x1,x2,x3,y\n"), says=["head.csv"])

    def test_label_that_training_never_saw(self):
        rows = [list(r) for r in self.target_rows]
        rows[2][3] = "yew"
        data = self.write_rows("target2.csv", self.header, rows)
        self.target = data  # in the target of a fit its labels are not looked at
        self.fit()
        result = self.run_ok("evaluate", self.model, data, "--json")
        self.assertIn("target2.csv:4", result.stderr)
        self.assertIn("yew", result.stderr)
        self.assertIn('"unknown_labels": 1', result.stdout)

    # --- and others ---

    def test_text_in_a_column_of_numbers(self):
        self.fit()
        rows = [list(r) for r in self.target_rows]
        rows[1][0] = "twelve"
        data = self.write_rows("words.csv", self.header, rows)
        self.assert_fails(1, "predict", self.model, data, says=["words.csv:3:1", "twelve", "x1"])

    def test_ragged_row(self):
        bad = self.write("ragged.csv", "x1,x2,y\n1,2,a\n1,2\n3,4,b\n")
        self.fit_fails(1, bad, says=["ragged.csv:3", "3", "2"])

    def test_files_that_are_not_there(self):
        self.fit_fails(1, self.path("none.csv"), says=["none.csv"])
        self.fit_fails(1, self.folder, says=["directory"])
        self.assert_fails(
            1, "fit", self.train, "--target", self.target, "--label", "y", "--lambda", "1", "-q",
            "-o", self.path("no/such/folder.json"), says=["no/such/folder.json"],
        )

    def test_wrong_calls(self):
        for flags, says in (
            (["--lambda", "0"], "--lambda"),
            (["--lambda", "-1"], "--lambda"),
            (["--lambda", "nan"], "--lambda"),
            (["--lambda", "small"], "--lambda"),
            (["--lambdas", "0.1,0"], "--lambdas"),
            (["--lambdas", "0.1,cv"], "--lambdas"),
            (["--method", "rubost"], "robust-view"),
            (["--loss", "quadratic"], "zero-one"),
            (["--loss", "abstain:2"], "abstain"),
            (["--generalize", "temper:7"], "temper"),
            (["--ratio", "magic"], "kliep"),
            (["--ratio-lambda", "0"], "--ratio-lambda"),
            (["--scale", "big"], "--scale"),
            (["--folds", "1"], "--folds"),
            (["--threads", "-2"], "--threads"),
            (["--tolerance", "0"], "--tolerance"),
            (["--unknown"], "--unknown"),
        ):
            with self.subTest(flags):
                self.fit_fails(2, self.train, *flags, says=[says])
        self.assertIn("covshift diagnose train.csv", self.run_ok().stdout)
        self.assert_fails(2, "fit", self.train, "--method", "lr", "-o", self.model, says=["--label"])
        self.assert_fails(2, "predict", self.model, says=["DATA"])

    def test_a_method_under_shift_needs_a_target(self):
        for flags in (["--method", "robust"], ["--generalize", "test"], ["--method", "lr", "--lambda", "iwcv"]):
            self.assert_fails(
                2, "fit", self.train, "--label", "y", *flags, "-o", self.model, says=["--target"]
            )

    def test_inputs_are_never_overwritten(self):
        self.fit()
        link = self.path("link.csv")
        os.symlink(self.train, link)
        self.assert_fails(2, "fit", self.train, "--label", "y", "--method", "lr", "-o", self.train)
        self.assert_fails(2, "predict", self.model, self.target, "-o", self.model)
        self.assert_fails(2, "predict", self.model, self.train, "-o", link)
        sample = ("sample", self.train, "--label", "y", "--train-output")
        self.assert_fails(2, *sample, self.train, "--target-output", "z", says=["--train-output: "])
        self.assert_fails(
            2, *sample, self.path("z.csv"), "--target-output", self.path("z.csv"), says=["--target-output: "]
        )
        self.assert_fails(1, *sample, self.path("z.csv"), "--target-output", self.path("no/z.csv"))
        self.assertFalse(os.path.exists(self.path("z.csv")))

    def test_links_and_permissions_survive(self):
        self.fit()
        real = self.write("real.csv", "old")
        os.chmod(real, 0o600)
        os.symlink("real.csv", self.path("link.csv"))
        self.run_ok("predict", self.model, self.target, "-o", self.path("link.csv"))
        self.assertTrue(os.path.islink(self.path("link.csv")))
        self.assertEqual(os.stat(real).st_mode & 0o777, 0o600)
        self.assertEqual(len(self.read_rows("real.csv")), 150)

    def test_a_typing_error_in_a_column_of_numbers_is_pointed_out(self):
        result = self.run_ok(
            "fit", self.changed("t.csv", 4, 1, "1.2x"), "--label", "y", "--method", "lr", "--lambda",
            "1", "-q", "-o", self.model,
        )
        self.assertIn("t.csv:6:2", result.stderr)
        self.assertIn("1.2x", result.stderr)

    def test_no_known_label_at_all(self):
        self.fit()
        data = self.write_rows("yew.csv", self.header, [r[:3] + ["yew"] for r in self.rows])
        self.assert_fails(1, "evaluate", self.model, data, says=["nothing to compare"])

    def test_views(self):
        bad = self.write("v.txt", "a = x1 : nystrom:20\n")
        self.fit_fails(1, self.train, "--views", bad, says=["v.txt:1", "did you mean 'nystroem'?"])
        self.fit_fails(1, self.train, "--views", "each", "--method", "robust-view",
                       "--generalized-views", "x9", says=["x9", "x2"])
        missing = self.write("w.txt", "a = height\n")
        self.fit_fails(1, self.train, "--views", missing, says=["w.txt:1", "height"])

    def test_features(self):
        for maps, says in (
            ("nystrom:20", ["--features", "did you mean 'nystroem'?"]),
            ("nystroem:0", ["--features", "whole number from 1", "'0'"]),
            ("fourier:1.5", ["'1.5'"]),
            ("quadratic:2", ["no size"]),
            ("nystroem:5:-1", ["width", "'-1'"]),
            ("linear + auto", ["alone"]),
        ):
            self.fit_fails(2, self.train, "--features", maps, says=says)
        self.fit_fails(1, self.train, "--ratio", "logistic,nose=column:x3", says=["no view", "nose"])
        self.fit_fails(1, self.train, "--ratio", "logistic,all=column:x9", says=["x9"])
        self.fit_fails(2, self.train, "--ratio", "all=column:x3", says=["has no value for all inputs"])

    def test_maps_larger_than_the_rows(self):
        features = {}
        for maps in ("nystroem:5000", "fourier:300", "splines:5000"):
            self.fit("--method", "lr", "--features", maps)
            with open(self.model, encoding="utf-8") as file:
                (own,) = json.load(file)["body"]["classifier"]["components"][0]["features"]
            features[maps] = own
            self.assertEqual(len(self.run_ok("predict", self.model, self.target).stdout.splitlines()), 151)
        rows = len(self.rows) + len(self.target_rows)
        self.assertLessEqual(len(features["nystroem:5000"]["landmarks"]) / 3, rows, "at most the rows there are")
        self.assertEqual(len(features["fourier:300"]["phases"]), 300, "waves do not depend on the rows")
        for knots in features["splines:5000"]["knots"]:
            self.assertLess(len(knots), rows)

    def test_a_constant_view_adds_nothing_by_a_kernel(self):
        train = self.write_rows("c.csv", ["c", *self.header], [["7", *r] for r in self.rows])
        target = self.write_rows("ct.csv", ["c", *self.header], [["7", *r] for r in self.target_rows])
        answers = []
        for line in ("flat = c : nystroem:20\n", "flat = c : fourier:20\n", "flat = c : linear\n"):
            views = self.write("views.txt", line + "rest = x1, x2, x3\n")
            self.run_ok("fit", train, "--target", target, "--label", "y", "-q", "-o", self.model, "--lambda", "0.01",
                        "--method", "robust", "--views", views)
            lines = self.run_ok("predict", self.model, target).stdout.splitlines()[1:]
            answers.append([float(v) for line in lines for v in line.split(",")[1:]])
        for kernel in answers[:2]:  # the constant's features are 0: only sums may be rounded differently
            for p, expected in zip(kernel, answers[2], strict=True):
                self.assertAlmostEqual(p, expected, delta=1e-9)

    def test_one_row(self):
        one = self.write_rows("one.csv", self.header, self.rows[:1])
        self.fit_fails(1, one, "--features", "nystroem:10", says=["only one class"])
        target = self.write_rows("onet.csv", self.header, self.target_rows[:1])
        for maps in ("quadratic", "splines:4", "fourier:10", "nystroem:10"):
            self.run_ok("fit", self.train, "--target", target, "--label", "y", "-q", "-o", self.model, "--method", "robust",
                        "--features", maps)
            self.assertEqual(len(self.run_ok("predict", self.model, target).stdout.splitlines()), 2, maps)

    def test_costs(self):
        self.fit_fails(1, self.train, "--loss", "cost:" + self.write("c.csv", "0,1\n1,0\n"),
                       says=["c.csv: the cost matrix has 2 columns", "3 classes"])
        self.fit_fails(1, self.train, "--loss", "cost:" + self.write("d.csv", "0,1,1\n1,x,1\n"),
                       says=["d.csv", "x"])
        self.fit_fails(1, self.train, "--loss", "cost:" + self.write("e.csv", "0,1,\n1,0,1\n"),
                       says=["e.csv:1"])

    def test_weights(self):
        for bad, says in (("-1", "negative"), ("", "finite"), ("heavy", "finite")):
            rows = [r + ["1"] for r in self.rows]
            rows[3][4] = bad
            train = self.write_rows("w.csv", self.header + ["n"], rows)
            self.fit_fails(1, train, "--weight", "n", says=["w.csv:5", says])
        none = self.write_rows("z.csv", self.header + ["n"], [r + ["0"] for r in self.rows])
        self.fit_fails(1, none, "--weight", "n", says=["positive weight"])
        one = self.write("o.csv", "a,w,y\n1,1,no\n2,0,yes\n3,1,no\n4,0,yes\n")
        self.assert_fails(1, "fit", one, "--label", "y", "--weight", "w", "-o", self.model,
                          says=["only one class among the rows whose sample weight is not 0"])

    def test_tiny_weights_do_not_stop_training(self):
        for weight in ("1e-20", "1e-45", "1e-100", "1e-300"):
            train = self.write("w.csv", f"a,w,y\n1,1,no\n2,{weight},yes\n3,1,no\n-1,1,yes\n0,1,m\n5,{weight},m\n")
            for loss in ("zero-one", "absolute", "squared", "hinge", "abstain:0.3"):
                found = self.run_json("fit", train, "--label", "y", "--weight", "w", "--method", "lr", "--loss", loss,
                                      "--lambda", "0.01", "-o", self.model)
                self.assertEqual(found["status"], "converged", (weight, loss))

    def test_finite_values_however_large_are_predicted(self):
        train = self.write("s.csv", "a,y\n" + "".join(f"{i % 7 * 1e-4},{'uv'[i % 2]}\n" for i in range(40)))
        self.run_ok("fit", train, "--label", "y", "--method", "lr", "--lambda", "0.01", "-q", "-o", self.model)
        far = self.run_json("predict", self.model, self.write("far.csv", "a\n1e306\n-1e306\n"))["rows"]
        near = self.run_json("predict", self.model, self.write("near.csv", "a\n1\n-1\n"))["rows"]
        self.assertEqual(far, near)  # both are cut at 8 deviations

    def test_given_ratio_must_be_positive(self):
        rows = [r + ["1"] for r in self.rows]
        rows[2][4] = "0"
        train = self.write_rows("w.csv", self.header + ["w"], rows)
        self.target = self.write_rows("u.csv", self.header + ["w"], [r + ["1"] for r in self.rows])
        self.fit_fails(1, train, "--ratio", "column:w", says=["w.csv:4", "positive"])

    def test_model_files(self):
        self.fit()
        with open(self.model, encoding="utf-8") as file:
            text = file.read()
        for name, content, says in (
            ("truncated.json", text[: len(text) // 2], "damaged"),
            ("empty.json", "", "damaged"),
            ("newer.json", text.replace('"version": 2', '"version": 3'), "newer"),
            ("edited.json", text.replace('"bias":true', '"bias":false'), "checksum"),
            ("other.json", "{}", "not a covshift model"),
            ("binary.json", "\x00\x01\x02", "damaged"),
            ("list.json", "[1, 2]", "not a covshift model"),
        ):
            with self.subTest(name):
                self.assertNotEqual(content, text)
                self.assert_fails(
                    1, "predict", self.write(name, content), self.target, says=[name, says]
                )

    def test_a_failed_prediction_leaves_the_old_file(self):
        self.fit()
        out = self.write("out.csv", "precious\n")
        self.assert_fails(1, "predict", self.model, self.path("none.csv"), "-o", out)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious\n")


if __name__ == "__main__":
    unittest.main()
