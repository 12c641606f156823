"""One problem, all methods: how long each takes to come how near to the best objective known.

First every method climbs its ladder once. That gives the best objective F* and, for each method and each
relative error eps, the fastest rung with (F - F*) / F* <= eps. These rungs are then measured again in turns
(a b c a b c), and medians of all their runs count; but those of peers that another peer leaves far behind.
"""

from __future__ import annotations

import math
import statistics

from . import methods, process
from .workloads import load

OURS, OURS_ALONE = "covshift", "covshift, 1 thread"
EPSILONS = (1e-3, 1e-6)
RUNS = 5  # of a rung that counts
LONG, VERY_LONG = 10, 40  # seconds of a run from which 3 runs, or the first alone, have to do
PREDICTED = 20_000  # rows at once, at most


def runs_of(seconds: float) -> int:
    return RUNS if seconds <= LONG else 3 if seconds <= VERY_LONG else 1


OWN = 90  # seconds for covshift's climb
LEAST, BEHIND = 20, 20  # seconds, and times covshift's to the smallest eps, that a peer gets at least
FAR = 1.5  # times the fastest peer: a peer's rung so slow changes no comparison, and is run once


def error(objective: float, best: float) -> float:
    return (objective - best) / max(abs(best), 1e-300)


def at_least_as_good(point: dict, objective: float) -> bool:
    """But for rounding."""
    return point["objective"] <= objective + 1e-9 * abs(objective)


