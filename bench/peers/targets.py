"""What the project wants to be true, against what was measured."""

from __future__ import annotations

import re
import statistics

from .ladder import EPSILONS, OURS, OURS_ALONE, at_least_as_good, error

LARGE = ("dense", "sparse-2", "sparse-20")


def median(point: dict) -> float:
    return statistics.median(point["runs"])


def reaching(part: dict, name: str, eps: float) -> dict | None:
    """The fastest rung of a method within eps of the best objective, by the medians."""
    near = [p for p in part["points"] if p["method"] == name and p.get("counts")
            and error(p["objective"], part["best"]) <= eps]
    return min(near, key=median) if near else None


def peers(part: dict) -> list[str]:
    seen = dict.fromkeys(p["method"] for p in part["points"])
    return [name for name in seen if name not in (OURS, OURS_ALONE)]


def fastest_peer(part: dict, eps: float) -> dict | None:
    found = [p for p in (reaching(part, name, eps) for name in peers(part)) if p]
    return min(found, key=median) if found else None


def as_good(part: dict, objective: float) -> dict | None:
    """covshift's fastest rung with at least as good an objective."""
    good = [p for p in part["points"] if p["method"] == OURS and p.get("counts")
            and at_least_as_good(p, objective)]
    return min(good, key=median) if good else None


def row(target, part, measured, met, detail):
    return {"target": target, "part": part, "measured": measured, "met": met, "detail": detail}


def logistic(parts):
    for name in ("log-dense", "log-sparse-2", "log-sparse-20", "log-wide", "log-tiny"):
        if name not in parts:
            continue
        part = parts[name]
        ours, peer = (f(part, EPSILONS[-1]) for f in (lambda p, e: reaching(p, OURS, e), fastest_peer))
        if not ours:
            yield row("log loss: 3x the fastest peer to 1e-6", name, "covshift did not reach 1e-6", False, "")
        elif not peer:
            yield row("log loss: 3x the fastest peer to 1e-6", name, "no peer reached 1e-6", True,
                      f"covshift {seconds(median(ours))}")
        else:
            ratio = median(peer) / median(ours)
            yield row("log loss: 3x the fastest peer to 1e-6", name, f"{ratio:.2f}x", ratio >= 3,
                      f"{peer['method']} {seconds(median(peer))}, covshift {seconds(median(ours))}")


def same_objective(parts, name, prefix, least, target):
    """Each of the peer's rungs that count beside ours that is at least as good."""
    if name not in parts:
        return
    part = parts[name]
    theirs = [p for p in part["points"] if p["method"].startswith(prefix)]
    if not any(p.get("counts") for p in theirs):
        why = "; ".join(p["failed"] for p in theirs if "failed" in p)
        yield row(target, name, "nothing to compare with", None, why)
    for peer in (p for p in theirs if p.get("counts")):
        setting = f"{peer['method']} {peer['knob']} {peer['value']:g}: {seconds(median(peer))}, objective " \
                  f"{peer['objective']:.9g}"
        ours = as_good(part, peer["objective"])
        if ours is None:
            yield row(target, name, "covshift's objective is worse", False, setting)
            continue
        ratio = median(peer) / median(ours)
        yield row(target, name, f"{ratio:.2f}x", ratio >= least,
                  f"{setting}; covshift {seconds(median(ours))}, {ours['objective']:.9g}, proven gap "
                  f"{ours['claims']['gap']:.1e}")


def threads(parts):
    for name, part in parts.items():
        if part["kind"] != "ladder" or part["workload"] not in LARGE:
            continue
        alone = reaching(part, OURS_ALONE, EPSILONS[-1])
        together = reaching(part, OURS, EPSILONS[-1])
        if alone and together and together["threads"] > 1:
            ratio = median(alone) / median(together)
            yield row(f"{together['threads']} threads 1.8x as fast as 1", name, f"{ratio:.2f}x",
                      ratio >= 1.8, f"{seconds(median(alone))}, {seconds(median(together))}")


