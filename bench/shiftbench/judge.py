"""The figures that the default must reach, each a formula over the scores.

`scores[task][method]` is {"bits", "accuracy", "brier", "calibration", "cpu"}, or absent where a method failed. Differences
are in bits; negative is better.
"""

from __future__ import annotations

import numpy as np

from .own import DECIDING, PROBABLE
from .peers import METHODS as PEERS

RIVALS = ("RBF + LR", "random forest", "gradient boosting")


def own_names(scores):
    """covshift's methods of log loss, the default and the recommendation aside."""
    names = dict.fromkeys(m for row in scores.values() for m in row)
    return [m for m in names if m.partition("+")[0] in PROBABLE]


def bits(scores, task, method):
    return scores[task].get(method, {}).get("bits", np.nan)


def least(scores, task, methods):
    values = [bits(scores, task, m) for m in methods]
    return np.nanmin(values) if np.any(np.isfinite(values)) else np.nan


def differences(scores, tasks, method, other):
    """Of `method` from a method's name or a list of names (their best), over the tasks where both are known."""
    others = [other] if isinstance(other, str) else other
    d = np.array([bits(scores, t, method) - least(scores, t, others) for t in tasks])
    return d[np.isfinite(d)]


def figure(text, value, wanted, met, of=None):
    return {"figure": text, "value": value, "wanted": wanted, "met": bool(met), "of": of}


def against_lr(scores, shifted, lr):
    d = differences(scores, shifted, "default", lr)
    if not len(d):
        return []
    return [
        figure(f"worse than {lr} by more than 0.02", f"{np.sum(d > 0.02)} of {len(d)} (worst {d.max():+.3f})",
               "at most 1", np.sum(d > 0.02) <= 1),
        figure(f"mean against {lr}", f"{d.mean():+.3f} (median {np.median(d):+.3f})", "-0.05 or less", d.mean() <= -0.05),
    ]


def regret(scores, shifted, methods, name, mean, worst=None):
    d = differences(scores, shifted, "default", methods)
    if not len(d):
        return []
    out = [figure(f"regret to the best {name}, mean", f"{d.mean():+.3f}", f"{mean} or less", d.mean() <= mean)]
    if worst is not None:
        out.append(figure(f"regret to the best {name}, worst", f"{d.max():+.3f}", f"{worst} or less", d.max() <= worst))
    return out


def controls(scores, still, lr):
    d = differences(scores, still, "default", lr)
    return [figure(f"controls without shift, worst against {lr}", f"{d.max():+.4f} ({len(d)} tasks)", "0.005 or less",
                   d.max() <= 0.005)] if len(d) else []


def recommended(scores, tasks, own):
    out, names = [], [*own, "default"]
    for text, close in (("within 1%", lambda a, b: a <= 1.01 * b), ("within 0.02 bits", lambda a, b: a <= b + 0.02)):
        for method in ("recommended", "default"):
            pairs = [(bits(scores, t, method), least(scores, t, names)) for t in tasks]
            pairs = [p for p in pairs if np.all(np.isfinite(p))]
            if pairs:
                share = np.mean([close(*p) for p in pairs])
                out.append(figure(f"{method} {text} of the best own", f"{share:.0%} of {len(pairs)}", "80% or more",
                                  share >= 0.8))
    return out


def calibrated(scores, tasks, lr):
    pairs = [[scores[t][m]["calibration"] for m in ("default", lr)] for t in tasks
             if "default" in scores[t] and lr in scores[t]]
    if not pairs:
        return []
    ours, theirs = np.mean(pairs, 0)
    return [figure(f"mean calibration error, default and {lr}", f"{ours:.3f} and {theirs:.3f}", f"below {lr}", ours < theirs)]


def figures(scores, shifted, still):
    """All of them, over the tasks named."""
    own, packages = own_names(scores), [*PEERS]
    out = []
    for lr in ("lr", "LR (CV)"):
        out += against_lr(scores, shifted, lr)
    out += regret(scores, shifted, own, "own method", 0.02, 0.10)
    out += regret(scores, shifted, [*own, *packages], "of all packages", 0.05)
    for lr in ("lr", "LR (CV)"):
        out += controls(scores, still, lr)
    out += recommended(scores, [*shifted, *still], own)
    for lr in ("lr", "LR (CV)"):
        out += calibrated(scores, [*shifted, *still], lr)
    return out


def maps(scores, shared):
    """The best own method with --features auto (the default has it) against the best of RBF + LR, random forest and
    gradient boosting."""
    own = [m for m in own_names(scores) if m.endswith("+maps")]
    own += ["default"] if own else []
    rows = [(t, least(scores, t, own), least(scores, t, RIVALS)) for t in shared] if own else []
    rows = [r for r in rows if np.all(np.isfinite(r[1:]))]
    if not rows:
        return [], rows
    near = sum(a <= b + 0.02 for _, a, b in rows)
    return [figure("best own method with --features auto within 0.02 bits of the best of RBF + LR, random forest and "
                   "gradient boosting", f"{near} of {len(rows)}", "10 of 13", near >= 10 / 13 * len(rows))], rows


def judged_by_accuracy(method):
    return method in DECIDING
