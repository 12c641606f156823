"""diagnose, compare and demo as a user runs them: what they say of data whose shift is known."""

import json
import random
import shlex
import unittest

from program import ProgramTest, shifted_data


def next_words(text, command):
    """The arguments of the command that a report names as the next one."""
    start = text.index("Next: covshift ")
    line = next(l for l in text[start:].splitlines() if f"covshift {command} " in l)
    return shlex.split(line.partition("covshift ")[2].partition("   (")[0])


def gaussian_rows(source, n, shift):
    """Three numbers, the second of them moved, a category and a class."""
    rows = []
    for _ in range(n):
        x = [source.gauss(0, 1), source.gauss(shift, 1), source.gauss(0, 1)]
        site = source.choice("ABC")
        label = "sick" if x[0] + x[2] + source.gauss(0, 0.5) > 0 else "well"
        rows.append([f"{v:.6f}" for v in x] + [site, label])
    return rows


class Diagnose(ProgramTest):
    header = ["age", "dose", "bmi", "site", "y"]

    def setUp(self):
        super().setUp()
        self.source = random.Random(1)
        self.train = self.write_rows("train.csv", self.header, gaussian_rows(self.source, 200, 0))

    def target(self, shift, n=200, name="target.csv"):
        return self.write_rows(name, self.header, gaussian_rows(self.source, n, shift))

    def diagnose(self, shift, *flags):
        return self.run_json("diagnose", self.train, self.target(shift), "--label", "y", *flags)

    def test_no_shift(self):
        report = self.diagnose(0)
        self.assertFalse(report["shift"])
        self.assertGreater(report["p_value"], 0.05)
        self.assertEqual(report["recommendation"]["verdict"], "none")
        self.assertEqual(report["recommendation"]["method"], "auto")
        self.assertIn("No shift", report["advice"])
        self.assertRegex(report["recommendation"]["reasons"][0]["text"],
                         r"^A classifier separates training from target with an AUC of 0\.\d+ \(0\.5 is chance\); \d+ of 199 ")
        self.assertGreaterEqual(report["power"], 0.8)
        self.assertEqual(report["recommendation"]["trust"]["code"], "no-shift")
        self.assertIsNone(self.diagnose(2)["power"])

    def test_few_rows_of_many_columns_are_no_evidence(self):
        header = [f"x{j}" for j in range(300)]
        files = [self.write_rows(name, header, [[self.source.gauss(0, 1) for _ in header] for _ in range(60)])
                 for name in ("wide.csv", "new.csv")]
        report = self.run_json("diagnose", *files, "--seed", 1)
        trust = report["recommendation"]["trust"]
        self.assertFalse(report["shift"])
        self.assertLess(report["power"], 0.4)
        self.assertEqual((trust["answer"], trust["code"]), ("partly", "few-rows"))
        printed = self.run_ok("diagnose", *files, "--seed", 1).stdout
        for text in (trust["headline"], *trust["evidence"], trust["next"], "too little power to detect a small one"):
            self.assertIn(text, printed)

    def test_false_alarms_are_at_the_nominal_level(self):
        # The whole program, few draws; tests/diagnose has 200 of each kind.
        alarms = sum(
            self.run_json(
                "diagnose", self.train, self.target(0, 60), "--permutations", "39", "--seed", seed,
                "--label", "y",
            )["shift"]
            for seed in range(20)
        )
        self.assertLessEqual(alarms, 5)  # more than that in one of 1000 cases

    def test_fit_and_diagnose_agree_on_every_view(self):
        # Strong enough a shift that the fit's ratio is smoothed; several kinds of views and ratios.
        target = self.target(2.5)
        views = self.write("views.txt", "a = age, dose\nb = bmi\n")
        for flags in (
            ("--views", "each"), ("--views", views), ("--views", "all"),
            ("--views", "each", "--ratio", "ulsif"), ("--views", "each", "--ratio-lambda", "paper"),
        ):
            data = self.run_json("diagnose", self.train, target, "--label", "y", *flags)
            fit = self.run_json(
                "fit", self.train, "--target", target, "--label", "y", "--method", "robust-view",
                "--lambda", "0.1", "-o", self.path("m.json"), *flags,
            )
            self.assertEqual(len(data["views"]), len(fit["views"]))
            for ours, theirs in zip(data["views"], fit["views"]):
                self.assertEqual(ours["name"], theirs["name"])
                self.assertAlmostEqual(ours["kl"], theirs["kl"], places=9, msg=(flags, ours["name"]))
                self.assertEqual(ours["generalized"], theirs["generalized"], (flags, ours["name"]))
            self.assertAlmostEqual(data["fitted_sample_size"], fit["ratio"]["effective_sample_size"], places=6)

    def test_fit_and_diagnose_agree_on_values_that_scaling_cuts(self):
        rows = gaussian_rows(self.source, 200, 1)
        for row in rows[:5]:
            row[1] = "1e6"
        target = self.write_rows("far.csv", self.header, rows)
        data = self.run_json("diagnose", self.train, target, "--label", "y")
        fit = self.run_json("fit", self.train, "--target", target, "--label", "y", "--method", "robust-view",
                            "--lambda", "0.1", "-o", self.path("m.json"))
        for ours, theirs in zip(data["views"], fit["views"], strict=True):
            self.assertAlmostEqual(ours["kl"], theirs["kl"], places=9, msg=ours["name"])
        self.assertAlmostEqual(data["fitted_sample_size"], fit["ratio"]["effective_sample_size"], places=6)

    def test_values_far_off_do_not_hide_a_shift(self):
        plain = self.diagnose(1.5)
        rows = gaussian_rows(self.source, 200, 1.5)
        for value, count in (("1e6", 1), ("-1e160", 10), ("1e308", 1)):
            for row in rows[:count]:
                row[1] = value
            found = self.run_json("diagnose", self.train, self.write_rows("far.csv", self.header, rows), "--label", "y")
            self.assertTrue(found["shift"], value)
            self.assertGreater(found["domain_auc"], plain["domain_auc"] - 0.1, value)
            self.assertGreaterEqual(found["support"]["share"], count / len(rows), value)

    def test_fit_and_diagnose_agree_on_identifiers_and_dates(self):
        # Ratios ignore them, so no view with one is trusted, however little the rest of it moved.
        def rows(year, name):
            return [[f"{name}{i}", f"{year}-{i % 12 + 1:02}-{i % 28 + 1:02}", str(i * 7 % 60 / 10), str(i * 11 % 3 // 2)]
                    for i in range(150)]

        header = ["id", "day", "x", "y"]
        train = self.write_rows("dated.csv", header, rows(2023, "a"))
        target = self.write_rows("later.csv", header, rows(2024, "b"))
        for flags in (("--dates", "day"), ()):
            data = self.run_json("diagnose", train, target, "--label", "y", *flags)
            fit = self.run_json("fit", train, "--target", target, "--label", "y", "--method", "robust-view",
                                "--lambda", "0.1", "-o", self.path("m.json"), *flags)
            trusted = {"id": False, "day": False, "x": True}
            self.assertEqual({v["name"]: v["generalized"] for v in data["views"]}, trusted)
            self.assertEqual({v["name"]: v["generalized"] for v in fit["views"]}, trusted)
            self.assertAlmostEqual(data["fitted_sample_size"], fit["ratio"]["effective_sample_size"], places=6)

    def test_the_view_that_moved_is_named(self):
        report = self.diagnose(2.5)
        self.assertTrue(report["shift"])
        self.assertEqual(report["recommendation"]["shifted_views"], ["dose"])
        self.assertEqual(set(report["recommendation"]["stable_views"]), {"age", "bmi", "site"})
        text = self.run_ok("diagnose", self.train, self.path("target.csv"), "--label", "y").stdout
        self.assertIn("Strong shift in dose", text)

    def test_the_command_is_the_default_fit_with_the_options_given(self):
        target = self.target(2.5, name="it's a target.csv")
        call = ("diagnose", self.train, target, "--label", "y", "--ratio", "gaussian", "--drop", "bmi,site",
                "--scale", "unit", "--rows", "3")
        text = self.run_ok(*call).stdout
        words = next_words(text, "fit")
        self.assertEqual(words, shlex.split(self.run_json(*call)["recommendation"]["command"])[1:])
        self.run_next(words)
        own = self.run_json(
            "fit", self.train, "--target", target, "--label", "y", "--ratio", "gaussian", "--drop", "bmi,site",
            "--scale", "unit", "-o", self.path("own.json"),
        )
        self.assertEqual(own["ratio"]["method"], "gaussian")
        with open(self.path("model.json")) as ours, open(self.path("own.json")) as theirs:
            self.assertEqual(ours.read(), theirs.read())
        self.assertIn("auto", self.run_json(*call)["recommendation"]["method"])

    def test_no_overlap_shows_the_rows(self):
        report = self.diagnose(15)
        self.assertEqual(report["recommendation"]["verdict"], "no-overlap")
        self.assertEqual(report["support"]["share"], 1)
        target = self.read_rows("target.csv")
        for row in report["recommendation"]["label_first"] + report["support"]["examples"]:
            for shown in row["values"]:
                own = target[row["row"] - 1][shown["name"]]
                if shown["name"] == "site":
                    self.assertEqual(shown["value"], own)
                else:
                    self.assertAlmostEqual(float(shown["value"]), float(own), places=3)
        text = self.run_ok("diagnose", self.train, self.path("target.csv"), "--label", "y").stdout
        self.assertIn("no method can know the labels there", text)
        self.assertIn("Rows to label first", text)

    def test_reasons_are_data(self):
        reasons = self.diagnose(2.5)["recommendation"]["reasons"]
        codes = {r["code"]: r for r in reasons}
        self.assertLessEqual(codes["p-value"]["value"], codes["p-value"]["threshold"])
        for code in ("shifted-views", "effective-sample-size", "support"):
            self.assertIn(code, codes)
            self.assertTrue(codes[code]["text"])

    def test_the_same_for_any_threads(self):
        target = self.target(1)
        texts = {
            self.run_ok("diagnose", self.train, target, "--json", "--threads", n).stdout
            for n in (1, 2)
        }
        self.assertEqual(len(texts), 1)

    def test_bad_calls(self):
        target = self.target(1)
        self.assert_fails(2, "diagnose", self.train)
        self.assert_fails(2, "diagnose", self.train, target, "--permutations", "0")
        self.assert_fails(2, "diagnose", self.train, target, "--report", target, says=["overwrite"])
        self.assert_fails(1, "diagnose", self.train, target, "--label", "nowhere", says=["nowhere"])
        self.assert_fails(1, "diagnose", self.train, self.path("none.csv"), says=["none.csv"])


    def test_a_change_of_shape_comes_first_among_many_views(self):
        # Symmetric KL alone would list it after the noise of the others, where nothing is shown.
        header = [f"x{j}" for j in range(25)]

        def rows(spread):
            return [[f"{self.source.gauss(0, spread if j == 24 else 1):.5f}" for j in range(25)]
                    for _ in range(150)]

        train = self.write_rows("wide.csv", header, rows(1))
        target = self.write_rows("wider.csv", header, rows(4))
        text = self.run_ok("diagnose", train, target).stdout.splitlines()
        views = next(i for i, line in enumerate(text) if "symmetric KL" in line)
        self.assertEqual(text[views + 1].split()[0], "x24")
        self.assertEqual(sum("... and 5 more" in line for line in text), 2)  # views, and means

    def test_rows_to_label_are_shown_where_the_summary_asks_for_labels(self):
        report = self.diagnose(2.5)
        self.assertEqual(report["recommendation"]["verdict"], "views")
        self.assertIn("label rows there first", report["advice"])
        text = self.run_ok("diagnose", self.train, self.path("target.csv"), "--label", "y").stdout
        self.assertIn("Rows to label first", text)

    def test_a_misspelt_number_is_pointed_at(self):
        rows = gaussian_rows(self.source, 40, 0)
        rows[6][1] = "O.5"
        typo = self.write_rows("typo.csv", self.header, rows)
        for command in (["diagnose"], ["compare", "--methods", "lr"]):
            out = self.run_ok(command[0], typo, self.train, "--label", "y", *command[1:])
            self.assertIn("typo.csv:8:2", out.stderr)
            self.assertIn("'O.5'", out.stderr)

    def test_a_report_that_cannot_be_written_fails_before_the_work(self):
        page = self.path("nowhere/page.html")
        self.assert_fails(1, "demo", "--report", page, says=["page.html"])
        self.assert_fails(1, "diagnose", self.path("none.csv"), self.train, "--report", page,
                          says=["page.html"])


class Next(ProgramTest):
    """The command that compare names gives the score that it announces."""

    def setUp(self):
        super().setUp()
        header, train, target = shifted_data(seed=3, n_train=150, n_target=400)
        self.train = self.write_rows("train data.csv", header, train)
        self.target = self.write_rows("target.csv", header[:3], [r[:3] for r in target])
        self.truth = self.write_rows("truth.csv", header, target)
        self.views = self.write("views.txt", "a = x1, x2\nb = x3\n")

    def check(self, *flags):
        call = ("compare", self.train, self.target, "--label", "y", "--truth", self.truth, *flags)
        text, report = self.run_ok(*call).stdout, self.run_json(*call)
        advice = report["diagnosis"]["recommendation"]
        words = next_words(text, "fit")
        for command in (report["command"], advice["command"]):
            self.assertEqual(shlex.split(command)[1:], words)
        self.assertEqual(advice["method"], report["recommended"])
        self.assertIn(f"Use {report['recommended']}", advice["why"])
        self.run_next(words)
        scores = json.loads(self.run_next([*next_words(text, "evaluate"), "--json"]))
        method = next(m for m in report["methods"] if m["method"] == report["recommended"])
        self.assertAlmostEqual(scores["brier"], method["truth"]["brier"]["value"], places=12, msg=flags)
        self.assertAlmostEqual(scores["accuracy"], method["truth"]["accuracy"], places=12, msg=flags)
        self.assertIn(f"Brier {scores['brier']:.6g}", text)
        return report

    def test_the_default(self):
        report = self.check("--methods", "auto,lr,robust-view")
        self.assertEqual(report["recommended"], "auto")

    def test_every_method(self):
        for m in ("lr", "iw", "tempered", "robust", "robust-view", "overlap", "robust01-view", "svm"):
            self.assertEqual(self.check("--methods", m)["recommended"], m)

    def test_the_options_that_were_used(self):
        self.check("--methods", "robust-view", "--views", "each", "--view-threshold", "0.5")
        self.check("--methods", "auto", "--views", self.views, "--ratio", "gaussian", "--scale", "unit",
                   "--folds", "3", "--seed", "7")
        self.assertNotIn("--ratio", self.check("--methods", "lr", "--ratio", "gaussian")["command"])  # lr has none
        self.check("--methods", "lr,iw", "--features", "splines:3", "--ratio-lambda", "cv", "--drop", "x3")

    def test_the_choice_is_told(self):
        report = self.check("--methods", "auto,lr")
        auto = report["methods"][0]
        self.assertAlmostEqual(sum(t["share"] for t in auto["selection"]), 1)
        # With --lambda cv the baseline is one model with another candidate, but a row of its own in the table.
        for flags in ((), ("--lambda", "cv")):
            fit = self.run_json("fit", self.train, "--target", self.target, "--label", "y", *flags, "-o", self.path("m.json"))
            used = sum(t["share"] > 0 for t in fit["selection"])
            self.assertIn(f"the model mixes {used} of {len(fit['selection'])} candidates", fit["choice"])
        fit = self.run_json("fit", self.train, "--target", self.target, "--label", "y", "-o", self.path("m.json"))
        self.assertEqual(fit["selection"], auto["selection"])
        self.assertEqual(fit["choice"], auto["choice"])


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        header, train, target = shifted_data()
        self.train = self.write_rows("train.csv", header, train)
        self.target = self.write_rows("target.csv", header[:3], [r[:3] for r in target])
        self.labelled = self.write_rows("labelled.csv", header, target)
        self.labels = self.write_rows("labels.csv", ["y"], [[r[3]] for r in target])

    def compare(self, *flags):
        return self.run_json("compare", self.train, self.target, "--label", "y", *flags)

    def test_every_method_with_estimates_and_certificates(self):
        report = self.compare()
        names = [m["method"] for m in report["methods"]]
        self.assertEqual(
            set(names),
            {"auto", "lr", "iw", "tempered", "robust", "robust-view", "overlap", "adv01", "robust01",
             "robust01-view", "overlap01", "svm", "iw-svm"},
        )
        for m in report["methods"]:
            self.assertEqual(m["status"], "converged")
            self.assertGreater(m["estimated"]["brier"]["standard_error"], 0)
            self.assertIsNone(m["truth"])
            self.assertGreaterEqual(m["certificate"]["gap"], 0)
            self.assertGreater(m["effective_sample_size"], 1)
        self.assertEqual(report["judged_by"], "estimate")
        best = min(report["methods"], key=lambda m: m["estimated"]["brier"]["value"])
        self.assertEqual(report["best"], best["method"])
        tied = [m["method"] for m in report["methods"] if m["tied"]]
        self.assertEqual(report["winner"], tied[0] if len(tied) == 1 else None)
        self.assertIn(report["best"], report["statement"])
        self.assertIn("recommendation", report["diagnosis"])

    def test_truth_agrees_with_fit_and_evaluate(self):
        report = self.compare("--truth", self.labelled, "--methods", "lr,robust-view")
        for m in report["methods"]:
            fit = self.run_json(
                "fit", self.train, "--target", self.target, "--label", "y", "--method", m["method"],
                "-o", self.path("m.json"),
            )
            self.assertEqual(fit["lambda"], m["lambda"])
            self.assertEqual(fit["objective"], m["certificate"]["game_value"])
            scores = self.run_json("evaluate", self.path("m.json"), self.labelled)
            self.assertAlmostEqual(scores["accuracy"], m["truth"]["accuracy"], places=12)
            self.assertAlmostEqual(scores["brier"], m["truth"]["brier"]["value"], places=12)
            self.assertAlmostEqual(scores["log_loss"], m["truth"]["log_loss"]["value"], places=12)

    def test_truth_may_be_labels_alone(self):
        a = self.compare("--truth", self.labelled, "--methods", "lr,iw")
        b = self.compare("--truth", self.labels, "--methods", "lr,iw")
        for m, n in zip(a["methods"], b["methods"]):
            self.assertEqual(m["truth"], n["truth"])
        short = self.write_rows("short.csv", ["y"], [["ash"], ["birch"]])
        self.assert_fails(
            1, "compare", self.train, self.target, "--label", "y", "--truth", short,
            says=["2 labels for 150 target rows"],
        )

    def test_estimates_from_too_few_rows_are_shown_as_guesses(self):
        header, train, _ = shifted_data(n_train=40)
        far = self.write_rows("far.csv", header[:3], [[f"{float(r[0]) + 9}", r[1], r[2]] for r in train])
        call = ("compare", self.train, far, "--label", "y", "--methods", "auto,lr")
        report = self.run_json(*call)
        self.assertEqual([m["estimated"]["reliable"] for m in report["methods"]], [False, False])
        self.assertIsNone(report["winner"])
        self.assertEqual(report["recommended"], "auto")
        self.assertIn("No winner can be named", report["statement"])
        text = self.run_ok(*call).stdout
        lr = next(l for l in text.splitlines() if l.split()[:1] == ["lr"])
        self.assertEqual(lr.count("?"), 4, lr)  # error, log loss, Brier, right
        self.assertIn("?: a guess", text)
        near = self.compare("--methods", "auto,lr")
        self.assertEqual([m["estimated"]["reliable"] for m in near["methods"]], [True, True])
        self.assertNotIn("?: a guess", self.run_ok("compare", self.train, self.target, "--label", "y",
                                                   "--methods", "auto,lr").stdout)

    def test_the_table_is_readable(self):
        text = self.run_ok("compare", self.train, self.target, "--label", "y").stdout
        for word in ("robust-view", "promised", "sure", "right", "effective sample size"):
            self.assertIn(word, text)

    def test_bad_calls(self):
        self.assert_fails(2, "compare", self.train, self.target, says=["--label"])
        call = ("compare", self.train, self.target, "--label", "y")
        self.assert_fails(2, *call, "--metric", "auc", says=["brier"])
        self.assert_fails(2, *call, "--methods", "lr,forest", says=["forest"])
        self.assert_fails(2, *call, "--methods", "lr,iw,lr", says=["'lr' is named twice"])
        self.assert_fails(1, *call, "--map", "x1,nowhere", says=["nowhere"])
        self.assert_fails(1, *call, "--map", "x1", says=["two different columns"])


class Demo(ProgramTest):
    def test_a_newcomer_sees_why(self):
        report = self.run_json("demo")
        truth = {m["method"]: m["truth"] for m in report["comparison"]["methods"]}
        self.assertGreater(truth["lr"]["confidence"], truth["lr"]["accuracy"] + 0.05)
        self.assertLess(truth["robust"]["confidence"], truth["robust"]["accuracy"])
        self.assertGreater(truth["robust-view"]["accuracy"], truth["lr"]["accuracy"])
        self.assertEqual(report["diagnosis"]["recommendation"]["shifted_views"], ["x1"])
        text = self.run_ok("demo").stdout
        self.assertIn("Why lr is overconfident", text)
        for seed, worse in ((1, False), (5, True)):
            bits = [m["log_loss_bits"] for m in self.run_json("demo", "--seed", seed)["methods"]]
            self.assertEqual(any(b is not None and b > 1 for b in bits), worse)
            self.assertEqual("worse than a coin" in self.run_ok("demo", "--seed", seed).stdout, worse)
        self.assertEqual(json.dumps(report["seed"]), "1")


if __name__ == "__main__":
    unittest.main()
