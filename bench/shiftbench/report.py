"""The page: docs/shiftbench.md and its picture."""

from __future__ import annotations

import numpy as np

from . import judge, metrics, picture
from .own import DECIDING
from .peers import METHODS as PEERS
from .run import FAILED, NOT_MEASURED

SOURCES = {"shared": "Files", "biased": "scikit-learn's data, biased", "synthetic": "Known P(y|x)"}


def scored(tasks, answers):
    """{task: {method: scores}}; log loss and calibration only of methods that answer with probabilities."""
    out = {}
    for task in tasks:
        y, row = task.truth_codes(), {}
        for method, answer in answers[task.name].items():
            if FAILED in answer:
                continue
            s = metrics.scores(answer["p"], y) | {"cpu": answer["cpu"]}
            row[method] = {k: v for k, v in s.items() if k in ("accuracy", "cpu")} if method in DECIDING else s
        out[task.name] = row
    return out


HEADINGS = {"## Log loss (bits): covshift's methods": "bits", "## Log loss (bits): the default and other packages": "bits",
            "## Accuracy": "accuracy", "## Brier score": "brier", "## Calibration error": "calibration",
            "## Processor seconds": "cpu"}


def kept(page, methods):
    """{task: {method: scores}} of an earlier page, to its three digits: for methods that are not measured again."""
    out, key, header = {}, None, None
    for line in page.splitlines():
        if line.startswith("#"):
            key, header = HEADINGS.get(line.strip()), None
        if key is None or not line.startswith("| "):
            continue
        cells = [c.strip().strip("*") for c in line.strip().strip("|").split("|")]
        if header is None:
            header = cells
            continue
        for method, value in zip(header[1:], cells[1:], strict=True):
            if method in methods and value != "-":
                out.setdefault(cells[0], {}).setdefault(method, {})[key] = float(value)
    return out


def number(value, form):
    return "-" if value is None or not np.isfinite(value) else format(value, form)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(str(c) for c in row) + " |" for row in rows)])


def score_table(tasks, scores, methods, key, form):
    """A row for each task; the best of a row in bold."""
    better = max if key == "accuracy" else min
    rows = []
    for task in tasks:
        values = [scores[task.name].get(m, {}).get(key) for m in methods]
        known = [v for v in values if v is not None]
        best = better(known) if known else None
        rows.append([task.name, *(f"**{v:{form}}**" if v is not None and format(v, form) == format(best, form)
                                  else number(v, form) for v in values)])
    return table(["task", *methods], rows)


def means(scores, names, methods):
    rows = []
    for m in methods:
        got = [scores[t][m] for t in names if m in scores[t]]
        if got:
            row = [m, len(got)]
            for key, form in (("bits", ".3f"), ("accuracy", ".3f"), ("brier", ".3f"), ("calibration", ".3f"), ("cpu", ".2f")):
                values = [g[key] for g in got if key in g]
                row.append(number(float(np.mean(values)) if values else None, form))
            rows.append(row)
    return table(["method", "tasks", "log loss (bits)", "accuracy", "Brier", "calibration error", "processor s"], rows)


def verdicts(figures):
    return table(["figure", "measured", "wanted", ""],
                 [[f["figure"], f["value"], f["wanted"], "met" if f["met"] else "**missed**"] for f in figures])


def limit_of(tasks):
    """Log loss of the true P(y|x) where it is known: nobody does better but by luck."""
    known = [(t.name, metrics.log_loss(t.bayes, t.truth_codes())) for t in tasks if t.bayes is not None]
    return {name: value for name, value in known}


def where_it_loses(tasks, scores):
    own = judge.own_names(scores)
    limits, rows = limit_of(tasks), []
    for t in tasks:
        row = scores[t.name]
        if "default" not in row:
            continue
        d = row["default"]["bits"]
        known = {m: row[m]["bits"] for m in own if m in row}
        peers = {m: row[m]["bits"] for m in PEERS if m in row}
        if not known or not peers:
            continue
        best, peer = min(known, key=known.get), min(peers, key=peers.get)
        rows.append([t.name, f"{d:.3f}", f"{d - row['lr']['bits']:+.3f}" if "lr" in row else "-",
                     f"{known[best]:.3f} ({best})", f"{d - known[best]:+.3f}",
                     f"{peers[peer]:.3f} ({peer})", f"{d - peers[peer]:+.3f}", number(limits.get(t.name), ".3f")])
    return table(["task", "default", "against lr", "best own", "regret", "best peer", "regret", "true P(y given x)"], rows)


def series(tasks, scores):
    own, rows = judge.own_names(scores), []
    for t in tasks:
        row = scores[t.name]
        if "lr" not in row:
            continue
        zero = row["lr"]["bits"]
        got = {"best own method": judge.least(scores, t.name, own), "best peer": judge.least(scores, t.name, [*PEERS])}
        got |= {m: row[m]["bits"] for m in ("default", "robust") if m in row}
        group = SOURCES[t.source] if t.shifted else "No shift"
        rows.append((t.name, group, {k: v - zero for k, v in got.items() if np.isfinite(v)}))
    order = [*SOURCES.values(), "No shift"]
    return sorted(rows, key=lambda r: order.index(r[1]))


