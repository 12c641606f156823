"""Tests of the harness; scripts/shiftbench.sh runs them before it measures."""

import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

from . import fits, judge, metrics, own, peers, report, rules, run, tasks


class Metrics(unittest.TestCase):
    P = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    Y = np.array([0, 0, 0])

    def test_log_loss_is_in_bits(self):
        self.assertAlmostEqual(metrics.log_loss(self.P, self.Y), (1 + 2 + 0) / 3)

    def test_a_probability_of_zero_for_what_happened_is_finite(self):
        self.assertAlmostEqual(metrics.log_loss(self.P[2:], np.array([1])), -np.log2(1e-15))

    def test_brier_sums_over_classes(self):
        self.assertAlmostEqual(metrics.brier(self.P, self.Y), (0.5 + 2 * 0.75**2 + 0) / 3)

    def test_accuracy(self):
        self.assertAlmostEqual(metrics.accuracy(self.P[1:], np.array([1, 1])), 0.5)

    def test_calibration_error(self):
        p = np.repeat([[0.9, 0.1], [0.4, 0.6]], 10, axis=0)
        y = np.r_[np.zeros(7, int), np.ones(3, int), np.ones(6, int), np.zeros(4, int)]
        # 0.9 sure and 7 of 10 right; 0.6 sure and 6 of 10 right.
        self.assertAlmostEqual(metrics.calibration(p, y), 0.5 * 0.2)

    def test_rows_that_do_not_sum_to_one_are_normalised(self):
        self.assertAlmostEqual(metrics.log_loss(np.array([[1.0, 3.0]]), np.array([0])), 2)


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = [*tasks.from_scikit_learn(), *tasks.synthetic()]

    def task(self, name):
        return next(t for t in self.made if t.name == name)

    def test_names_are_unique_and_seeds_fixed(self):
        self.assertEqual(len({t.name for t in self.made}), len(self.made))
        again = [*tasks.from_scikit_learn(), *tasks.synthetic()]
        self.assertEqual([t.digest() for t in self.made], [t.digest() for t in again])

    def test_the_split_moves_the_score_it_is_made_by(self):
        random = np.random.default_rng(0)
        X, y = random.normal(size=(4000, 3)), random.integers(0, 2, 4000)
        made = tasks.biased("t", "t", X, y, "column2", 2, 5, most=2000).given
        moved = np.array([c.mean() for c in made.target]) - np.array([c.mean() for c in made.train])
        # E[s tanh(s)] x 2 for the logistic split of strength 2 of a normal column: 1.21
        self.assertAlmostEqual(moved[2], 1.21, delta=0.1)
        self.assertLess(np.abs(moved[:2]).max(), 0.1)

    def test_controls_do_not_move(self):
        for t in (t for t in self.made if not t.shifted):
            a, b = t.given.matrices()
            z = (b.mean(0) - a.mean(0)) / np.sqrt(a.var(0) / len(a) + b.var(0) / len(b))
            self.assertLess(np.abs(z).max(), 4, t.name)

    def test_labels_of_synthetic_tasks_follow_their_truth(self):
        for t in (t for t in self.made if t.bayes is not None):
            y = t.truth_codes()
            share = np.bincount(y, minlength=t.bayes.shape[1]) / len(y)
            self.assertLess(np.abs(share - t.bayes.mean(0)).max(), 0.06, t.name)

    def test_every_class_of_the_target_is_in_training(self):
        for t in self.made:
            self.assertLessEqual(set(t.truth), set(t.given.classes), t.name)

    def test_categories_are_one_hot_and_unknown_ones_are_zero(self):
        given = tasks.Given(["c", "x"], [["a", "b", "a"], np.array([1.0, 2, 3])], np.array(["0", "1", "0"]),
                            [["b", "z"], np.array([2.0, 2])], ["0", "1"])
        X, Z = given.matrices()
        self.assertEqual(X.shape, (3, 3))
        sd = np.sqrt(2 / 9)
        np.testing.assert_allclose(Z[0], [-2 / 3 / sd, 2 / 3 / sd, 0], atol=1e-12)
        np.testing.assert_allclose(Z[1], [-2 / 3 / sd, -1 / 3 / sd, 0], atol=1e-12)


