"""A Dask worker killed (kill -9) at a random moment of a fit, again and again: is the model the same?

    python bench/engines_dask_kills.py [KILLS] [ROWS]     # 20 kills; 100,000 rows x 20

The nanny starts a new worker after each kill. Compares model files to the last bit. Exits with 1 if any differs.
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


def main(kills, rows):
    chance = random.Random(0)
    same = 0
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as local, distributed.Client(local) as client:
        data = problem(rows, 20, 6)

        def fit():
            model = covshift.dask.RobustClassifier(generalize="train", client=client)
            begin = time.perf_counter()
            model.fit(*data)
            return time.perf_counter() - begin, model

        fit()
        calm, whole = fit()
        print(f"{rows:,} x 20, 6 + 6 partitions, 2 workers; undisturbed: {calm:.1f} s, "
              f"{whole.parts_['passes']} passes; load {os.getloadavg()[0]:.1f}\n")
        print("| kill | after, s | seconds | losses seen | model |\n|---|---|---|---|---|")
        for kill in range(kills):
            while len(client.nthreads()) < 2:
                time.sleep(0.1)
            after, pid = chance.uniform(0, calm), chance.choice(sorted(client.run(os.getpid).values()))
            killer = threading.Timer(after, os.kill, (pid, signal.SIGKILL))
            killer.start()
            taken, model = fit()
            killer.join()
            equal = model._model.to_text() == whole._model.to_text()
            same += equal
            print(f"| {kill + 1} | {after:.1f} | {taken:.1f} | {model.parts_['losses']} | "
                  f"{'the same' if equal else 'DIFFERENT'} |", flush=True)
            time.sleep(1)
    print(f"\n{same} of {kills} fits gave the same model, to the last bit")
    return same == kills


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]] + [20, 100_000][len(sys.argv) - 1 :]
    sys.exit(0 if main(*arguments) else 1)
