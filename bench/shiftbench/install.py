"""Installs the peers into the environment that runs this, one by one: what fails is said, and its methods do not run."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

PACKAGES = [  # what pip is told, for whom
    (["scikit-learn"], "scikit-learn"), (["skada"], "skada"),
    (["cvxpy", "gurobipy", "pyarrow", "tqdm"], "cvxpy"),  # for MRCpy
    (["--no-deps", "MRCpy"], "MRCpy"),  # without torch (5 GB), which only a part that is not used here needs
]


def installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


for arguments, name in PACKAGES:
    if installed(name):
        continue
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments],
                          capture_output=True, text=True, check=False)
    reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    print(f"{name}: {installed(name) or reason}", flush=True)
    if done.returncode != 0 and name == "scikit-learn":
        sys.exit("shiftbench needs scikit-learn")
