"""The harness's own objective against closed forms, covshift's certificate and the peers' optima."""

import unittest
import warnings

import numpy as np
import scipy.sparse as sp

import covshift
from peers import methods
from peers.objective import LOSSES, objective, one_vector
from peers.workloads import Data


def example(classes, rows=200, cols=6, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, cols))
    scores = X @ rng.normal(size=(cols, classes)) + 2 * rng.normal(size=(rows, classes))
    return Data("test", X, scores.argmax(axis=1), classes)


class Objective(unittest.TestCase):
    def test_closed_forms(self):
        y = np.array([0, 1])
        psi = np.array([[2.0, 1.0, -1.0], [0.5, 0.25, -4.0]])
        e = np.exp(psi)
        np.testing.assert_allclose(
            LOSSES["log"](psi, y), np.log(e.sum(1)) - [2, 0.25], rtol=1e-14
        )
        # Margins 1 and -0.25: none lost, 1.25 lost.
        np.testing.assert_allclose(LOSSES["hinge"](psi, y), [0, 1.25], atol=1e-15)
        # Top sets {0} or {0, 1}, and {0, 1}: max(2, (3 + 1) / 2) - 2 and (0.75 + 1) / 2 - 0.25.
        np.testing.assert_allclose(LOSSES["zero-one"](psi, y), [0, 0.625], atol=1e-15)

    def test_no_weights(self):
        data = example(4)
        T = np.zeros((6, 4))
        for loss, value in (("log", np.log(4)), ("hinge", 1), ("zero-one", 0.75)):
            self.assertAlmostEqual(objective(loss, data.X, data.y, T, 1), value, 14)

    def test_penalty_and_sparse_rows(self):
        data = example(3)
        T = np.random.default_rng(0).normal(size=(6, 3))
        for loss in LOSSES:
            without = objective(loss, data.X, data.y, T, 0)
            self.assertAlmostEqual(
                objective(loss, data.X, data.y, T, 0.25), without + 0.25 * np.sum(T**2), 12
            )
            self.assertAlmostEqual(
                objective(loss, sp.csr_matrix(data.X), data.y, T, 0), without, 12
            )

    def test_certificate_of_covshift(self):
        for classes in (2, 4):
            data = example(classes)
            for loss in LOSSES:
                model = covshift.RobustClassifier(
                    loss=loss, generalize="none", lam=0.01, scale="none", bias="none"
                ).fit(data.X, data.y)
                own = objective(loss, data.X, data.y, model.coef_scaled_.T, 0.01)
                self.assertAlmostEqual(own, model.certificate_.game_value, 9)

    def test_one_vector_is_logistic_regression(self):
        data = example(2)
        w = np.random.default_rng(1).normal(size=6)
        margin = (2 * data.y - 1) * (data.X @ w)
        direct = np.mean(np.log1p(np.exp(-margin))) + 0.1 / 2 * w @ w
        self.assertAlmostEqual(
            objective("log", data.X, data.y, one_vector(w), 0.1), direct, 12
        )
        flipped = one_vector(w, positive=0)
        np.testing.assert_array_equal(flipped[:, 0], w / 2)

    def test_peers_have_the_same_optimum(self):
        """A wrong C, sign or layout of weights would leave a peer above covshift's optimum."""
        lam = 0.003
        for classes in (2, 4):
            data = example(classes)
            for loss in ("log", "hinge"):
                ours = methods.make("covshift").fit(data, loss, lam, 1e-10, threads=1)
                best = objective(loss, data.X, data.y, ours.weights(), lam)
                for name, method in methods.METHODS.items():
                    peer = methods.make(name)
                    if peer.refusal(data, loss) or name.startswith("covshift"):
                        continue
                    with self.subTest(classes=classes, loss=loss, peer=name):
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            peer.prepare(data)
                            peer.fit(data, loss, lam, method.ladder[-1], threads=1)
                        value = objective(loss, data.X, data.y, peer.weights(), lam)
                        self.assertLess(value - best, 1e-4 * best)
                        self.assertGreater(value - best, -1e-9)


if __name__ == "__main__":
    unittest.main()