class TruthStaysHere(unittest.TestCase):
    def test_what_a_method_gets_has_no_labels_of_the_target(self):
        fields = set(tasks.Given.__dataclass_fields__)
        self.assertEqual(fields, {"names", "train", "labels", "target", "classes"})

    def test_other_truth_gives_the_same_call(self):
        t = tasks.synthetic()[0]
        turned = tasks.Task(t.name, t.family, t.source, t.about, t.given, t.truth[::-1], t.bayes)
        self.assertEqual(t.digest(), turned.digest())
        X, Z = t.given.matrices()
        y = t.given.codes()
        p = peers.METHODS["LR (CV)"][1](X, y, Z, 2)
        self.assertEqual(p.shape, (len(Z), 2))

    def test_the_file_of_the_target_has_no_label(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "t.csv"
            own.write(path, ["a"], [np.array([1.5, 2])])
            self.assertEqual(path.read_text().split(), ["a", "1.5", "2.0"])

    def test_a_shared_target_with_labels_is_refused(self):
        import gzip

        with tempfile.TemporaryDirectory() as name:
            for file, text in (("train", "x,label\n1,0\n2,1\n"), ("target", "x,label\n1,0\n"), ("truth", "label\n0\n")):
                with gzip.open(Path(name) / f"{file}.csv.gz", "wt") as out:
                    out.write(text)
            with self.assertRaisesRegex(ValueError, "has a column 'label'"):
                tasks.shared_task(Path(name))


class Runs(unittest.TestCase):
    def test_a_failure_is_an_answer(self):
        def fails():
            raise ValueError("no luck")
        self.assertEqual(run.apart(fails)[run.FAILED], "ValueError: no luck")

    def test_the_limit_is_of_processor_time(self):
        def spins():
            while True:
                pass
        self.assertIn("more than 1 s", run.apart(spins, 1)[run.FAILED])
        self.assertNotIn(run.FAILED, run.apart(lambda: (time.sleep(1.5), (np.ones((1, 1)), {}))[1], 1))

    def test_probabilities_follow_the_classes(self):
        text = "predicted,p:b,p:a,log_ratio\na,0.25,0.75,0\n"
        np.testing.assert_array_equal(own.probabilities(text, ["a", "b"]), [[0.75, 0.25]])


def scores(**methods):
    return {m: {"bits": b, "calibration": 0.1, "accuracy": 0.5, "cpu": 1} for m, b in methods.items()}


class Judge(unittest.TestCase):
    S = {"one": scores(default=0.50, lr=0.60, robust=0.49, **{"LR (CV)": 0.55}),
         "two": scores(default=0.53, lr=0.50, robust=0.70, **{"LR (CV)": 0.52}),
         "calm-no-shift": scores(default=0.306, lr=0.30, robust=0.30, **{"LR (CV)": 0.305})}

    def of(self, start):
        return next(f for f in judge.figures(self.S, ["one", "two"], ["calm-no-shift"]) if f["figure"].startswith(start))

    def test_against_lr(self):
        self.assertEqual(self.of("worse than lr")["value"], "1 of 2 (worst +0.030)")
        self.assertFalse(self.of("mean against lr")["met"])
        self.assertIn("-0.035", self.of("mean against lr")["value"])

    def test_regret(self):
        self.assertEqual(self.of("regret to the best own method, mean")["value"], "+0.020")
        self.assertTrue(self.of("regret to the best own method, worst")["met"])

    def test_controls(self):
        self.assertFalse(self.of("controls without shift, worst against lr")["met"])
        self.assertTrue(self.of("controls without shift, worst against LR")["met"])

    def test_a_method_that_failed_is_left_out(self):
        S = {"one": scores(default=0.5, lr=0.6), "two": scores(lr=0.6)}
        self.assertEqual(len(judge.differences(S, ["one", "two"], "default", "lr")), 1)

    def test_maps(self):
        S = {"one": scores(**{"lr+maps": 0.5, "lr": 0.1, "random forest": 0.49, "RBF + LR": 0.6})}
        found, rows = judge.maps(S, ["one"])
        self.assertEqual(rows, [("one", 0.5, 0.49)])
        self.assertTrue(found[0]["met"])
        S["one"]["default"] = {"bits": 0.3}
        self.assertEqual(judge.maps(S, ["one"])[1], [("one", 0.3, 0.49)])


class Page(unittest.TestCase):
    def test_scores_of_an_earlier_page_are_kept(self):
        page = ("# Shift bench\n\n## Accuracy\n\n| task | lr | forest |\n|---|---|---|\n| a | **0.900** | 0.800 |\n| b | - | 0.700 |\n\n"
                "## Brier score\n\n| task | forest |\n|---|---|\n| a | 0.250 |\n\n## The tasks\n\n| task | forest |\n|---|---|\n| a | 1 |\n")
        self.assertEqual(report.kept(page, ["forest"]),
                         {"a": {"forest": {"accuracy": 0.8, "brier": 0.25}}, "b": {"forest": {"accuracy": 0.7}}})
        self.assertEqual(report.kept(page, ["lr"]), {"a": {"lr": {"accuracy": 0.9}}})


class Fits(unittest.TestCase):
    """The study's prototype."""

    def setUp(self):
        random = np.random.default_rng(3)
        self.X = np.c_[random.normal(size=(60, 3)), np.ones(60)]
        self.y = (random.random(60) < 1 / (1 + np.exp(-self.X @ [1, -1, 0.5, 0.2]))).astype(int)
        self.w = random.uniform(0.2, 3, 60)

    def test_newton_and_lbfgs_find_the_same_optimum(self):
        two = fits.path_of_two(self.X, 2.0 * self.y - 1, self.w, [0.1, 0.01])[-1]
        many = fits.path_of_many(self.X, self.y, self.w, [0.1, 0.01], 2)[-1]
        np.testing.assert_allclose(two, many, atol=2e-4)

    def test_robust_undoes_the_weight(self):
        w, r = fits.weights("robust", np.log(self.w))
        np.testing.assert_allclose(w * r, 1)

    def test_overlap_between_robust_and_weighting(self):
        log_w = np.log(self.w)
        np.testing.assert_allclose(fits.weights("overlap:9", log_w)[1], 1)
        low = fits.weights("overlap:-9", log_w)[1]
        np.testing.assert_allclose(low * self.w, low[0] * self.w[0])

    def test_the_ratio_of_equal_samples_is_one_and_of_moved_ones_points_right(self):
        random = np.random.default_rng(1)
        X, Z = random.normal(size=(400, 2)), random.normal(size=(500, 2))
        same, _ = fits.log_ratio(X, Z)
        self.assertLess(np.abs(same).max(), 0.5)
        moved, _ = fits.log_ratio(X, Z + [1, 0])
        np.testing.assert_allclose(moved, X[:, 0] - 0.5, atol=0.8)
        self.assertGreater(np.corrcoef(moved, X[:, 0])[0, 1], 0.95)

    def test_shares_maximise_their_function(self):
        random = np.random.default_rng(2)
        held = [np.log(random.dirichlet([1, 1], 40)) for _ in range(3)]
        y, v, prior = np.zeros(40, int), random.uniform(0.5, 2, 40), np.array([3.0, 0.1, 0.1])

        def value(pi):
            p = sum(k * np.exp(h[:, 0]) for k, h in zip(pi, held, strict=True))
            return (v * 30 / v.sum()) @ np.log(p) + prior @ np.log(pi)

        pi = rules.shares(held, y, v, 30, prior, steps=2000)
        for other in random.dirichlet([2, 2, 2], 200):
            near = 0.98 * pi + 0.02 * other
            self.assertGreaterEqual(value(pi), value(near) - 1e-9)

    def test_the_mixture_costs_at_most_its_share_of_lr(self):
        t = next(t for t in tasks.synthetic() if t.name == "linear20-small")
        with tempfile.TemporaryDirectory() as folder:
            pairs = [(m, a) for m in ("lin", "nys") for a in ("none", "overlap:0.25", "overlap:0")]
            f = rules.Fits(fits.cached(t, folder, wanted=pairs), t.given.codes())
        p, shares = rules.mixture(f, share_of=True)
        np.testing.assert_allclose(p.sum(1), 1, atol=1e-6)
        worst = (metrics.bits(p, t.truth_codes()) - metrics.bits(rules.lr_cv(f), t.truth_codes())).max()
        self.assertLessEqual(worst, -np.log2(shares["lr(CV)"]) + 1e-6)
        self.assertGreaterEqual(shares["lr(CV)"], 3 / (f.effective(f.criterion(0.5)) + 4) - 1e-9)


if __name__ == "__main__":
    unittest.main()
