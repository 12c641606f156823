"""make bench-engines: processes under mpirun beside one process, on the same rows.

    bench/engines.py PROGRAM [--quick] [--rows N] [--columns D] [--processes 1,2,4]

Writes 16 NPY files, which are dealt, and fits 4, 8 and all of them with 1, 2 and 4 processes of one thread each. Prints objective,
seconds of each stage, speed against one process, and each process's peak memory against its part of the rows (8 bytes a number), beside
what one and two processes read from memory at most. A model of the seconds is fitted to the two smaller sizes and checked by
predicting the largest (docs/scale.md). A run that fails is printed and the others go on; the exit code is then 1, and so it is
if objectives differ.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy

SIZES = (4, 8, 16)  # files of a run: no fewer than the processes
SAME = 1e-9  # objectives, relatively
TOLERANCE = "1e-10"  # of the fits: gaps of less than what is compared
CORES = len(os.sched_getaffinity(0))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
# Each process says how much memory it took at most, and its processor seconds.
WRAPPER = """
import os, resource, sys, subprocess
code = subprocess.call(sys.argv[2:])
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(f"{sys.argv[1]}.{rank}", "w") as file:
    file.write(f"{used.ru_maxrss * 1024} {used.ru_utime + used.ru_stime}")
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
    """The report of a fit by so many processes to so many files, with their largest memory. Throws RuntimeError if it fails."""
    peak = os.path.join(folder, "peak")
    pattern = "{" + ",".join(str(f) for f in range(files)) + "}"
    command = ["mpirun", "-n", str(processes), sys.executable, os.path.join(folder, "wrapper.py"), peak, program, "fit",
               f"{folder}/train-{pattern}.npy", "--target", f"{folder}/new-{pattern}.npy", "--label",
               f"c{columns + 1}", "--method", "robust", "--lambda", "1e-4", "--ratio-lambda", "1e-4",
               "--tolerance", TOLERANCE, "--threads", "1", "-o", f"{folder}/model.json", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} (exit code {done.returncode})\n{done.stderr.strip()}")
    report = json.loads(done.stdout)
    report["columns"] = columns
    used = [open(f"{peak}.{rank}").read().split() for rank in range(processes)]
    report["peak"] = max(int(bytes_used) for bytes_used, _ in used)
    report["processor"] = max(float(seconds) for _, seconds in used)
    return report


def fit_all(program, folder, processes, files, columns, problems):
    """The runs that succeed, by their number of processes."""
    runs = {}
    for p in processes:
        try:
            runs[p] = fit(program, folder, p, files, columns)
        except (OSError, RuntimeError, ValueError) as error:
            problems.append(f"{files} files, {p} processes: {error}")
            print(f"FAILED: {problems[-1]}\n", flush=True)
    return runs


def print_runs(runs, columns, problems):
    """A line for each number of processes, against the fewest."""
    print("| processes | objective | gap | sample s | all rows s | total s | speed | processor s, with reading | passes | peak / part |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    first = min(runs)
    alone = runs[first]
    for processes, report in sorted(runs.items()):
        engine = report["engine"]
        part = 8 * columns * (engine["rows"] + engine["target_rows"]) / processes
        print(f"| {processes} | {report['objective']:.12f} | {report['gap']:.1e} | {engine['sample_seconds']:.1f} | "
              f"{engine['fit_seconds']:.1f} | {report['seconds']:.1f} | "
              f"{alone['engine']['fit_seconds'] / engine['fit_seconds']:.2f}x | {report['processor']:.1f} | {engine['passes']} | "
              f"{report['peak'] / part:.2f} |")
        relative = abs(report["objective"] - alone["objective"]) / abs(alone["objective"])
        if relative > SAME:
            problems.append(f"{engine['rows']} rows: {processes} processes have another objective than {first}, by {relative:.1e}")


def bandwidth(processes):
    """Bytes a second that so many processes read from memory together, each a gigabyte of its own ten times: no pass is faster."""
    code = ("import sys, time, numpy; x = numpy.ones(1 << 27); numpy.dot(x, x); print(flush=True); sys.stdin.readline(); begin = time.time()\n"
            "for _ in range(10): numpy.dot(x, x)\n"
            "print(begin, time.time())")
    alone = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    readers = [subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=alone)
               for _ in range(processes)]
    for reader in readers:
        reader.stdout.readline()
    for reader in readers:
        reader.stdin.write("\n")
        reader.stdin.flush()
    times = [[float(t) for t in reader.communicate()[0].split()] for reader in readers]
    return processes * 10 * (1 << 30) / (max(end for _, end in times) - min(begin for begin, _ in times))


