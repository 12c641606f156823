"""Threads, signals, forks, and other libraries in the same process."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import joblib
import multiprocessing
import numpy as np
import pytest

import covshift


def run(code, timeout=120):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_the_module_is_hardened():
    from covshift import _core

    def readelf(*flags):
        return subprocess.run(["readelf", "-W", *flags, _core.__file__], capture_output=True, text=True, check=True).stdout

    assert "GNU_RELRO" in readelf("-l")
    stack = [line for line in readelf("-l").splitlines() if "GNU_STACK" in line]
    assert "E" not in stack[0].split()[-2], "the stack is executable"
    assert "NOW" in readelf("-d")
    symbols = readelf("--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert "__memcpy_chk" in symbols


def test_import_starts_no_threads():
    out = run(
        "import os, numpy, scipy, sklearn.utils.estimator_checks\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "import covshift, covshift.plot\n"
        "print(before, len(os.listdir('/proc/self/task')))\n"
    )
    before, after = out.split()
    assert before == after


def test_no_thread_is_left_behind(shifted):
    X, y, X_target, _ = shifted
    count = lambda: len(os.listdir("/proc/self/task"))  # noqa: E731
    before = count()
    covshift.RobustClassifier(threads=4).fit(X, y, X_target)
    covshift.KMM(threads=4).fit(X, X_target)
    assert count() == before


def large(rows=20000):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 20))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_results(threads):
    X, y = large(6000)
    model = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01, threads=threads)
    p = model.fit(X, y, X[:3000] + 0.3).predict_proba(X)
    reference = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01, threads=1)
    np.testing.assert_array_equal(p, reference.fit(X, y, X[:3000] + 0.3).predict_proba(X))


def test_together_with_openmp():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = large(4000)
    expected = covshift.lr(lam=0.01, threads=2).fit(X, y).predict_proba(X)
    for _ in range(2):
        boosting = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
        model = covshift.lr(lam=0.01, threads=2).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        assert boosting.score(X, y) > 0.6


FORK = """
import os, signal, sys
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
import covshift
rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 10))
y = (X[:, 0] > 0).astype(int)
fit = lambda: covshift.robust(lam=0.01, ratio_lam=0.01, threads=2).fit(X, y, X[:4000] + 0.2)
expected = fit().predict_proba(X)
HistGradientBoostingClassifier(max_iter=2).fit(X, y)   # the parent has used OpenMP too
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if np.array_equal(fit().predict_proba(X), expected) else 3)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert np.array_equal(fit().predict_proba(X), expected)
"""


def test_survives_fork():
    run(FORK)


def fit_part(seed):
    X, y = large(3000)
    model = covshift.robust(lam=0.01, ratio_lam=0.01, threads=2).fit(X, y, X[seed::3] + 0.3)
    return model.predict_proba(X[:50])


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    parts = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit_part)(s) for s in range(3))
    for seed, part in enumerate(parts):
        np.testing.assert_array_equal(part, fit_part(seed))


def test_multiprocessing_fork():
    expected = fit_part(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for part in pool.map(fit_part, [0, 0]):
            np.testing.assert_array_equal(part, expected)


INTERRUPT = """
import sys, numpy as np, covshift
rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 30))
y = rng.integers(0, 4, size={rows})
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(0)
print("finished")
sys.exit(4)
"""


@pytest.mark.parametrize(
    "rows, call",
    [
        (4000, "covshift.robust01(threads=2, folds=20, ratio_lam=0.1, tol=1e-12,"
               " lams=[10.0**-k for k in range(1, 60)]).fit(X, y, X[:500] + 1)"),
        (4000, "covshift.robust01(threads=2, folds=20, ratio_lam=0.1, tol=1e-12, progress=lambda *_: None,"
               " lams=[10.0**-k for k in range(1, 60)]).fit(X, y, X[:500] + 1)"),
        (4000, "covshift.KMM(threads=2, kernel_width=1.0, lam=1e-6).fit(X[:, :5], X[:2000, :5] + 0.2)"),
        (4000, "covshift.diagnose(X, X[:2000] + 0.1, permutations=1000000, threads=2)"),
        (4000, "covshift.compare(X, y, X[:2000] + 0.1, threads=2)"),
    ],
    ids=["selection", "with progress", "ratio", "diagnose", "compare"],
)
def test_ctrl_c_stops(rows, call):
    code = INTERRUPT.format(rows=rows, call=call)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        assert process.poll() is None, "it was over before it could be stopped"
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\n")
    assert time.monotonic() - start < 20


def test_other_threads_run_during_a_fit():
    """During a fit of at least a quarter of a second, another thread is never blocked for half of it. The number
    of rows adapts to the machine."""
    for rows in (20000 * 4**k for k in range(5)):
        X, y = large(rows)
        ticks = []
        stop = threading.Event()

        def clock():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.002)

        thread = threading.Thread(target=clock)
        thread.start()
        begin = time.perf_counter()
        covshift.robust(ratio_lam=0.01, lams=[0.1, 0.01]).fit(X, y, X[:5000] + 0.3)
        end = time.perf_counter()
        stop.set()
        thread.join()
        if end - begin > 0.25:
            break
    inside = [t for t in ticks if begin < t < end]
    assert np.max(np.diff([begin, *inside, end])) < 0.5 * (end - begin)


def test_progress(shifted, capfd):
    X, y, X_target, _ = shifted
    seen = []

    def watch(stage, share):
        assert threading.current_thread() is threading.main_thread()
        seen.append((stage, share))

    # The main thread may miss a short stage. The choice comes before the fits it chose.
    stages = ["density ratio", "selection", "training", "held-out rows"]
    covshift.RobustClassifier(progress=watch).fit(X, y, X_target)
    places = [stages.index(stage) // 2 for stage, _ in seen]
    assert places == sorted(places) and all(0 <= share <= 1 for _, share in seen)
    seen.clear()
    rows = np.random.default_rng(0).normal(size=(20_000, 5))
    long = covshift.RobustClassifier("zero-one", generalize="train", lam=1e-6, progress=watch)
    long.fit(rows[:, 1:], rows[:, 0] + rows[:, 1] > 0, rows[:5_000, 1:] + 0.5)
    assert "training" in dict(seen)
    for call in (lambda: covshift.RobustClassifier(progress=True).fit(X, y, X_target),
                 lambda: covshift.diagnose(X, X_target, progress=True)):
        call()
        line = capfd.readouterr().err
        assert "%" in line and line.endswith("\r\x1b[K")  # shown, then erased

    def fail(stage, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        covshift.RobustClassifier(progress=fail).fit(X, y, X_target)


def test_predicting_one_row_has_little_overhead(shifted):
    import gc

    from covshift import _core

    X, y, X_target, _ = shifted
    model = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01).fit(X, y, X_target)
    row = X[:1].copy()
    data = _core.dense(row)

    def fastest(call):
        best = np.inf
        for _ in range(30):
            begin = time.perf_counter()
            for _ in range(50):
                call()
            best = min(best, (time.perf_counter() - begin) / 50)
        return best

    gc.disable()
    core = fastest(lambda: model._model.probabilities(data, 1))
    for call in (model.predict_proba, model.predict, model.decision_function, model.log_ratio):
        assert fastest(lambda: call(row)) - core < 50e-6
    gc.enable()
