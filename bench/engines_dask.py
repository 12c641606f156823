"""Fits on Dask: 2 workers against 1, the overhead of a pass, memory of a worker, and dask-ml beside it.

    python bench/engines_dask.py [--rows 4000000] [--columns 50] [--parts 8] [PART ...]

PART: speed, overhead, memory, peer; all without. Needs covshift[dask] and, for peer, dask-ml. Workers have one
thread each. Lambda and the ratio's lambda are given: one worker would choose them, on a sample, while the others wait.
Prints Markdown.
"""

import argparse
import contextlib
import os
import sys
import time
import warnings

import dask
import dask.array as da
import distributed
import numpy as np

import covshift.dask

warnings.filterwarnings("ignore")
LAM = 1e-6
ROBUST = {"generalize": "train", "ratio_lam": 1e-4}


def rows(n, d, parts, mean, seed):
    chunk = -(-n // parts)
    return da.random.default_rng(seed).normal(mean, 1, size=(n, d), chunks=(chunk, d))


def problem(n, d, parts):
    """X, y and X_target (a tenth of the rows), made on the workers."""
    X = rows(n, d, parts, 0.0, 0)
    w = np.random.default_rng(1).normal(size=d) / np.sqrt(d)
    noise = da.random.default_rng(2).logistic(size=n, chunks=X.chunks[0])
    return X, (X @ w + noise > 0).astype(np.int64), rows(n // 10, d, parts, 0.1, 3)


@contextlib.contextmanager
def cluster(workers):
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0, silence_logs=40
    ) as local, distributed.Client(local) as client:
        client.run(limit_threads)
        yield client


def limit_threads():
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def used():
    return sum(os.times()[:2])


def fit(client, data, **options):
    """Seconds, processor seconds of all workers, and the model."""
    begin, before = time.perf_counter(), sum(client.run(used).values())
    model = covshift.dask.RobustClassifier(client=client, scale="none", **options).fit(*data)
    return time.perf_counter() - begin, sum(client.run(used).values()) - before, model


def speed(n, d, parts):
    """The fit is a sample's, at one worker, and then that of all rows, which workers share."""
    print(f"\n### {n:,} x {d}, {parts} + {parts} partitions, persisted, one thread a worker\n")
    print("| fit | workers | seconds | speed | of the sample | of all rows | speed | processor seconds | passes | objective |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, options in (("lr", {"generalize": "none"}), ("robust", ROBUST)):
        first = None
        for workers in (1, 2):
            with cluster(workers) as client:
                X, y, X_target = client.persist(problem(n, d, parts))
                distributed.wait([X, y, X_target])
                data = (X, y) if name == "lr" else (X, y, X_target)
                taken, busy, model = fit(client, data, lam=LAM, **options)
                told = model.parts_
                first = first or (taken, told["fit_seconds"])
                print(f"| {name} | {workers} | {taken:.1f} | {first[0] / taken:.2f}x | {told['sample_seconds']:.1f} | "
                      f"{told['fit_seconds']:.1f} | {first[1] / told['fit_seconds']:.2f}x | {busy:.1f} | {told['passes']} "
                      f"| {model.report_['objective']:.9f} |", flush=True)
                del X, y, X_target


def overhead(n, d, parts):
    print("\n### Overhead: 2,000 x 5, 2 workers\n")
    print("| partitions | seconds | steps | milliseconds a step |\n|---|---|---|---|")
    from covshift import _parts

    finish, steps = _parts.Fit.run, []

    def counted(self, progress):
        found = finish(self, progress)
        steps.append(len(self._totals) + 1)
        return found

    _parts.Fit.run = counted
    with cluster(2) as client:
        for count in (2, 8, 32):
            data = client.persist(problem(2000, 5, count))
            distributed.wait(data)
            fit(client, data, lam=LAM, **ROBUST)
            taken, _, _ = fit(client, data, lam=LAM, **ROBUST)
            print(f"| {2 * count} | {taken:.2f} | {steps[-1]} | {1000 * taken / steps[-1]:.1f} |", flush=True)
    _parts.Fit.run = finish


def resident():
    with open("/proc/self/status") as status:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in status if line.startswith("Vm")}


def forget_peak():
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


def memory(n, d, parts):
    print(f"\n### Memory of a worker: {n:,} x {d}, 2 workers, {parts} + {parts} partitions, read when they are needed\n")
    print("| scale | worker | its rows, MB | before, MB | peak, MB | (peak - before) / rows |\n|---|---|---|---|---|---|")
    for scale in ("standard", "none"):
        with cluster(2) as client:
            X, y, X_target = problem(n, d, parts)
            fit(client, problem(2000, 5, 2), lam=LAM, **ROBUST)  # libraries are loaded
            before = {k: v["VmRSS"] for k, v in client.run(resident).items()}
            client.run(forget_peak)
            model = covshift.dask.RobustClassifier(lam=LAM, scale=scale, client=client, **ROBUST)
            model.fit(X, y, X_target)
            part = (X.nbytes + X_target.nbytes) / 2
            for i, (address, now) in enumerate(client.run(resident).items()):
                peak = now["VmHWM"]
                print(f"| {scale} | {i + 1} | {part / 1e6:.0f} | {before[address] / 1e6:.0f} | {peak / 1e6:.0f} "
                      f"| {(peak - before[address]) / part:.2f} |", flush=True)


def objective(X, y, w, lam, n):
    """Of two-class logistic regression, with the intercept last in w and penalised."""
    margin = (2 * y - 1) * (X @ w[:-1] + w[-1])
    loss = da.where(margin > 0, da.log1p(da.exp(-margin)), -margin + da.log1p(da.exp(margin))).sum()
    return float(loss.compute()) / n + lam / 2 * float(w @ w)


def peer(n, d, parts):
    try:
        from dask_ml.linear_model import LogisticRegression
    except ImportError as error:
        print(f"\n### Beside dask-ml: left out, since it is missing ({error}); pip install dask-ml")
        return
    print(f"\n### Beside dask-ml: two classes, {n:,} x {d}, 2 workers, lambda {LAM:g}\n")
    print("| who | seconds | objective | above the best |\n|---|---|---|---|")
    with cluster(2) as client:
        X, y, _ = client.persist(problem(n, d, parts))
        distributed.wait([X, y])
        found = []

        def add(who, taken, w):
            found.append((who, taken, objective(X, y, w, LAM, n)))

        taken, _, model = fit(client, (X, y), generalize="none", lam=LAM, features="linear")
        add("covshift.dask", taken, np.append(model.coef_[0], model.intercept_[0]))
        for solver in ("lbfgs", "newton", "admm"):
            for iterations in (5, 20, 100):
                theirs = LogisticRegression(C=1 / (n * LAM), solver=solver, max_iter=iterations, tol=1e-8)
                begin = time.perf_counter()
                try:
                    theirs.fit(X, y)
                except Exception as error:  # noqa: BLE001: a peer that fails is a result
                    print(f"| dask-ml {solver} | failed: {type(error).__name__}: {str(error)[:80]} | | |")
                    break
                taken = time.perf_counter() - begin
                w = np.append(np.ravel(theirs.coef_), np.ravel(theirs.intercept_)[0])
                add(f"dask-ml {solver}, at most {iterations} iterations", taken, w)
                if taken > 60:
                    break
        best = min(value for _, _, value in found)
        for who, taken, value in found:
            print(f"| {who} | {taken:.1f} | {value:.12f} | {value - best:.1e} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("parts_to_run", nargs="*")
    given = parser.parse_args()
    dask.config.set({"distributed.comm.timeouts.connect": "60s"})
    print(f"dask {dask.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {sys.argv[1:]}")
    for part in given.parts_to_run or ("speed", "overhead", "memory", "peer"):
        globals()[part](given.rows, given.columns, given.parts)
