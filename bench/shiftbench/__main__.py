"""make shiftbench: see the package's opening comment."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK_LIMIT = 5  # seconds of processor time of a measurement; MRCpy takes longer on most tasks


def commit():
    def git(*arguments):
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return (git("describe", "--always") or "unknown") + ("-dirty" if changed else "")


def facts(bench, data, count):
    from .run import version

    packages = ", ".join(f"{p} {version(p) or 'not installed'}" for p in ("numpy", "scipy", "scikit-learn", "skada", "MRCpy"))
    loads = [a["load"] for row in count.values() for a in row.values() if "load" in a]
    shared = sum(t.source == "shared" for t in bench.tasks)
    text = (f"Written by `make shiftbench`, {bench.program.version}, commit {commit()}; Python {platform.python_version()}, "
            f"{packages}; {os.cpu_count()} processors, load average {min(loads):.1f} to {max(loads):.1f} while measuring. "
            "Tasks, folds and methods are seeded: the same command gives the same scores. ")
    text += (f"{shared} of the {len(bench.tasks)} tasks are files that are not part of the project (`DATA=folder`)."
             if shared else f"The shared tasks were not measured: there is no folder `shift` in {data}.")
    kept = sum(a.get("failed") == "not measured" for row in count.values() for a in row.values())
    if kept:
        text += (f" {kept} of the scores were not measured again (`METHODS` named others): those of the page's earlier version "
                 "are kept, to three digits, where it has them.")
    if bench.stale:
        text += f" {bench.stale} of the scores are kept from an earlier program (`METHODS` measured only some again)."
    return text


def main():
    parser = argparse.ArgumentParser(prog="make shiftbench", description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "covshift"))
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--cache", default=str(ROOT / "build" / "shiftbench" / "cache"))
    parser.add_argument("--page", default=str(ROOT / "docs" / "shiftbench.md"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="a few tasks; print the summary, write no page")
    parser.add_argument("--tasks", nargs="*", help="only these; print the summary, write no page")
    parser.add_argument("--methods", nargs="*", help="measure these (again if the program changed), keep the others")
    options = parser.parse_args()

    import sklearn.linear_model  # noqa: F401  imported once, for all measurements are forked from here

    from . import clock, report
    from .own import Program
    from .run import LIMIT, Bench
    from .tasks import tasks

    options.data = str(ROOT / options.data)  # as seen from the root, where make is called
    every = tasks(options.data, options.quick)
    if options.tasks:
        every = [t for t in every if t.name in options.tasks]
    if not any(t.source == "shared" for t in every):
        print(f"shiftbench: no shared tasks in {options.data}/shift; measuring those a bare machine can make", file=sys.stderr)
    bench = Bench(every, Program(options.program), options.cache, options.methods, QUICK_LIMIT if options.quick else LIMIT)
    answers = bench.all(options.jobs)
    if options.quick or options.tasks:
        scores = report.scored(every, answers)
        print(report.summary(every, scores), report.where_it_loses(every, scores), sep="\n\n")
        return
    page = Path(options.page)
    earlier = report.kept(page.read_text(encoding="utf-8"), bench.methods) if page.exists() else {}
    text, picture = report.page(every, answers, clock.whole_fits(bench.program), facts(bench, options.data, answers), earlier)
    page.write_text(text, encoding="utf-8")
    page.with_suffix(".svg").write_text(picture, encoding="utf-8")
    print(f"wrote {page} and {page.with_suffix('.svg')}")


if __name__ == "__main__":
    main()
