"""make bench-engines: processes under mpirun beside one process, on the same rows.

    bench/engines.py PROGRAM [--quick] [--rows N] [--columns D] [--processes 1,2,4]

Writes NPY files (eight, which are dealt), fits them with 1, 2 and 4 processes of one thread each,
and prints objective, seconds of each stage, speed against one process, and each process's peak memory
against its part of the rows (8 bytes a number). A model of the cost of a pass is fitted to runs of 1, 2 and
4 processes on half of the files and checked against a run on all of them (docs/scale.md).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
# Each process says how much memory it took at most.
WRAPPER = """
import os, resource, sys, subprocess
code = subprocess.call(sys.argv[2:])
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
with open(f"{sys.argv[1]}.{rank}", "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""


def write_parts(folder, rows, columns, parts):
    """Training rows N(0, 1), target rows with three shifted columns, classes by a noisy plane."""
    generator = numpy.random.default_rng(0)
    weights = generator.normal(size=columns) / columns ** 0.5
    for part in range(parts):
        x = generator.normal(size=(rows // parts, columns))
        y = (x @ weights + generator.normal(size=len(x)) > 0).astype(float)
        numpy.save(f"{folder}/train-{part}.npy", numpy.column_stack([x, y]))
        x = generator.normal(size=(rows // parts // 4, columns))
        x[:, :3] += 0.3
        numpy.save(f"{folder}/new-{part}.npy", numpy.column_stack([x, numpy.zeros(len(x))]))


def fit(program, folder, processes, files, columns):
    """The report of a fit by so many processes to so many files, with their largest memory."""
    peak = os.path.join(folder, "peak")
    pattern = "{" + ",".join(str(f) for f in range(files)) + "}" if files > 1 else "0"
    command = ["mpirun", "-n", str(processes), sys.executable, os.path.join(folder, "wrapper.py"), peak, program, "fit",
               f"{folder}/train-{pattern}.npy", "--target", f"{folder}/new-{pattern}.npy", "--label",
               f"c{columns + 1}", "--method", "robust", "--lambda", "1e-4", "--ratio-lambda", "1e-4",
               "--threads", "1", "-o", f"{folder}/model.json", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    report = json.loads(done.stdout)
    report["peak"] = max(int(open(f"{peak}.{rank}").read()) for rank in range(processes))
    return report


def print_runs(runs, rows, columns):
    """A line for each number of processes, against one process."""
    print("| processes | objective | gap | sample s | all rows s | total s | speed | passes | peak / part |")
    print("|---|---|---|---|---|---|---|---|---|")
    alone = runs[min(runs)]
    for processes, report in sorted(runs.items()):
        engine = report["engine"]
        part = 8 * columns * (engine["rows"] + engine["target_rows"]) / processes
        print(f"| {processes} | {report['objective']:.12f} | {report['gap']:.1e} | {engine['sample_seconds']:.1f} | "
              f"{engine['fit_seconds']:.1f} | {report['seconds']:.1f} | "
              f"{alone['engine']['fit_seconds'] / engine['fit_seconds']:.2f}x | {engine['passes']} | "
              f"{report['peak'] / part:.2f} |")
        relative = abs(report["objective"] - alone["objective"]) / abs(alone["objective"])
        if relative > 1e-9:
            sys.exit(f"{processes} processes have another objective, by {relative:.1e}")


def check_model(half, whole, cores):
    """Seconds of a pass = rate * rows of a process * processes that share a core + latency: fitted to half of the
    files, checked against all of them."""
    def shape(processes, report):
        engine = report["engine"]
        share = max(1, processes / cores)
        return [(engine["rows"] + engine["target_rows"]) / processes * share, 1.0]
    system = numpy.array([shape(p, r) for p, r in half.items()])
    seconds = numpy.array([r["engine"]["fit_seconds"] / r["engine"]["passes"] for r in half.values()])
    rate, latency = numpy.linalg.lstsq(system, seconds, rcond=None)[0]
    print(f"\na pass: {rate * 1e9:.2f} ns a row and thread, {latency * 1e3:.1f} ms besides (fitted to half of the rows)")
    for processes, report in whole.items():
        rows, one = shape(processes, report)
        said = (rate * rows + latency * one) * report["engine"]["passes"]
        print(f"all rows, {processes} processes: predicted {said:.1f} s, took {report['engine']['fit_seconds']:.1f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--processes", default="1,2,4")
    options = parser.parse_args()
    rows = options.rows or (400_000 if options.quick else 4_000_000)
    program = os.path.join(os.path.dirname(os.path.abspath(options.program)), "covshift-mpi")
    processes = [int(p) for p in options.processes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/wrapper.py", "w", encoding="utf-8") as file:
            file.write(WRAPPER)
        write_parts(folder, rows, options.columns, 8)
        print(f"{rows} training and {rows // 4} target rows of {options.columns} columns; load {os.getloadavg()[0]:.1f}\n")
        whole = {p: fit(program, folder, p, 8, options.columns) for p in processes if p <= 2}
        print_runs(whole, rows, options.columns)
        if len(processes) < 3:
            return
        half = {p: fit(program, folder, p, 4, options.columns) for p in processes}
        print("\nhalf of the files:\n")
        print_runs(half, rows // 2, options.columns)
        check_model(half, whole, len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    main()
