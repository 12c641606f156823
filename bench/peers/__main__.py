"""python -m peers [--quick] [PART...]: measures the parts (all), keeps the results of the others."""

import argparse
import json
import os
import time
from pathlib import Path

from . import machine, report
from .parts import PARTS
from .workloads import ROOT


def say(text: str) -> None:
    print(f"  {text}", flush=True)


def write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true",
                        help="small data, to try the harness out; results in build/bench-quick")
    parser.add_argument("--report", action="store_true", help="only write RESULTS.md again")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")

    folder = ROOT / ("build/bench-quick" if options.quick else "bench")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"parts": {}}
    for name in [] if options.report else options.parts or list(PARTS):
        print(f"{name}", flush=True)
        begin, load = time.time(), machine.load_average()
        part = PARTS[name](options.quick, say)
        part.update(
            command=f'make bench PARTS="{name}"' + (" QUICK=1" if options.quick else ""),
            started=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(begin)),
            minutes=round((time.time() - begin) / 60, 2),
            load_average=load,
            commit=machine.describe()["commit"],
        )
        known = {**results["parts"], name: part}
        results["parts"] = {each: known[each] for each in PARTS if each in known}
        # Written after every part: a run that is stopped keeps what it measured.
        results.update(machine=machine.describe(), installation=machine.installation(),
                       quick=options.quick)
        write(path, json.dumps(results, indent=1))
    notes = ROOT / "bench" / "notes.md"
    write(folder / "RESULTS.md", report.text(results, notes.read_text(encoding="utf-8")))
    print(f"wrote {folder / 'RESULTS.md'} and {path.name}")


if __name__ == "__main__":
    main()
