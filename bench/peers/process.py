"""Runs one measurement in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LOADING = 180  # seconds on top of the fits' limits, for starting, loading and judging


def cores() -> int:
    return len(os.sched_getaffinity(0))


def environment(threads: int) -> dict:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    return {**os.environ, **{name: str(threads) for name in names}, **quiet}


def measure(spec: dict) -> tuple[list[dict], dict | None]:
    """The worker's answers; and if it did not come to its end, {"failed": why}, with "limit" if it was time."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "spec.json", Path(folder) / "answers.jsonl"
        source.write_text(json.dumps(spec), encoding="utf-8")
        command = [sys.executable, "-m", "peers.worker", str(source), str(target)]
        try:
            done = subprocess.run(
                command, cwd=Path(__file__).parents[1], env=environment(spec["threads"]), text=True,
                capture_output=True, timeout=LOADING + spec["limit"] * spec["expected"], check=False,
            )
            failure = why(done, spec["limit"])
        except subprocess.TimeoutExpired:
            failure = over(spec["limit"])
        lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
        return [json.loads(line) for line in lines], failure


def over(limit: float) -> dict:
    return {"failed": f"over the limit of {limit:g} s", "limit": limit}


def why(done, limit: float) -> dict | None:
    if done.returncode == 0:
        return None
    if done.returncode == -signal.SIGALRM:
        return over(limit)
    if done.returncode == -signal.SIGKILL:
        return {"failed": "killed: out of memory, or from outside"}
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    # The exception is the last line that does not continue another.
    said = [line for line in lines if not line.startswith(" ") and "Error" in line]
    return {"failed": f"{(said or lines or ['no message'])[-1][:300]} (exit status {done.returncode})"}
