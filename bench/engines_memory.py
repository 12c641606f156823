"""A CSV file larger than memory: fitted, certified and predicted under a limit, beside the same without a limit (all rows stay in
memory, so passes can be compared), the ordinary fit, and SGD.

    python3 bench/engines_memory.py build/covshift --gigabytes 6 --memory 1G --limit 2G [--folder /tmp]

Needs numpy, and pandas and scikit-learn for SGDClassifier.partial_fit on the same stream. The files are made in a temporary folder and
deleted. The limit is that of a control group (memory and page cache together; version 2 or 1) if one can be made, else of private memory
(RLIMIT_DATA); the table says which. Times are wall-clock seconds and processor seconds, with the load average beside them.
"""

import argparse
import contextlib
import errno
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

COLUMNS = 50
DIGITS = 15
LAMBDA = 1e-4


def write_csv(path, size, shift, seed):
    """Rows of numbers 0.ddd, made from digits: faster than formatting numbers. Returns their number."""
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(0).normal(size=COLUMNS)
    width = COLUMNS * (DIGITS + 3) + 2
    block = 20_000
    total = 0
    with open(path, "wb") as file:
        file.write((",".join(f"x{k}" for k in range(COLUMNS)) + ",y\n").encode())
        while file.tell() < size:
            digits = rng.integers(0, 10, size=(block, COLUMNS, DIGITS), dtype=np.uint8)
            # Where the target is, first digits are larger.
            digits[:, :, 0] = np.maximum(digits[:, :, 0], rng.integers(0, 10 if shift else 1, size=(block, COLUMNS)))
            x = digits[:, :, 0] / 10 + digits[:, :, 1] / 100 + digits[:, :, 2] / 1000
            label = (x - 0.5) @ weights + rng.logistic(0, 0.5, size=block) > 0
            text = np.empty((block, width), dtype=np.uint8)
            fields = text[:, :-2].reshape(block, COLUMNS, DIGITS + 3)
            fields[:, :, 0] = ord("0")
            fields[:, :, 1] = ord(".")
            fields[:, :, 2:-1] = digits + ord("0")
            fields[:, :, -1] = ord(",")
            text[:, -2] = label + ord("0")
            text[:, -1] = ord("\n")
            file.write(text.tobytes())
            total += block
    return total


def bytes_of(text):
    return int(text[:-1]) << {"M": 20, "G": 30}[text[-1]]


def remove_group(group, seconds=10):
    """Removes a control group, which is busy until the kernel has seen its last process end."""
    end = time.monotonic() + seconds
    while True:
        try:
            return os.rmdir(group)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def limited(limit):
    """How to start a process under the limit, the name of the limit, and a function for the peak."""
    for root, most, peak in (
        ("/sys/fs/cgroup", "memory.max", "memory.peak"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
    ):
        group = os.path.join(root, f"covshift-bench-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open(os.path.join(group, most), "r+", encoding="ascii") as file:  # made by the kernel, or this is no group
                file.write(str(limit))
        except OSError:
            remove_group(group)
            continue

        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os.getpid()))

        def read_peak():
            with open(os.path.join(group, peak), encoding="ascii") as file:
                return int(file.read())

        try:
            yield enter, f"control group, {most}", read_peak
        finally:
            remove_group(group)
        return
    yield (lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))), "RLIMIT_DATA", lambda: 0