def terms(processes, report):
    """What the seconds of a fit to all rows are a sum of: 1, gigabytes that a core goes through, rounds of messages."""
    engine = report["engine"]
    gigabytes = 8e-9 * report["columns"] * (engine["rows"] + engine["target_rows"]) / processes
    turns = max(1.0, processes / CORES)  # processes that share a core take turns
    return [1.0, engine["passes"] * gigabytes * turns, engine["passes"] * math.log2(processes)]


def check_model(fitted, asked):
    """Seconds = fixed + a * passes * bytes of a process + b * passes * log2(processes): by least squares from some runs, (processes,
    report) each, and checked against others that had no part in it."""
    system = numpy.array([terms(*run) for run in fitted]).reshape(-1, 3)
    if len(fitted) < max(2, int(system.any(axis=0).sum())):
        print(f"{len(fitted)} runs are too few to fit a model of the cost")
        return
    took = numpy.array([report["engine"]["fit_seconds"] for _, report in fitted])
    found = numpy.linalg.lstsq(system, took, rcond=None)[0]
    fixed, rate, latency = found
    off = numpy.abs(system @ found / took - 1).max()
    print(f"seconds over all rows: {fixed:.2f}, {rate:.3f} for each gigabyte of a process in a pass, and {1000 * latency:.2f} ms of a pass "
          f"for each doubling of the processes (fitted to {len(fitted)} runs on {CORES} cores, off by {off:.0%} at most)")
    for processes, report in asked:
        said, seconds = float(numpy.dot(terms(processes, report), found)), report["engine"]["fit_seconds"]
        print(f"{report['engine']['rows']} rows, {processes} processes: predicted {said:.1f} s, took {seconds:.1f} s "
              f"({said / seconds - 1:+.0%}); {report['processor']:.1f} processor seconds, with reading")


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
    processes = sorted({int(p) for p in options.processes.split(",")})
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/wrapper.py", "w", encoding="utf-8") as file:
            file.write(WRAPPER)
        write_parts(folder, rows, options.columns, max(SIZES))
        print(f"{rows} training and {rows // 4} target rows of {options.columns} columns; load {os.getloadavg()[0]:.1f}\n")
        shared = {n: bandwidth(n) for n in (1, 2)}
        print(f"memory is read at {shared[1] / 1e9:.1f} GB/s by one process, {shared[2] / 1e9:.1f} GB/s by two: "
              f"{shared[2] / shared[1]:.2f}x is the most that passes over memory can gain\n")
        runs, problems = {}, []
        for files in SIZES:
            print(f"{rows * files // max(SIZES)} rows; load {os.getloadavg()[0]:.1f}\n", flush=True)
            runs[files] = fit_all(program, folder, [p for p in processes if p <= files], files, options.columns, problems)
            if runs[files]:
                print_runs(runs[files], options.columns, problems)
            print(flush=True)
        *smaller, largest = SIZES
        check_model([run for files in smaller for run in sorted(runs[files].items())], sorted(runs[largest].items()))
    if problems:
        sys.exit("\n".join(["", f"{len(problems)} problems:", *problems]))


if __name__ == "__main__":
    main()
