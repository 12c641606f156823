"""The contract of the command line: flags, outputs, exit codes."""

import json
import math
import os
import subprocess
import unittest

from program import ProgramTest, shifted_data


class Contract(ProgramTest):
    def setUp(self):
        super().setUp()
        header, train, target = shifted_data()
        self.train = self.write_rows("train.csv", header, train)
        self.target = self.write_rows("target.csv", header[:3], [r[:3] for r in target])
        self.labelled = self.write_rows("labelled.csv", header, target)
        self.model = self.path("model.json")

    def fit(self, *flags):
        return self.run_json(
            "fit", self.train, "--target", self.target, "--label", "y", "-o", self.model, *flags
        )

    def test_robust_view_without_views_trusts_columns_one_by_one(self):
        for method in ("robust-view", "robust01-view"):
            own = self.fit("--method", method, "--lambda", "0.1")
            each = self.fit("--method", method, "--lambda", "0.1", "--views", "each")
            joint = self.fit("--method", method, "--lambda", "0.1", "--views", "all")
            self.assertEqual(own["objective"], each["objective"])
            self.assertNotEqual(own["objective"], joint["objective"])
            self.assertEqual(len(own["views"]), len(each["views"]))

    def test_fit_reports_what_the_contract_names(self):
        report = self.fit("--method", "robust-view", "--views", "each")
        for key in (
            "objective", "dual", "gap", "iterations", "status", "lambda", "seconds", "game_value",
            "views", "ratio",
        ):
            self.assertIn(key, report)
        self.assertEqual(report["status"], "converged")
        self.assertLessEqual(report["gap"], 1e-6 * max(1, abs(report["objective"])))
        self.assertGreaterEqual(report["gap"], 0)
        self.assertAlmostEqual(report["objective"] - report["dual"], report["gap"], places=12)
        self.assertEqual([v["name"] for v in report["views"]], ["x1", "x2", "x3"])
        kl = {v["name"]: v["kl"] for v in report["views"]}
        self.assertGreater(kl["x1"], 0.3)
        self.assertLess(kl["x2"], 0.1)
        for view in report["views"]:
            self.assertEqual(view["generalized"], view["kl"] < 0.1)
        self.assertGreater(report["ratio"]["effective_sample_size"], 1)
        self.assertLess(report["ratio"]["effective_sample_size"], 120)

    def test_predict_writes_probabilities_and_the_ratio(self):
        self.fit("--method", "robust")
        self.run_ok("predict", self.model, self.target, "-o", self.path("out.csv"))
        rows = self.read_rows("out.csv")
        self.assertEqual(
            list(rows[0]), ["predicted", "p:ash", "p:birch", "p:cedar", "log_ratio"]
        )
        self.assertEqual(len(rows), 150)
        for row in rows:
            p = {name: float(row["p:" + name]) for name in ("ash", "birch", "cedar")}
            self.assertAlmostEqual(sum(p.values()), 1, places=12)
            self.assertEqual(max(p, key=p.get), row["predicted"])

    def test_evaluate_agrees_with_the_predictions(self):
        self.fit("--method", "lr")
        self.run_ok("predict", self.model, self.labelled, "-o", self.path("out.csv"))
        scores = self.run_json("evaluate", self.model, self.labelled)
        rows = self.read_rows("out.csv")
        truth = [r["y"] for r in self.read_rows("labelled.csv")]
        hits = sum(r["predicted"] == y for r, y in zip(rows, truth))
        loss = -sum(math.log(float(r["p:" + y])) for r, y in zip(rows, truth)) / len(rows)
        self.assertEqual(scores["n"], 150)
        self.assertAlmostEqual(scores["accuracy"], hits / 150, places=12)
        self.assertAlmostEqual(scores["log_loss"], loss, places=9)
        self.assertAlmostEqual(scores["log_loss_bits"], loss / math.log(2), places=9)
        self.assertAlmostEqual(scores["expected_loss"], loss, places=9)
        self.assertEqual(sum(map(sum, scores["confusion"])), 150)

    def test_every_method_fits(self):
        for method in (
            "lr", "iw", "robust", "robust-view", "adv01", "robust01", "robust01-view", "svm",
            "iw-svm", "auto",
        ):
            with self.subTest(method):
                report = self.fit("--method", method, "--views", "each")
                self.assertEqual(report["status"], "converged")

    def test_every_loss_goes_with_every_assumption(self):
        costs = self.write("costs.csv", "0,1,4\n1,0,1\n4,1,0\n2,2,2\n")
        for loss in (
            "log", "zero-one", "absolute", "squared", "abstain:0.3", "abstain:0.6",
            "cost:" + costs, "hinge",
        ):
            for assumption in ("train", "test", "views", "temper:0.5"):
                with self.subTest(loss=loss, assumption=assumption):
                    report = self.fit(
                        "--loss", loss, "--generalize", assumption, "--lambda", "0.01",
                        "--views", "each",
                    )
                    self.assertEqual(report["status"], "converged")
                    self.assertEqual(report["generalize"], assumption)
                    self.run_ok("predict", self.model, self.target)
                    self.run_json("evaluate", self.model, self.labelled)

    def test_no_bound_is_promised_where_the_samples_contradict_it(self):
        apart = self.write_rows(
            "apart.csv", ["x1", "x2", "x3"], [[f"{8 + i % 5}", f"{i % 7}", "0"] for i in range(60)]
        )
        report = self.run_json(
            "fit", self.train, "--target", apart, "--label", "y", "--lambda", "0.001", "--method", "robust",
            "-o", self.model
        )
        certificate = report["certificate"]
        self.assertFalse(certificate["reliable"])
        self.assertIn("Not promised: a bound", certificate["statement"])
        certificate = self.fit("--lambda", "0.01", "--method", "robust")["certificate"]
        self.assertTrue(certificate["reliable"], certificate)
        self.assertIn("does not exceed", certificate["statement"])

    def test_predictions_as_json(self):
        self.fit("--lambda", "0.01")
        rows = self.run_json("predict", self.model, self.target)["rows"]
        self.assertEqual(len(rows), 150)
        self.assertAlmostEqual(sum(rows[0]["p"].values()), 1)

    def test_abstaining_is_a_column(self):
        self.fit("--loss", "abstain:0.2", "--lambda", "0.01")
        self.run_ok("predict", self.model, self.target, "-o", self.path("out.csv"))
        self.assertIn("p:abstain", self.read_rows("out.csv")[0])

    def test_every_ratio_fits_and_points_the_right_way(self):
        for ratio in ("logistic", "gaussian", "ulsif", "rulsif", "kliep", "kmm"):
            with self.subTest(ratio):
                self.fit("--ratio", ratio, "--lambda", "0.01")
                self.run_ok("predict", self.model, self.train, "-o", self.path("train_out.csv"))
                weight = [
                    math.exp(float(r["log_ratio"])) for r in self.read_rows("train_out.csv")
                ]
                x1 = [float(r["x1"]) for r in self.read_rows("train.csv")]
                plain = sum(x1) / len(x1)
                weighted = sum(w * x for w, x in zip(weight, x1)) / sum(weight)
                self.assertGreater(weighted, plain + 0.3)  # the target's mean is 1 higher

    def test_a_ratio_may_be_given_as_a_column(self):
        header, train, target = shifted_data()
        def ratio(row):  # known: N(1,1) against N(0,1) in x1
            return f"{math.exp(float(row[0]) - 0.5):.17g}"
        train_path = self.write_rows("t.csv", header + ["w"], [r + [ratio(r)] for r in train])
        target_path = self.write_rows("u.csv", header + ["w"], [r + [ratio(r)] for r in target])
        report = self.run_json(
            "fit", train_path, "--target", target_path, "--label", "y", "--ratio", "column:w",
            "--lambda", "0.01", "-o", self.model,
        )
        self.assertEqual(report["ratio"]["method"], "column")
        self.run_ok("predict", self.model, target_path, "-o", self.path("out.csv"))
        for row, out in zip(target, self.read_rows("out.csv")):
            self.assertAlmostEqual(float(out["log_ratio"]), float(row[0]) - 0.5, places=9)

    def test_the_label_column_of_the_target_is_never_used(self):
        with_labels = self.fit("--method", "robust")
        other = self.run_json(
            "fit", self.train, "--target", self.labelled, "--label", "y", "--method", "robust",
            "-o", self.path("other.json"),
        )
        for key in ("objective", "lambda", "iterations"):
            self.assertEqual(with_labels[key], other[key])

    def test_text_output_names_the_promise(self):
        out = self.run_ok(
            "fit", self.train, "--target", self.target, "--label", "y", "--method", "robust", "-o", self.model
        ).stdout
        self.assertIn("Promised", out)
        self.assertIn("Not promised", out)
        self.assertIn("duality gap", out)

    def test_quiet_prints_nothing(self):
        result = self.run_ok(
            "fit", self.train, "--target", self.target, "--label", "y", "-o", self.model, "-q"
        )
        self.assertEqual(result.stdout + result.stderr, "")

    def test_maps_of_views_and_of_the_fit(self):
        views = self.write("maps.txt", "one = x1, x2 : quadratic\ntwo = x2\n")
        report = self.fit("--method", "lr", "--views", views, "--features", "splines:3")
        self.assertEqual(report["features"], ["quadratic", "splines:3", "splines:3"][: len(report["views"])])
        report = self.fit("--method", "lr", "--features", "auto")
        tried = [c["features"] for c in report["selection"]]
        self.assertEqual(tried, ["linear", "nystroem:150", "splines:8"])
        losses = [min(p["loss"] for p in c["path"]) for c in report["selection"]]
        self.assertEqual(report["features"][0].split(":")[0], tried[losses.index(min(losses))].split(":")[0])

    def test_bends_of_columns_are_tried_where_no_shift_is_visible(self):
        def tried(*target):
            report = self.run_json("fit", self.train, *target, "--label", "y", "-o", self.path("a.json"))
            return {c["features"] for c in report["selection"]}

        self.assertEqual(tried(), {"linear", "nystroem:150", "splines:8"})
        self.assertEqual(tried("--target", self.target), {"linear", "nystroem:150"})

    def test_selection_reports_standard_errors(self):
        report = self.fit("--method", "robust", "--lambda", "iwcv", "--generalize", "temper:auto",
                          "--lambdas", "0.0001,0.01,0.1,1,4")
        self.assertEqual(len(report["selection"]), 5)
        self.assertTrue(report["generalize"].startswith("temper:"))
        for candidate in report["selection"]:
            self.assertEqual(len(candidate["path"]), 5)
            for point in candidate["path"]:
                self.assertGreaterEqual(point["standard_error"], 0)
        best = min(p["loss"] for c in report["selection"] for p in c["path"])
        chosen = [
            p["loss"]
            for c in report["selection"]
            for p in c["path"]
            if c["generalize"] == report["generalize"] and p["lambda"] == report["lambda"]
        ]
        self.assertEqual(chosen, [best])

    def test_the_same_seed_gives_the_same_model_for_any_threads(self):
        texts = []
        for threads in ("1", "2"):
            self.fit("--method", "robust-view", "--views", "each", "--threads", threads)
            with open(self.model, encoding="utf-8") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])

    def test_limits_are_reported_not_hidden(self):
        result = self.run_ok(
            "fit", self.train, "--target", self.target, "--label", "y", "-o", self.model,
            "--lambda", "0.001", "--max-iterations", "1", "--json", "--accept-unconverged",
        )
        self.assertEqual(json.loads(result.stdout)["status"], "iteration_limit")
        self.assertIn("not converged", result.stderr)
        os.remove(self.model)
        self.assert_fails(
            1, "fit", self.train, "--target", self.target, "--label", "y", "-o", self.model,
            "--lambda", "0.001", "--max-iterations", "1",
            says=["not converged (iteration_limit)", "--accept-unconverged"],
        )
        self.assertFalse(os.path.exists(self.model))

    def test_help_and_version(self):
        self.assertIn("covshift fit", self.run_ok("--help").stdout)
        for command in ("fit", "predict", "evaluate", "diagnose", "sample", "demo"):
            self.assertIn("--json", self.run_ok(command, "--help").stdout)
        self.assertRegex(self.run_ok("--version").stdout, r"covshift \d+\.\d+\.\d+")

    def test_completion_knows_every_flag(self):
        script = self.run_ok("completion", "bash").stdout
        lines = self.run_ok("fit", "--help").stdout.splitlines()
        flags = [w.split(",")[-1] for l in lines if l.startswith("  -") for w in l.split()[:1]]
        self.assertGreater(len(flags), 20)
        for flag in flags:
            self.assertIn(flag, script)
        self.write("c.bash", script + "COMP_WORDS=(covshift fit --rat); COMP_CWORD=2; _covshift\n"
                   'printf "%s\\n" "${COMPREPLY[@]}"\n')
        out = subprocess.run(["bash", self.path("c.bash")], capture_output=True, text=True, check=True)
        self.assertEqual(out.stdout.split(), ["--ratio", "--ratio-lambda"])

    def complete(self, *words):
        self.write("v.bash", self.run_ok("completion", "bash").stdout + f"COMP_WORDS=({' '.join(words)})\n"
                   f"COMP_CWORD={len(words) - 1}; _covshift\n" 'printf "%s\\n" "${COMPREPLY[@]}"\n')
        out = subprocess.run(["bash", self.path("v.bash")], capture_output=True, text=True, check=True,
                             cwd=self.folder)
        return out.stdout.split()

    def test_completion_of_values(self):
        self.assertEqual(self.complete("covshift", "fit", "--scale", "''"), ["unit", "standard", "none"])
        self.assertEqual(self.complete("covshift", "fit", "--method", "robust0"),
                         ["robust01", "robust01-view"])
        self.assertEqual(self.complete("covshift", "fit", "--loss", "abs"), ["absolute", "abstain:"])
        self.assertIn("train.csv", self.complete("covshift", "fit", "--views", "''"))
        self.assertIn("each", self.complete("covshift", "fit", "--views", "''"))
        self.assertIn("table1", self.complete("covshift", "reproduce", "''"))
        self.assertEqual(self.complete("covshift", "reproduce", "--bias", "''"), ["joint", "test"])

    def test_the_page_of_options_is_up_to_date(self):
        page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "options.md")
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_ok("options").stdout,
                             "write it again: build/covshift options > docs/options.md")

    def test_a_misspelt_name_is_pointed_out(self):
        fit = ("fit", self.train, "--label", "y", "-o", self.model)
        for flags, says in (
            (["ftt"], "did you mean 'fit'?"),
            ([*fit, "--lambad", "1"], "did you mean '--lambda'?"),
            ([*fit, "--method", "rubost"], "did you mean 'robust'?"),
            ([*fit, "--loss", "zeroone"], "did you mean 'zero-one'?"),
            ([*fit, "--ratio", "ulsf"], "did you mean 'ulsif'?"),
        ):
            self.assert_fails(2, *flags, says=[says])
        self.assertNotIn("did you mean", self.call(*fit, "--zzzzzzzz").stderr)

    def test_help_shows_values_and_defaults(self):
        text = " ".join(self.run_ok("fit", "--help").stdout.split())
        for part in ("[values: unit|standard|none] [default: standard]", "[default: 0.1]",
                     "Random seed for folds and sampling"):
            self.assertIn(part, text)

    def test_demo_shows_the_methods(self):
        report = self.run_json("demo")
        bits = {m["method"]: m["log_loss_bits"] for m in report["methods"]}
        self.assertLess(bits["robust-view"], bits["lr"])
        self.assertTrue(all(m["status"] == "converged" for m in report["methods"]))
        self.assertIn("robust-view", self.run_ok("demo").stdout)

    def test_sample_draws_what_it_says(self):
        report = self.run_json(
            "sample", self.labelled, "--label", "y", "--train-output", self.path("a.csv"),
            "--target-output", self.path("b.csv"), "--feature", "x1", "--n-train", "40",
            "--n-target", "30", "--seed", "5",
        )
        train, target = self.read_rows("a.csv"), self.read_rows("b.csv")
        self.assertEqual((len(train), len(target)), (40, 30))
        self.assertTrue(all(float(r["x1"]) <= report["threshold"] for r in train))
        self.assertTrue(all(float(r["x1"]) > report["threshold"] for r in target))


if __name__ == "__main__":
    unittest.main()