def run(arguments, enter=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(arguments, preexec_fn=enter, capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} (exit code {done.returncode}): {done.stderr.strip()}")
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fitted(arguments, title, enter=None, peak=None):
    """The report of a fit over parts, with the seconds of a pass."""
    out, wall, cpu = run(arguments, enter)
    report = json.loads(out)
    engine = report["engine"]
    report["pass"] = engine["fit_seconds"] / engine["passes"]
    print(f"{title}: {wall:.1f} s, {cpu:.1f} s of processors{f', peak {peak() / 1e9:.2f} GB' if peak else ''}; {engine['passes']} passes in "
          f"{engine['fit_seconds']:.1f} s, {report['pass']:.3f} s each, after {engine['sample_seconds']:.1f} s for the sample; {report['status']}, "
          f"objective {report['objective']:.6f}, gap {report['gap']:.2g}; {report['memory']}; load {os.getloadavg()[0]:.1f}", flush=True)
    return report


def sgd(path, objective, epochs):
    """Passes and seconds until the objective is within 0.1% of covshift's; None if it never is."""

    def chunks():
        for frame in pd.read_csv(path, chunksize=100_000):
            yield frame.iloc[:, :-1].to_numpy(), frame["y"].to_numpy()

    start = time.process_time()
    scaler = StandardScaler()
    for x, _ in chunks():
        scaler.partial_fit(x)
    # lambda ||T||^2 with T_1 = -T_0 = w/2 is lambda/2 ||w||^2: alpha is lambda.
    model = SGDClassifier(loss="log_loss", alpha=LAMBDA, random_state=0)
    best = np.inf
    for epoch in range(1, epochs + 1):
        for x, y in chunks():
            model.partial_fit(scaler.transform(x), y, classes=[0, 1])
        loss = rows = 0
        for x, y in chunks():
            z = model.decision_function(scaler.transform(x)) * (2 * y - 1)
            loss += np.logaddexp(0, -z).sum()
            rows += len(y)
        value = loss / rows + LAMBDA / 2 * float((model.coef_**2).sum() + model.intercept_[0] ** 2)
        best = min(best, value)
        print(f"  SGD, epoch {epoch}: objective {value:.6f} (covshift {objective:.6f}), {time.process_time() - start:.0f} s")
        if best <= objective * 1.001:
            return epoch
    return None


def ordinary(arguments, method):
    """The fit to the file as a whole, which needs the memory for it; False if it fails."""
    try:
        out, wall, cpu = run(arguments)
    except RuntimeError as error:
        print(f"{method}, the ordinary fit to the file as a whole, FAILED: {error}", flush=True)
        return False
    print(f"{method}, the ordinary fit to the file as a whole: {wall:.1f} s, {cpu:.1f} s of processors; the fit "
          f"{json.loads(out)['seconds']:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
    return True


def compare(flags, folder):
    """Everything, in order; False if an ordinary fit failed."""
    train, target, model = (os.path.join(folder, name) for name in ("train.csv", "new.csv", "model.json"))
    rows = write_csv(train, flags.gigabytes * 1e9, False, 1)
    write_csv(target, flags.gigabytes * 1e8, True, 2)
    print(f"{os.path.getsize(train) / 1e9:.2f} GB, {rows} rows; load {os.getloadavg()[0]:.1f}")
    fit = [flags.program, "fit", train, "--label", "y", "--lambda", str(LAMBDA), "--threads", flags.threads, "--json", "-o", model]
    common = ["--memory", flags.memory, "--cache-dir", folder]
    methods = {"lr": [], "robust": ["--target", target, "--ratio-lambda", str(LAMBDA)]}
    methods = {name: methods[name] for name in flags.methods.split(",")}
    reports = {}
    for method, more in methods.items():
        with limited(bytes_of(flags.limit)) as (enter, name, peak):
            reports[method] = fitted([*fit, "--method", method, *more, *common], f"{method} under {flags.limit} ({name})", enter, peak)
        if len(reports) == 1:
            with limited(bytes_of(flags.limit)) as (enter, name, peak):
                _, wall, cpu = run([flags.program, "predict", model, train, "-o", os.path.join(folder, "p.csv"), *common], enter)
                print(f"predict under {flags.limit}: {wall:.1f} s, {cpu:.1f} s of processors, peak {peak() / 1e9:.2f} GB", flush=True)
    for method, more in methods.items():
        free = fitted([*fit, "--method", method, *more, *common], f"{method} without a limit")
        times = reports[method]["pass"] / free["pass"]
        print(f"{method}: a pass under the limit takes {times:.2f} times as long as with all rows in memory", flush=True)
    went_well = [ordinary([*fit, "--method", method, *more], method) for method, more in methods.items()]
    if flags.epochs > 0 and "lr" not in reports:
        print("SGDClassifier.partial_fit was not run: it is compared with lr, which --methods leaves out")
    elif flags.epochs > 0:
        reached = sgd(train, reports["lr"]["objective"], flags.epochs)
        print(f"SGDClassifier.partial_fit: {'the same objective to 0.1% after ' + str(reached) + ' epochs' if reached else 'not within 0.1%'}")
    return all(went_well)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--gigabytes", type=float, default=6)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--limit", default="2G")
    parser.add_argument("--folder")
    parser.add_argument("--epochs", type=int, default=10, help="of SGD; 0: none")
    parser.add_argument("--threads", default="0")
    parser.add_argument("--methods", default="lr,robust", help="of lr and robust; SGD is compared with lr")
    flags = parser.parse_args()
    if not set(flags.methods.split(",")) <= {"lr", "robust"}:
        parser.error(f"--methods must be lr, robust or both, not {flags.methods}")
    with tempfile.TemporaryDirectory(dir=flags.folder, prefix="covshift-bench-") as folder:
        try:
            went_well = compare(flags, folder)
        except RuntimeError as error:
            sys.exit(str(error))
    sys.exit(0 if went_well else 1)


if __name__ == "__main__":
    main()