def memory(parts):
    for name, part in parts.items():
        if part["kind"] != "ladder" or part["workload"] not in LARGE:
            continue
        ours = reaching(part, OURS, EPSILONS[-1])
        if ours:
            ratio = 1 + ours["peak_bytes"] / ours["data_bytes"]
            yield row("memory at most 1.3x the data", name, f"{ratio:.2f}x", ratio <= 1.3,
                      f"data {ours['data_bytes'] / 2**20:.0f} MiB, and "
                      f"{ours['peak_bytes'] / 2**20:.0f} MiB more at the peak of the fit")


def robust(parts):
    for point in parts.get("robust", {}).get("points", []):
        if point["method"].startswith("covshift robust,") and point["runs"]:
            ms = 1000 * median(point)
            yield row("robust (log), 500 x 5, with the ratio, in 2 ms", "robust", f"{ms:.2f} ms", ms <= 2,
                      point["method"])


def whole(parts):
    for p in parts.get("whole", {}).get("points", []):
        if not p["times"]:
            continue
        ours, *peer = p["times"]
        if peer:
            ratio = ours["seconds"] / peer[0]["seconds"]
            yield row("a default fit at most 1.0x LogisticRegressionCV", "whole", f"{ratio:.2f}x",
                      ratio <= 1, f"{p['shape']}: {seconds(ours['seconds'])}, "
                      f"{seconds(peer[0]['seconds'])}; of the processor {seconds(ours['processor'])}, "
                      f"{seconds(peer[0]['processor'])}; load {p['load']:.1f}")
        else:
            limit = 1 if "id" in p["shape"].split() else 2
            yield row(f"a default fit in {limit} s", "whole", seconds(ours["seconds"]),
                      ours["seconds"] < limit, f"{p['shape']}, of the processor {seconds(ours['processor'])}, load {p['load']:.1f}")


def passes(parts):
    cases = parts.get("pass", {}).get("cases", {})
    for name, value in sorted(cases.items()):
        if not name.startswith("pass/"):
            continue
        rest = name.removeprefix("pass/")
        read = cases.get("read/" + rest)
        if read is None:  # the same data with another loss
            read = cases.get("read/log/" + re.sub("^[^/]*/", "", rest))
        if read:
            large_dense = "dense" in name
            yield row("a pass over dense data at most 1.5x reading them" if large_dense
                      else "(no target: a pass over sparse or float32 data)", "pass", f"{value / read:.2f}x",
                      value / read <= 1.5 if large_dense else None,
                      f"{rest}: {seconds(value)}, reading {seconds(read)}")


def rest(parts):
    if "scaling" in parts:
        part = parts["scaling"]
        yield row("time linear in rows: exponent at most 1.05", "scaling", f"{part['exponent']:.3f}",
                  part["exponent"] <= 1.05, f"largest two decades {part['upper_exponent']:.3f}")
    if "tables" in parts:
        part = parts["tables"]
        points = part.get("points", [])
        if points and all(p["runs"] for p in points):
            total = sum(median(p) for p in points)
            yield row("tables 1 and 2 of the paper in 60 s", "tables", seconds(total), total <= 60,
                      ", ".join(f"{p['method']} {seconds(median(p))}" for p in points))
        else:
            why = part.get("failed") or "; ".join(p.get("failed", "") for p in points)
            yield row("tables 1 and 2 of the paper in 60 s", "tables", "not measured", None, why)


def all_targets(parts: dict) -> list[dict]:
    rows = list(logistic(parts))
    for name in ("hinge-dense", "hinge-sparse-2", "hinge-sparse-20", "hinge-wide", "hinge-tiny"):
        rows += same_objective(parts, name, "LIBLINEAR -s 4", 1.5,
                               "Crammer-Singer: 1.5x LIBLINEAR -s 4, same objective")
    rows += same_objective(parts, "zero-one", "MRCpy CMRC", 100,
                           "zero-one game: 100x MRCpy CMRC, same objective")
    for group in (robust, whole, passes, threads, memory, rest):
        rows += group(parts)
    return rows


def seconds(value: float) -> str:
    if value < 1e-3:
        return f"{1e6 * value:.3g} us"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
