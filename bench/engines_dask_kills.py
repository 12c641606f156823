"""A Dask worker killed (kill -9) at a random moment of a fit, again and again: is the model the same?

    python bench/engines_dask_kills.py [KILLS] [ROWS]     # 20 kills; 100,000 rows x 20

Compares model files to the last bit. Exits with 1 if any differs.
"""

import os
import random
import signal
import sys
import threading
import time
import warnings

import distributed

import covshift.dask
from engines_dask import problem

warnings.filterwarnings("ignore")


def fit(client, data):
    model = covshift.dask.RobustClassifier(generalize="train", client=client)
    begin = time.perf_counter()
    model.fit(*data)
    return time.perf_counter() - begin, model


def cluster():
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)


def main(kills, rows):
    chance = random.Random(0)
    same = 0
    data = problem(rows, 20, 6)
    with cluster() as local, distributed.Client(local) as client:
        fit(client, data)
        calm, whole = fit(client, data)
    print(f"{rows:,} x 20, 6 + 6 partitions, 2 workers; undisturbed: {calm:.1f} s, "
          f"{whole.parts_['passes']} passes; load {os.getloadavg()[0]:.1f}\n")
    print("| kill | after, s | seconds | losses seen | model |\n|---|---|---|---|---|")
    for kill in range(kills):
        # A cluster for each: now and then a nanny does not start a new worker, and the next kill would wait for two.
        with cluster() as local, distributed.Client(local) as client:
            client.wait_for_workers(2)
            fit(client, data)
            after, pid = chance.uniform(0, calm), chance.choice(sorted(client.run(os.getpid).values()))
            killer = threading.Timer(after, os.kill, (pid, signal.SIGKILL))
            killer.start()
            taken, model = fit(client, data)
            killer.join()
        equal = model._model.to_text() == whole._model.to_text()
        same += equal
        print(f"| {kill + 1} | {after:.1f} | {taken:.1f} | {model.parts_['losses']} | "
              f"{'the same' if equal else 'DIFFERENT'} |", flush=True)
    print(f"\n{same} of {kills} fits gave the same model, to the last bit")
    return same == kills


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]] + [20, 100_000][len(sys.argv) - 1 :]
    sys.exit(0 if main(*arguments) else 1)
