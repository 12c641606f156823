"""The methods against an independent reference: numpy and scipy, straight from the definitions.

Everything is written anew from docs/equations.md: nothing is shared with the program but the data.
"""

import itertools
import unittest

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from program import ProgramTest, shifted_data

LAMBDA, RATIO_LAMBDA = 0.02, 0.05


def logistic_ratio(train, target, lam):
    """log P_te/P_tr: mean logistic loss of the pooled sample + lam ||u||^2, intercept free."""
    x = np.vstack([train, target])
    sign = np.r_[-np.ones(len(train)), np.ones(len(target))]

    def loss(u):
        margin = sign * (x @ u[:-1] + u[-1])
        value = np.logaddexp(0, -margin).mean() + lam * (u[:-1] ** 2).sum()
        pull = -sign / (1 + np.exp(margin)) / len(x)
        return value, np.r_[x.T @ pull + 2 * lam * u[:-1], pull.sum()]

    u = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B",
                 options={"maxiter": 10000, "ftol": 1e-16, "gtol": 1e-11}).x
    shift = np.log(len(train) / len(target))
    return lambda rows: rows @ u[:-1] + u[-1] + shift


def log_game(psi, y):
    """V(psi) - psi[y] and q, for rows of potentials."""
    value = logsumexp(psi, axis=1)
    return value - psi[np.arange(len(y)), y], np.exp(psi - value[:, None])


def smoothed(temperature, labels, pieces):
    """The largest of linear pieces (mean over a set of labels + offset), smoothed."""
    def game(psi, y):
        heights = np.stack([psi[:, list(s)].mean(1) + offset(s, y) for s, offset in pieces], 1)
        share = np.exp((heights - heights.max(1, keepdims=True)) / temperature)
        share /= share.sum(1, keepdims=True)
        value = temperature * logsumexp(heights / temperature, axis=1)
        q = np.zeros_like(psi)
        for j, (s, _) in enumerate(pieces):
            q[:, list(s)] += share[:, [j]] / len(s)
        return value - psi[np.arange(len(y)), y], q
    return game


def zero_one_pieces(labels):
    sets = [s for k in range(1, labels + 1) for s in itertools.combinations(range(labels), k)]
    return [(s, lambda s, y: (len(s) - 1) / len(s)) for s in sets]


def hinge_pieces(labels):
    return [((k,), lambda s, y: (y != s[0]).astype(float)) for k in range(labels)]


def train_weights(z, y, w, labels, games):
    """min 1/m sum w [V(psi) - psi[y]] + lambda ||T||^2, through ever sharper games."""
    t = np.zeros(z.shape[1] * labels)
    for game in games:
        def loss(flat):
            weights = flat.reshape(-1, labels)
            psi = z @ weights
            value, q = game(psi, y)
            residual = q.copy()
            residual[np.arange(len(y)), y] -= 1
            gradient = z.T @ (residual * w[:, None]) / len(y) + 2 * LAMBDA * weights
            return (w * value).mean() + LAMBDA * (flat**2).sum(), gradient.ravel()
        t = minimize(loss, t, jac=True, method="L-BFGS-B",
                     options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9}).x
    return t.reshape(-1, labels), loss(t)[0]


def zero_one_predictor(psi):
    best = np.full(len(psi), -np.inf)
    for s in itertools.chain.from_iterable(
        itertools.combinations(range(psi.shape[1]), k) for k in range(1, psi.shape[1] + 1)
    ):
        best = np.maximum(best, (psi[:, list(s)].sum(1) + len(s) - 1) / len(s))
    return np.maximum(0, 1 + psi - best[:, None])