class Family:
    """The measurements of one problem."""

    def __init__(self, workload, loss, quick, limit, say, lam=None, judged_lam=None, patient=False):
        data = load(workload, quick)  # drawn here, once
        self.lam = data.default_lam() if lam is None else lam
        self.judged_lam = self.lam if judged_lam is None else judged_lam
        self.workload, self.loss, self.quick, self.limit, self.say = workload, loss, quick, limit, say
        self.patient = patient  # peers get the limit however long covshift has been there
        self.points: list[dict] = []
        self.refused = {}
        self.names = []
        for name, method in methods.METHODS.items():
            why = method.refusal(data, loss)
            if why is None:
                self.names.append(name)
            elif loss in method.losses:
                self.refused[name] = why
        self.rows = len(data.y)

    def patience(self) -> float:
        """Seconds that a peer's whole climb may take: the limit, or less where covshift has long been there."""
        near = [p["runs"][0] for p in self.points if p["method"] == OURS and "objective" in p
                and error(p["objective"], self.best()) <= EPSILONS[-1]]
        if self.patient:
            return self.limit
        return min(self.limit, max(LEAST, BEHIND * min(near, default=math.inf)))

    def run(self, name: str, values, predict=0, climb=False, enough=-math.inf, budget=math.inf):
        return process.measure(
            {"kind": "fit", "workload": self.workload, "quick": self.quick, "loss": self.loss,
             "lam": self.lam, "judged_lam": self.judged_lam, "method": name, "values": list(values),
             "threads": self.threads(name), "limit": min(max(self.limit, OWN), budget), "expected": len(values),
             "climb": climb, "enough": enough, "budget": budget, "predict": predict}
        )

    def threads(self, name: str) -> int:
        return 1 if methods.METHODS[name].single_threaded else process.cores()

    def best(self) -> float:
        return min(p["objective"] for p in self.points if "objective" in p)

    def climb(self, name: str) -> None:
        """Up the ladder until the best is reached, the time is used up or the ladder ends."""
        method, enough, values = methods.METHODS[name], -math.inf, methods.METHODS[name].ladder
        if name == OURS_ALONE:  # the same answers as with more threads: only the rungs that count
            values = sorted({p["value"] for p in self.near(OURS)}, reverse=True)
        elif name != OURS:
            enough = self.best() + abs(self.best()) * EPSILONS[-1] / 3
        budget = OWN if name in (OURS, OURS_ALONE) else self.patience()
        answers, failure = self.run(name, values, min(self.rows, PREDICTED), climb=True, enough=enough,
                                    budget=budget)
        common = {"method": name, "knob": method.knob, "threads": self.threads(name)}
        for answer in answers:
            self.points.append({**common, "runs": [answer.pop("seconds")],
                                "predictions": [answer.pop("predictions_per_second")], **answer})
            self.say(describe(self.points[-1]))
        if not failure and sum(p["runs"][0] for p in self.points if p["method"] == name) > budget:
            failure = {"failed": f"rungs up to here took over {budget:g} s in all", "limit": budget}
        if failure:
            value = values[min(len(answers), len(values) - 1)]
            self.points.append({**common, "value": value, "runs": [], "predictions": [], **failure})
            self.say(describe(self.points[-1]))

    def chosen(self) -> list[dict]:
        """The rungs that count: to each eps, the package's default; the best of a method that reaches no eps."""
        best, found = self.best(), []
        for name in self.names:
            own = [p for p in self.points if p["method"] == name and "objective" in p]
            found += [p for p in own if p["value"] == methods.METHODS[name].default]
            found += self.near(name)
            if own and error(min(p["objective"] for p in own), best) > EPSILONS[0]:
                found.append(min(own, key=lambda p: p["objective"]))
        # ours that are as good as a rung of theirs, and the best
        ours = [p for p in self.points if p["method"] == OURS and "objective" in p]
        for objective in [p["objective"] for p in found] + [best]:
            good = [p for p in ours if at_least_as_good(p, objective)]
            if good:
                found.append(min(good, key=lambda p: p["runs"][0]))
        return list({id(p): p for p in found}.values())

    def near(self, name: str) -> list[dict]:
        """A method's fastest rungs to each eps."""
        own = [p for p in self.points if p["method"] == name and "objective" in p]
        within = [[p for p in own if error(p["objective"], self.best()) <= eps] for eps in EPSILONS]
        return [min(near, key=lambda p: p["runs"][0]) for near in within if near]

    def far(self, point: dict) -> bool:
        """Another peer is as good in a fraction of the time."""
        theirs = [p["runs"][0] for p in self.points if "objective" in p
                  and p["method"] not in (OURS, OURS_ALONE, point["method"])
                  and p["objective"] <= point["objective"]]
        return point["method"] not in (OURS, OURS_ALONE) and point["runs"][0] > FAR * min(theirs, default=math.inf)

    def repeat(self) -> None:
        chosen, predict = self.chosen(), min(self.rows, PREDICTED)
        for turn in range(1, 2 if self.quick else RUNS):
            for name in self.names:
                again = {p["value"]: p for p in chosen if p["method"] == name
                         and turn < (1 if self.far(p) else runs_of(p["runs"][0]))}
                for answer in self.run(name, again, predict=predict)[0] if again else []:
                    point = again[answer["value"]]
                    point["runs"].append(answer["seconds"])
                    point["predictions"].append(answer["predictions_per_second"])
                    point["peak_bytes"] = max(point["peak_bytes"], answer["peak_bytes"])
        for point in chosen:
            point["counts"] = True
            self.say(f"median of {len(point['runs'])}: {describe(point)}")

    def measure(self) -> dict:
        for name in self.names:
            self.climb(name)
        self.repeat()
        return {
            "kind": "ladder", "workload": self.workload, "loss": self.loss, "lam": self.lam,
            "judged_lam": self.judged_lam, "limit": self.limit, "best": self.best(),
            "bound": self.bound(), "points": self.points, "refused": self.refused,
        }

    def bound(self):
        """The largest lower bound on the optimum that covshift's dual proves, if it is of this problem."""
        if self.judged_lam != self.lam:
            return None
        claims = [p["claims"] for p in self.points if p.get("claims")]
        return max((c["objective"] - c["gap"] for c in claims), default=None)


def describe(point: dict) -> str:
    what = f"{point['method']}, {point['knob']} {point['value']:g}"
    if "failed" in point:
        return f"{what}: {point['failed']}"
    seconds = statistics.median(point["runs"])
    return f"{what}: {seconds:.4g} s, objective {point['objective']:.10g}"
