"""Methods that must agree, seen from outside."""

import unittest

from program import ProgramTest, shifted_data

TIGHT = ("--tolerance", "1e-12")


class Reductions(ProgramTest):
    def setUp(self):
        super().setUp()
        self.header, self.rows, self.target_rows = shifted_data(seed=3)
        self.train = self.write_rows("train.csv", self.header, self.rows)
        self.target = self.write_rows("target.csv", self.header, self.target_rows)

    def probabilities(self, *flags, train=None, target=None, data=None):
        self.run_ok(
            "fit", train or self.train, "--target", target or self.target, "--label", "y", "-q",
            "-o", self.path("m.json"), *TIGHT, *flags,
        )
        self.run_ok("predict", self.path("m.json"), data or self.target, "-o", self.path("p.csv"), "-q")
        return [
            {k: float(v) for k, v in row.items() if k.startswith("p:")}
            for row in self.read_rows("p.csv")
        ]

    def assert_same(self, one, other, places=5):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertEqual(a.keys(), b.keys())
            for key in a:
                self.assertAlmostEqual(a[key], b[key], places=places)

    def assert_different(self, one, other):
        gap = max(abs(a[k] - b[k]) for a, b in zip(one, other) for k in a)
        self.assertGreater(gap, 0.01)

    def test_generalize_test_is_importance_weighting(self):
        self.assert_same(
            self.probabilities("--method", "robust", "--generalize", "test", "--lambda", "0.01"),
            self.probabilities("--method", "iw", "--lambda", "0.01"),
        )

    def test_temper_0_is_robust_and_temper_1_is_iw(self):
        robust = self.probabilities("--method", "robust", "--lambda", "0.01")
        iw = self.probabilities("--method", "iw", "--lambda", "0.01")
        self.assert_same(
            self.probabilities("--method", "robust", "--generalize", "temper:0", "--lambda", "0.01"),
            robust,
        )
        self.assert_same(
            self.probabilities("--method", "robust", "--generalize", "temper:1", "--lambda", "0.01"),
            iw,
        )
        self.assert_different(robust, iw)

    def test_the_unsquared_norm_is_the_square_with_another_lambda(self):
        for method in ("robust", "robust01"):
            report = self.run_json(
                "fit", self.train, "--target", self.target, "--label", "y", "-o", self.path("n.json"),
                "--method", method, "--penalty", "norm", "--lambda", "0.02", "--tolerance", "1e-9",
            )
            self.assertEqual((report["penalty"], report["status"]), ("norm", "converged"))
            self.assertGreaterEqual(report["gap"], 0)
            self.assertLessEqual(report["gap"], 1e-9 * max(1, report["objective"]))
            norm = self.probabilities("--method", method, "--penalty", "norm", "--lambda", "0.02")
            same = str(report["squared_lambda"])
            self.assert_same(norm, self.probabilities("--method", method, "--lambda", same), places=3)
            self.assert_different(norm, self.probabilities("--method", method, "--lambda", "0.02"))

    def test_no_shift_makes_robust_equal_lr(self):
        self.assert_same(
            self.probabilities("--method", "robust", "--lambda", "0.01", target=self.train),
            self.probabilities("--method", "lr", "--lambda", "0.01", target=self.train),
            places=4,
        )

    def test_a_ratio_of_one_is_no_shift(self):
        self.assert_same(
            self.probabilities("--method", "robust", "--ratio", "none", "--lambda", "0.01"),
            self.probabilities("--method", "lr", "--lambda", "0.01"),
        )

    def test_no_generalized_view_makes_robust_view_robust(self):
        self.assert_same(
            self.probabilities(
                "--method", "robust-view", "--views", "each", "--view-threshold", "0",
                "--lambda", "0.01",
            ),
            self.probabilities("--method", "robust", "--lambda", "0.01"),
        )

    def test_one_view_of_everything_generalized_differs_only_in_the_bias(self):
        # r_v of the view `all` is the joint ratio: the same as robust.
        self.assert_same(
            self.probabilities(
                "--method", "robust-view", "--views", "all", "--generalized-views", "all", "--lambda",
                "0.01"
            ),
            self.probabilities("--method", "robust", "--lambda", "0.01"),
        )

    def test_cost_matrix_of_errors_is_zero_one(self):
        costs = self.write("c.csv", "0,1,1\n1,0,1\n1,1,0\n")
        self.assert_same(
            self.probabilities("--method", "robust01", "--lambda", "0.05"),
            self.probabilities("--method", "robust01", "--loss", "cost:" + costs, "--lambda", "0.05"),
            places=4,
        )

    def test_weights_are_repetitions(self):
        weights = [i % 3 for i in range(len(self.rows))]
        weighted = self.write_rows(
            "w.csv", self.header + ["n"], [r + [w] for r, w in zip(self.rows, weights)]
        )
        repeated = self.write_rows(
            "r.csv", self.header, [r for r, w in zip(self.rows, weights) for _ in range(w)]
        )
        for method in ("lr", "robust", "adv01", "iw-svm"):
            with self.subTest(method):
                # The same scaling for both: the rows without weight would stretch it.
                flags = (
                    "--method", method, "--lambda", "0.01", "--scale", "none",
                    "--ratio-lambda", "0.05",
                )
                self.assert_same(
                    self.probabilities(*flags, "--weight", "n", train=weighted),
                    self.probabilities(*flags, train=repeated),
                    places=4,
                )

    def test_names_and_order_of_classes_do_not_matter(self):
        rename = {"ash": "z", "birch": "a", "cedar": "m"}
        renamed = self.write_rows(
            "n.csv", self.header, [r[:3] + [rename[r[3]]] for r in reversed(self.rows)]
        )
        for method in ("lr", "robust", "robust01"):
            with self.subTest(method):
                plain = self.probabilities("--method", method, "--lambda", "0.01")
                other = self.probabilities("--method", method, "--lambda", "0.01", train=renamed)
                self.assert_same(
                    plain,
                    [{"p:" + n: p["p:" + rename[n]] for n in rename} for p in other],
                    places=4,
                )

    def test_the_order_of_classes_matters_to_ordinal_losses_alone(self):
        order = ("--classes", "cedar,ash,birch")
        zero_one = self.probabilities("--method", "robust01", "--lambda", "0.01")
        self.assert_same(
            zero_one, self.probabilities("--method", "robust01", "--lambda", "0.01", *order), places=4
        )
        ordinal = ("--method", "robust01", "--loss", "absolute", "--lambda", "0.01")
        self.assert_different(self.probabilities(*ordinal), self.probabilities(*ordinal, *order))
        for wrong in ("ash,birch", "ash,birch,cedar,yew", "ash,birch,yew", "ash,ash,birch"):
            self.assert_fails(
                1, "fit", self.train, "--target", self.target, "--label", "y", "--classes", wrong,
                "-o", self.path("m.json"), says=["class"],
            )

    def test_sparse_and_dense_give_the_same_model(self):
        def sparse(rows):
            return "".join(
                r[3] + "".join(f" {j + 1}:{v}" for j, v in enumerate(r[:3]) if float(v) != 0) + "\n"
                for r in rows
            )
        train = self.write("t.svm", sparse(self.rows))
        target = self.write("u.svm", sparse(self.target_rows))
        flags = ("--method", "robust", "--scale", "none", "--lambda", "0.01")
        dense = self.probabilities(*flags)
        self.run_ok(
            "fit", train, "--target", target, "-q", "-o", self.path("s.json"), *TIGHT, *flags
        )
        self.run_ok("predict", self.path("s.json"), target, "-o", self.path("s.csv"), "-q")
        rows = self.read_rows("s.csv")
        self.assert_same(
            dense, [{k: float(v) for k, v in r.items() if k.startswith("p:")} for r in rows]
        )

    def test_rows_are_predicted_alone_as_in_company(self):
        whole = self.probabilities("--method", "robust-view", "--views", "each", "--lambda", "0.01")
        with open(self.path("p.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for i in (0, 7, 149):
            one = self.write_rows("one.csv", self.header, [self.target_rows[i]])
            out = self.run_ok("predict", self.path("m.json"), one).stdout.splitlines()
            self.assertEqual(out[1], lines[i + 1])  # to the last digit
        backwards = self.write_rows("b.csv", self.header, self.target_rows[::-1])
        out = self.run_ok("predict", self.path("m.json"), backwards).stdout.splitlines()
        self.assertEqual(out[1:], lines[:0:-1])
        self.assertEqual(len(whole), 150)

    def test_far_out_every_probability_is_one(self):
        far = [
            [f"{s * x}", f"{t * x}", "0", "ash"]
            for x in (1e1, 1e3, 1e6, 1e150, 1e300) for s in (-1, 0, 1) for t in (-1, 0, 1)
        ]
        data = self.write_rows("far.csv", self.header, far)
        for method in ("lr", "iw", "robust", "robust-view", "adv01", "robust01", "svm"):
            with self.subTest(method):
                for p in self.probabilities("--method", method, "--views", "each",
                                            "--lambda", "0.01", data=data):
                    self.assertAlmostEqual(sum(p.values()), 1, places=12)
                    self.assertTrue(all(0 <= v <= 1 for v in p.values()))

    def test_robust_is_undecided_where_only_the_target_is(self):
        data = self.write_rows("out.csv", self.header, [["40", "40", "0", "ash"]])
        (p,) = self.probabilities("--method", "robust", "--lambda", "0.001", data=data)
        self.assertTrue(all(abs(v - 1 / 3) < 0.05 for v in p.values()), p)
        (p,) = self.probabilities("--method", "lr", "--lambda", "0.001", data=data)
        self.assertGreater(max(p.values()), 0.9)


if __name__ == "__main__":
    unittest.main()
