"""What the numbers were measured on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from .process import cores
from .workloads import ROOT

PACKAGES = ("covshift", "numpy", "scipy", "scikit-learn", "liblinear-official", "MRCpy", "cvxpy", "skada",
            "adapt", "tensorflow", "densratio")


def output(*command) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def memory() -> str:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemTotal:"):
            return f"{int(line.split()[1]) / 2**20:.1f} GiB"
    return "unknown"


def describe() -> dict:
    cpu = {}
    for line in output("lscpu").splitlines():
        key, _, value = line.partition(":")
        cpu[key.strip()] = value.strip()
    caches = {key: cpu[key] for key in ("L1d cache", "L1i cache", "L2 cache", "L3 cache") if key in cpu}
    flags = cpu.get("Flags", "").split()
    return {
        "processor": cpu.get("Model name", platform.processor()),
        "cores": cores(),
        "threads a core": cpu.get("Thread(s) per core", "unknown"),
        "caches": ", ".join(f"{key[:-6]} {value}" for key, value in caches.items()),
        "vector instructions": ", ".join(f for f in ("avx2", "fma", "avx512f") if f in flags),
        "virtual": cpu.get("Hypervisor vendor", "no"),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": (output("c++", "--version").splitlines() or ["unknown"])[0],
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "commit": commit(),
    }


def commit() -> str:
    """The commit, and whether sources differ from it: what `make bench` itself writes is none."""
    def git(*arguments):
        return output("git", "-C", str(ROOT), *arguments).strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results.json",
                  ":!bench/RESULTS.md")
    return git("describe", "--always") + ("-dirty" if changed else "")


def installation() -> list[dict]:
    """What install.py recorded."""
    path = Path(sys.prefix) / "peers.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def load_average() -> list[float]:
    return [round(x, 2) for x in os.getloadavg()]
