"""make bench-engines: processes under mpirun beside one process, on the same rows.

    bench/engines.py PROGRAM [--quick] [--rows N] [--columns D] [--processes 1,2,4]

Writes NPY files (eight, which are dealt), fits them with 1, 2 and 4 processes of one thread each,
and prints objective, seconds of each stage, speed against one process, and each process's peak memory
against its part of the rows (8 bytes a number), beside what one and two processes read from memory at most. A model of
the cost is fitted to one process's runs on a quarter and on half of the files and checked against all other runs (docs/scale.md).
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
    report["columns"] = columns
    used = [open(f"{peak}.{rank}").read().split() for rank in range(processes)]
    report["peak"] = max(int(bytes_used) for bytes_used, _ in used)
    report["processor"] = max(float(seconds) for _, seconds in used)
    return report


def print_runs(runs, columns):
    """A line for each number of processes, against one process."""
    print("| processes | objective | gap | sample s | all rows s | total s | speed | processor s, with reading | passes | peak / part |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    alone = runs[min(runs)]
    for processes, report in sorted(runs.items()):
        engine = report["engine"]
        part = 8 * columns * (engine["rows"] + engine["target_rows"]) / processes
        print(f"| {processes} | {report['objective']:.12f} | {report['gap']:.1e} | {engine['sample_seconds']:.1f} | "
              f"{engine['fit_seconds']:.1f} | {report['seconds']:.1f} | "
              f"{alone['engine']['fit_seconds'] / engine['fit_seconds']:.2f}x | {report['processor']:.1f} | {engine['passes']} | "
              f"{report['peak'] / part:.2f} |")
        relative = abs(report["objective"] - alone["objective"]) / abs(alone["objective"])
        if relative > 1e-9:
            sys.exit(f"{processes} processes have another objective, by {relative:.1e}")


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


def check_model(fitted, asked):
    """Processor seconds of a process = fixed + rate * passes * bytes of its rows, reading included: fitted to some runs, (processes,
    report) each, and checked against others that had no part in it. Processor seconds, since other work on the machine spoils the rest."""
    def gigabytes(processes, report):
        engine = report["engine"]
        return engine["passes"] * 8e-9 * report["columns"] * (engine["rows"] + engine["target_rows"]) / processes

    system = numpy.array([[1.0, gigabytes(*run)] for run in fitted])
    fixed, rate = numpy.linalg.lstsq(system, numpy.array([r["processor"] for _, r in fitted]), rcond=None)[0]
    print(f"a process: {fixed:.2f} s, and {rate:.3f} s for each gigabyte of a pass (fitted to {len(fitted)} runs)")
    for processes, report in asked:
        said = fixed + rate * gigabytes(processes, report)
        took = report["processor"]
        print(f"{report['engine']['rows']} rows, {processes} processes: predicted {said:.1f} s, took {took:.1f} s ({said / took - 1:+.0%})")


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
        shared = {n: bandwidth(n) for n in (1, 2)}
        print(f"memory is read at {shared[1] / 1e9:.1f} GB/s by one process, {shared[2] / 1e9:.1f} GB/s by two: "
              f"{shared[2] / shared[1]:.2f}x is the most that passes over memory can gain\n")
        runs = {}
        for files in (2, 4, 8):
            runs[files] = {p: fit(program, folder, p, files, options.columns) for p in processes if p <= files}
            print(f"{rows * files // 8} rows; load {os.getloadavg()[0]:.1f}\n")
            print_runs(runs[files], options.columns)
            print(flush=True)
        fitted = [(1, runs[files][1]) for files in (2, 4)]
        check_model(fitted, [run for files in runs for run in runs[files].items() if run not in fitted])


if __name__ == "__main__":
    main()
