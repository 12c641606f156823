"""Kernel features beside scikit-learn's transformers in a pipeline with logistic regression.

    build/python/venv/bin/python bench/python/features.py [ROWS COLUMNS FEATURES]

Both stop where the objective hardly changes (scikit-learn at its default tolerance and at most 1,000 iterations, covshift
at a duality gap of 1e-4), on one thread, at a regularisation that means the same. Prints the CPU time of a fit (the
smallest of three runs, by turns) and the held-out log loss in bits.
"""

import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import covshift  # noqa: E402


def data(rows: int, columns: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * rows, columns))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    y = (score + 0.5 * rng.logistic(size=2 * rows) > 0).astype(int)
    return X[:rows], y[:rows], X[rows:], y[rows:]


def main() -> None:
    rows, columns, features = (int(a) for a in sys.argv[1:4]) if len(sys.argv) > 3 else (20_000, 20, 500)
    X, y, X_test, y_test = data(rows, columns)
    width = np.sqrt(2 * columns)
    gamma = 1 / (2 * width**2)
    print(f"{rows:,} x {columns}, {features} features; load average {os.getloadavg()[0]:.1f}")
    for name, transformer in (
        ("nystroem", Nystroem(gamma=gamma, n_components=features, random_state=0)),
        ("fourier", RBFSampler(gamma=gamma, n_components=features, random_state=0)),
    ):
        spread = np.sqrt(transformer.fit_transform(StandardScaler().fit_transform(X[:4000])).var(axis=0).sum())
        # lambda ||T||^2 on features scaled to variance `columns` is lambda spread^2 / columns there; with two classes
        # T = (-w/2, w/2), so lambda ||T||^2 = lambda/2 ||w||^2, and scikit-learn has 1/(2 C m) ||w||^2.
        lam = 1e-5
        C = 1 / (rows * lam * spread**2 / columns)
        contestants = {
            "scikit-learn": make_pipeline(
                StandardScaler(), transformer, LogisticRegression(C=C, max_iter=1000)
            ),
            "covshift": covshift.RobustClassifier(
                features=f"{name}:{features}:{width}", lam=lam, tol=1e-4, threads=1
            ),
        }
        best = dict.fromkeys(contestants, np.inf)
        for _ in range(3):
            for who, model in contestants.items():
                begin = time.process_time()
                model.fit(X, y)
                best[who] = min(best[who], time.process_time() - begin)
        for who, model in contestants.items():
            bits = log_loss(y_test, model.predict_proba(X_test)) / np.log(2)
            print(f"{name:9} {who:13} {best[who]:7.2f} s CPU   {bits:.4f} bits")
        print(f"{name:9} ratio {best['scikit-learn'] / best['covshift']:.1f}")


if __name__ == "__main__":
    main()
