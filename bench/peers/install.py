"""Installs the peers into the environment that runs this, one by one: what fails is recorded, not hidden.

    build/bench-venv/bin/python bench/peers/install.py RECORD.json
"""

import json
import subprocess
import sys
from importlib import metadata

# Name in the index, what else pip is told, why.
PEERS = [
    ("scikit-learn", [], ""),
    ("scikit-learn-intelex", [], "scikit-learn's interface to oneDAL"),
    ("pandas", [], "tables with text"),
    ("liblinear-official", [], ""),
    ("densratio", [], ""),
    ("skada", [], ""),
    ("cvxpy", [], "for MRCpy"),
    ("gurobipy", [], "for MRCpy; its licence without registration is limited in size"),
    ("pyarrow", [], "for MRCpy"),
    ("tqdm", [], "for MRCpy"),
    ("MRCpy", ["--no-deps"], "without torch (5 GB), which only its subpackage pytorch uses"),
    ("adapt", [], ""),
]


def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def install(name, options):
    if version(name):
        return None
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        done = subprocess.run([*pip, *options, name], capture_output=True, text=True, check=False,
                              timeout=1800)
    except subprocess.TimeoutExpired:
        return "not installed after 30 minutes"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return None if done.returncode == 0 else (lines or ["pip gave no reason"])[-1]


def main(path):
    record = []
    for name, options, note in PEERS:
        failure = install(name, options)
        print(f"{name}: {failure or version(name)}", flush=True)
        record.append({"name": name, "version": version(name), "failed": failure, "note": note})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
