"""What Python adds to the library: microseconds of a call on one row, and bytes that are copied.

    make bench-python
"""

import resource
import time

import numpy as np

import covshift
from covshift import _core


def microseconds(call, repeats=200, times=200):
    """The fastest of some means: what a call takes when nothing disturbs it."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - begin) / times)
    return 1e6 * best


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20))
    y = (X[:, 0] > 0).astype(int)
    row = X[:1].copy()
    data = _core.dense(row)
    print("one row of 20 features, 2 classes          core   Python adds   (microseconds)")
    for scale in ("none", "unit"):
        model = covshift.robust(lam=0.01, ratio_lam=0.01, scale=scale).fit(X, y, X[:200] + 0.3)
        for name, core in (("predict", "predict"), ("predict_proba", "probabilities"),
                           ("decision_function", "potentials"), ("log_ratio", "log_ratio")):
            own = microseconds(lambda: getattr(model._model, core)(data, 1))
            whole = microseconds(lambda: getattr(model, name)(row))
            print(f"  {name:<18} scale={scale:<6} {own:18.2f} {whole - own:13.2f}")

    X = np.zeros((200_000, 200))
    for first in range(0, len(X), 10_000):
        X[first : first + 10_000] = rng.normal(size=(10_000, 200))
    y = (X[:, 0] > 0).astype(int)
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # noqa: E731
    model = covshift.lr(lam=0.1).fit(X[:500], y[:500])
    print(f"\na matrix of {X.nbytes / 2**20:.0f} MiB: growth of the largest memory in use (MiB)")
    for name, call in (
        ("predict_proba, scale=unit", lambda: model.predict_proba(X)),
        ("fit, scale=none", lambda: covshift.lr(lam=0.1, scale="none").fit(X, y)),
        ("fit, scale=unit", lambda: covshift.lr(lam=0.1).fit(X, y)),
    ):
        before = peak()
        begin = time.perf_counter()
        call()
        print(f"  {name:<28} {peak() - before:8.0f}   in {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