class Reference(ProgramTest):
    def setUp(self):
        super().setUp()
        header, train, target = shifted_data(seed=11)
        self.train = self.write_rows("train.csv", header, train)
        self.target = self.write_rows("target.csv", header, target)
        names = sorted({r[3] for r in train})
        self.names = names
        self.x = np.array([[float(v) for v in r[:3]] for r in train])
        self.y = np.array([names.index(r[3]) for r in train])
        self.x_target = np.array([[float(v) for v in r[:3]] for r in target])
        self.joint = logistic_ratio(self.x, self.x_target, RATIO_LAMBDA)
        self.views = [
            logistic_ratio(self.x[:, [j]], self.x_target[:, [j]], RATIO_LAMBDA) for j in range(3)
        ]
        self.kl = [
            (-v(self.x[:, [j]])).mean() + v(self.x_target[:, [j]]).mean()
            for j, v in enumerate(self.views)
        ]

    def scaled(self, rows, assumption):
        """z: features and the constant 1, each under its scale r, which is bounded."""
        bounded = lambda log_ratio: np.minimum(np.exp(-log_ratio), len(self.x_target) ** (1 / 3))
        joint = bounded(self.joint(rows))[:, None]
        z = np.c_[rows, np.ones(len(rows))]
        if assumption == "test":
            return z
        scale = np.repeat(joint, 4, axis=1)
        if assumption == "views":
            for j in range(3):
                if self.kl[j] < 0.1:
                    scale[:, j] = bounded(self.views[j](rows[:, [j]]))
        return z * scale

    def weights(self):
        return np.minimum(np.exp(self.joint(self.x)), len(self.x) ** (1 / 3))

    def program(self, *flags):
        report = self.run_json(
            "fit", self.train, "--target", self.target, "--label", "y", "--scale", "none",
            "--lambda", LAMBDA, "--ratio-lambda", RATIO_LAMBDA, "--views", "each",
            "--tolerance", "1e-11", "-o", self.path("m.json"), *flags,
        )
        self.run_ok("predict", self.path("m.json"), self.target, "-o", self.path("p.csv"), "-q")
        rows = self.read_rows("p.csv")
        p = np.array([[float(r["p:" + n]) for n in self.names] for r in rows])
        log_ratio = np.array([float(r["log_ratio"]) for r in rows])
        return report, p, log_ratio

    def reference(self, weighted, assumption, games):
        w = self.weights() if weighted else np.ones(len(self.x))
        t, value = train_weights(self.scaled(self.x, assumption), self.y, w, len(self.names), games)
        return self.scaled(self.x_target, assumption) @ t, value

    def test_the_bound_beside_the_papers_lambda(self):
        out = self.run_json(
            "fit", self.train, "--target", self.target, "--label", "y", "--scale", "none", "--method", "robust",
            "--lambda", LAMBDA, "--ratio-lambda", "paper", "-o", self.path("m.json"),
        )["ratio"]["fit"]
        both = np.r_[self.x, self.x_target]
        widest, m, root = np.ptp(both, axis=0).max(), len(self.x), np.sqrt(np.log(1 / 0.05))
        self.assertAlmostEqual(out["lambda"] * np.sqrt(2 * m) / widest, 1 + (2 + np.sqrt(2)) * root)
        self.assertAlmostEqual(out["excess_per_norm"] * np.sqrt(m) / widest, np.sqrt(2) + 2 * (1 + np.sqrt(2)) * root)
        said = self.call("fit", self.train, "--target", self.target, "--label", "y", "--method", "robust",
                         "--ratio-lambda", "paper", "-o", self.path("m.json")).stdout
        self.assertIn("exceeds that of the best weights u by at most", said)

    def test_ratio_and_view_criterion(self):
        report, _, log_ratio = self.program("--method", "robust-view")
        np.testing.assert_allclose(log_ratio, self.joint(self.x_target), atol=1e-6)
        np.testing.assert_allclose([v["kl"] for v in report["views"]], self.kl, atol=1e-6)
        self.assertEqual([v["generalized"] for v in report["views"]], [k < 0.1 for k in self.kl])
        self.assertEqual([k < 0.1 for k in self.kl], [False, True, True])

    def test_log_loss_methods(self):
        for method, weighted, assumption in (
            ("lr", False, "test"), ("iw", True, "test"), ("robust", True, "train"),
            ("robust-view", True, "views"),
        ):
            with self.subTest(method):
                report, p, _ = self.program("--method", method)
                psi, value = self.reference(weighted, assumption, [log_game])
                expected = np.exp(psi - logsumexp(psi, axis=1)[:, None])
                np.testing.assert_allclose(p, expected, atol=1e-5)
                self.assertAlmostEqual(report["objective"], value, places=8)

    def test_zero_one_methods(self):
        k = len(self.names)
        games = [smoothed(10.0**-e, k, zero_one_pieces(k)) for e in (1, 2, 3, 4)]
        for method, weighted, assumption in (
            ("adv01", False, "test"), ("robust01", True, "train"), ("robust01-view", True, "views"),
        ):
            with self.subTest(method):
                report, p, _ = self.program("--method", method)
                psi, value = self.reference(weighted, assumption, games)
                self.assertAlmostEqual(report["objective"], value, delta=3e-4)
                np.testing.assert_allclose(p, zero_one_predictor(psi), atol=0.02)

    def test_hinge_methods(self):
        k = len(self.names)
        games = [smoothed(10.0**-e, k, hinge_pieces(k)) for e in (1, 2, 3, 4)]
        for method, weighted in (("svm", False), ("iw-svm", True)):
            with self.subTest(method):
                report, p, _ = self.program("--method", method)
                psi, value = self.reference(weighted, "test", games)
                self.assertAlmostEqual(report["objective"], value, delta=3e-4)
                clear = np.sort(psi, 1)[:, -1] - np.sort(psi, 1)[:, -2] > 0.02
                np.testing.assert_array_equal(p.argmax(1)[clear], psi.argmax(1)[clear])

    def test_target_value_of_the_certificate(self):
        report, _, _ = self.program("--method", "robust")
        w = self.weights()
        z = self.scaled(self.x, "train")
        t, _ = train_weights(z, self.y, w, len(self.names), [log_game])
        psi_target = self.scaled(self.x_target, "train") @ t
        own = (z @ t)[np.arange(len(self.y)), self.y]
        value = logsumexp(psi_target, axis=1).mean() - (w * own).mean() + LAMBDA * (t**2).sum()
        self.assertAlmostEqual(report["certificate"]["target_value"], value, places=5)
        p = np.exp(psi_target - logsumexp(psi_target, axis=1)[:, None])
        entropy = -(p * np.log(p)).sum(1).mean()
        self.assertAlmostEqual(report["certificate"]["target_risk"], entropy, places=5)


if __name__ == "__main__":
    unittest.main()
