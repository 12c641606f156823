"""Whole default fits by two builds of the program, taking turns: python3 bench/whole_fits.py BEFORE AFTER [SHAPE...]

BEFORE and AFTER are two covshift programs. Each shape is fitted with a target and default options; a run's time is from
starting the program to its exit, files read and the model written. Times are the least of several runs, since the
machine may be shared; the load average is printed beside each shape.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SHAPES = {  # rows, target rows, columns, entries a row (None: dense), classes, runs
    "100x57": (100, 100, 57, None, 4, 15),
    "5000x50": (5_000, 5_000, 50, None, 3, 5),
    "100000x50": (100_000, 100_000, 50, None, 2, 3),
    "1200x400": (1_200, 1_500, 400, None, 2, 3),
    "200000x50000": (200_000, 50_000, 50_000, 20, 2, 1),
}


def dense(path: Path, rng, rows: int, cols: int, classes: int, shift: float) -> None:
    x = rng.standard_normal((rows, cols))
    x[:, : cols // 4] += shift
    truth = np.random.default_rng(7).standard_normal((cols, classes)) / np.sqrt(cols)
    y = np.argmax(2 * x @ truth + rng.gumbel(size=(rows, classes)), axis=1)
    header = ",".join([f"x{j}" for j in range(cols)] + ["y"])
    table = np.column_stack([x, y])
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt=["%.7g"] * cols + ["%d"])


def sparse(path: Path, rng, rows: int, cols: int, entries: int, shift: float) -> None:
    truth = np.random.default_rng(7).standard_normal(cols)
    with path.open("w") as out:
        for _ in range(rows):
            at = np.unique((cols * rng.random(entries) ** (3 - shift)).astype(int))
            y = int(rng.random() < 1 / (1 + np.exp(-truth[at].sum())))
            out.write(f"{y} " + " ".join(f"{j + 1}:1" for j in at) + "\n")


def make(folder: Path, name: str) -> tuple[list[str], int]:
    rows, target_rows, cols, entries, classes, runs = SHAPES[name]
    rng = np.random.default_rng(1)
    ending = "csv" if entries is None else "svm"
    train, target = folder / f"{name}.{ending}", folder / f"{name}-target.{ending}"
    if not target.exists():
        for path, n, shift in ((train, rows, 0.0), (target, target_rows, 0.3)):
            if entries is None:
                dense(path, rng, n, cols, classes, shift)
            else:
                sparse(path, rng, n, cols, entries, shift)
    return [str(train), "--target", str(target), *(["--label", "y"] if entries is None else [])], runs


def run(program: str, arguments: list[str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run([program, "fit", *arguments, "--json", "-o", folder + "/model.json"],
                              capture_output=True, text=True, check=True)
        return time.perf_counter() - begin, json.loads(done.stdout)["seconds"]


def main() -> None:
    before, after, *names = sys.argv[1:]
    folder = Path("build/whole-fits")
    folder.mkdir(parents=True, exist_ok=True)
    print("shape            before s   after s   ratio   (fit alone: before, after)   load")
    for name in names or SHAPES:
        arguments, runs = make(folder, name)
        times = {before: [], after: []}
        for _ in range(runs):
            for program in (before, after):
                times[program].append(run(program, arguments))
        whole = [min(t[0] for t in times[p]) for p in (before, after)]
        alone = [min(t[1] for t in times[p]) for p in (before, after)]
        print(f"{name:<15} {whole[0]:9.3f} {whole[1]:9.3f} {whole[1] / whole[0]:7.2f}   "
              f"({alone[0]:.3f}, {alone[1]:.3f})   {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
