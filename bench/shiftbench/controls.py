"""What the default costs where lr is right and nothing shifts: the table of controls in docs/choice.md.

    scripts/shiftbench.sh controls [--program PROGRAM] [--draws N]

Expected log loss by the true P(y|x) of 4,000 rows, default minus lr, over draws of the synthetic controls.
"""

from __future__ import annotations

import argparse

import numpy as np

from . import own
from .__main__ import ROOT
from .metrics import FLOOR, normalised
from .report import table
from .tasks import synthetic

CONTROLS = ("linear20-no-shift", "linear20-small-no-shift", "sparse50-no-shift", "four-no-shift")


def expected_bits(p, bayes):
    return float(-(bayes * np.log2(np.maximum(normalised(p), FLOOR))).sum(1).mean())


def main():
    parser = argparse.ArgumentParser(prog="scripts/shiftbench.sh controls", description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "covshift"))
    parser.add_argument("--draws", type=int, default=12)
    options = parser.parse_args()
    program = own.Program(options.program)
    more = {name: [] for name in CONTROLS}
    for seed in range(options.draws):
        for task in synthetic(seed, 4000):
            if task.name not in more:
                continue
            default, lr = (expected_bits(own.fit(program, task.given, o)[0], task.bayes) for o in ((), ("--method", "lr")))
            more[task.name].append(default - lr)
    print(table(["control", "mean", "standard error", "worst draw"],
                [[f"`{name}`", f"{np.mean(d):+.4f}", f"{np.std(d, ddof=1) / np.sqrt(len(d)):.4f}", f"{max(d):+.4f}"]
                 for name, d in more.items()]))


if __name__ == "__main__":
    main()
