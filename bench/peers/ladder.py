"""One problem, all methods: how long each takes to come how near to the best objective known.

First every method climbs its ladder once. That gives the best objective F* and, for each method and each
relative error eps, the fastest rung with (F - F*) / F* <= eps. These rungs are then measured again in turns
(a b c a b c), and medians of all their runs count.
"""

from __future__ import annotations

import statistics

from . import methods, process
from .workloads import load

EPSILONS = (1e-3, 1e-6)
RUNS = 5  # of a rung that counts
LONG, VERY_LONG = 10, 40  # seconds of a run from which 3 runs, or the first alone, have to do
PREDICTED = 20_000  # rows; more only for batches of packages that take them at once


def runs_of(seconds: float) -> int:
    return RUNS if seconds <= LONG else 3 if seconds <= VERY_LONG else 1


def error(objective: float, best: float) -> float:
    return (objective - best) / max(abs(best), 1e-300)


class Family:
    """The measurements of one problem."""

    def __init__(self, workload, loss, quick, limit, say, lam=None, judged_lam=None):
        data = load(workload, quick)  # drawn here, once
        self.lam = data.default_lam() if lam is None else lam
        self.judged_lam = self.lam if judged_lam is None else judged_lam
        self.workload, self.loss, self.quick, self.limit, self.say = workload, loss, quick, limit, say
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

    def run(self, name: str, values, predict: bool, enough=None):
        method = methods.METHODS[name]
        return process.measure(
            {"kind": "fit", "workload": self.workload, "quick": self.quick, "loss": self.loss,
             "lam": self.lam, "judged_lam": self.judged_lam, "method": name, "values": list(values),
             "threads": self.threads(name), "limit": self.limit, "expected": len(values),
             "enough": enough, "predict": min(self.rows, PREDICTED) if predict else 0}
        )

    def threads(self, name: str) -> int:
        return 1 if methods.METHODS[name].single_threaded else process.cores()

    def best(self) -> float:
        return min(p["objective"] for p in self.points if "objective" in p)

    def climb(self, name: str) -> None:
        """Up the ladder to its end, the time limit or, for a peer, until the best is reached."""
        method, enough = methods.METHODS[name], None
        if self.points and not name.startswith("covshift"):
            enough = self.best() + abs(self.best()) * EPSILONS[-1] / 3
        answers, failure = self.run(name, method.ladder, predict=False, enough=enough)
        for answer in answers:
            self.points.append({"method": name, "knob": method.knob, "threads": self.threads(name),
                                "runs": [answer.pop("seconds")], "predictions": [], **answer})
            self.say(describe(self.points[-1]))
        if failure:
            value = method.ladder[min(len(answers), len(method.ladder) - 1)]
            self.points.append({"method": name, "knob": method.knob, "threads": self.threads(name),
                                "value": value, "runs": [], "predictions": [], **failure})
            self.say(describe(self.points[-1]))

    def chosen(self) -> list[dict]:
        """The rungs that count; a method that reaches no eps has its best one."""
        best, found = self.best(), []
        for name in self.names:
            own = [p for p in self.points if p["method"] == name and "objective" in p]
            for eps in EPSILONS:
                near = [p for p in own if error(p["objective"], best) <= eps]
                if near:
                    found.append(min(near, key=lambda p: p["runs"][0]))
            if own and error(min(p["objective"] for p in own), best) > EPSILONS[0]:
                found.append(min(own, key=lambda p: p["objective"]))
        unique = []
        for point in found:
            if all(point is not other for other in unique):
                unique.append(point)
        return unique

    def repeat(self) -> None:
        chosen = self.chosen()
        for turn in range(1, 1 if self.quick else RUNS):
            for name in self.names:
                again = {p["value"]: p for p in chosen
                         if p["method"] == name and turn < runs_of(p["runs"][0])}
                for answer in self.run(name, again, predict=True)[0] if again else []:
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