def failures(answers):
    found = {}
    for task, row in answers.items():
        for method, answer in row.items():
            if FAILED in answer and answer[FAILED] != NOT_MEASURED:
                found.setdefault((method, answer[FAILED]), []).append(task)
    return "\n".join(f"- {method}: {why} ({len(names)} task{'s' if len(names) > 1 else ''}: {', '.join(names[:4])}"
                     f"{', ...' if len(names) > 4 else ''})" for (method, why), names in sorted(found.items())) or "None."


def clock_table(times):
    return table(["rows x columns", "threads", "wall s", "processor s", "load average", "wanted"],
                 [[f"{t['rows']:,} x {t['columns']}", t["threads"], f"{t['wall']:.2f}", f"{t['cpu']:.2f}", f"{t['load']:.1f}",
                   f"under {t['allowed']:g} s"] for t in times])


def summary(tasks, scores):
    groups = {"All tasks": tasks, "The shared tasks": [t for t in tasks if t.source == "shared"]}
    parts = []
    for title, some in groups.items():
        shifted, still = [t.name for t in some if t.shifted], [t.name for t in some if not t.shifted]
        if some:
            parts.append(f"### {title}: {len(shifted)} shifted, {len(still)} without shift\n\n"
                         + verdicts(judge.figures(scores, shifted, still)))
    found, rows = judge.maps(scores, [t.name for t in tasks if t.source == "shared"])
    if found:
        parts.append("### Feature maps on the shared tasks\n\n" + verdicts(found) + "\n\n"
                     + table(["task", "best own with --features auto", "best of the three", "difference"],
                             [[t, f"{a:.3f}", f"{b:.3f}", f"{a - b:+.3f}"] for t, a, b in rows]))
    return "\n\n".join(parts)


def page(tasks, answers, times, facts, earlier=None):
    """`earlier`: scores of methods that were not measured again, from `kept`."""
    scores = scored(tasks, answers)
    for task, row in (earlier or {}).items():
        for method, s in row.items():
            if task in scores and answers[task].get(method, {}).get(FAILED) == NOT_MEASURED:
                scores[task][method] = s
    order = list(answers[tasks[0].name])
    scores = {t: {m: row[m] for m in order if m in row} for t, row in scores.items()}
    methods = [m for m in dict.fromkeys(m for row in scores.values() for m in row)]
    probable = [m for m in methods if m not in DECIDING]
    ours = [m for m in probable if m not in PEERS]
    theirs = ["default", *[m for m in probable if m in PEERS]]
    shifted, still = [t for t in tasks if t.shifted], [t for t in tasks if not t.shifted]
    parts = [
        "# Shift bench", facts,
        "Log loss is in bits, on the target's labels, which no method sees. A probability of zero for what happened costs "
        f"{-np.log2(metrics.FLOOR):.1f} bits. Brier: squared distance from the truth summed over the classes. Calibration "
        "error: ten bins of equal numbers of rows by the probability of the predicted class. Times are processor seconds "
        "of fit and prediction together with one thread, reading and writing files included for covshift.",
        "![Log loss minus that of lr, by task](shiftbench.svg)",
        "## What the default must show\n\n`lr` is covshift's (`--method lr`), `LR (CV)` scikit-learn's. \"Best own\" is the "
        "least of covshift's methods of log loss on each task, known only afterwards: "
        + ", ".join(judge.own_names(scores)) + ".",
        summary(tasks, scores),
        "## Where the default wins and loses", where_it_loses(tasks, scores),
        "## Means over the shifted tasks\n\nA method that failed on a task is averaged over the others, so compare rows of "
        "equal numbers of tasks.", means(scores, [t.name for t in shifted], methods),
        "## Means over the tasks without shift", means(scores, [t.name for t in still], methods),
        "## Log loss (bits): covshift's methods", score_table(tasks, scores, ours, "bits", ".3f"),
        "## Log loss (bits): the default and other packages", score_table(tasks, scores, theirs, "bits", ".3f"),
        "## Accuracy", score_table(tasks, scores, methods, "accuracy", ".3f"),
        "## Brier score", score_table(tasks, scores, probable, "brier", ".3f"),
        "## Calibration error", score_table(tasks, scores, probable, "calibration", ".3f"),
        "## Processor seconds", score_table(tasks, scores, methods, "cpu", ".2f"),
        "## A whole default fit\n\nFiles in, model file out.", clock_table(times),
        "## What did not run", failures(answers),
        "## The tasks", table(["task", "rows", "columns", "target rows", "classes", "how it was made"],
                              [[t.name, t.given.rows, len(t.given.names), len(t.truth), len(t.given.classes), t.about]
                               for t in tasks]),
    ]
    return "\n\n".join(parts) + "\n", picture.svg(series(tasks, scores))
