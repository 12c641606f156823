"""Is there shift between two samples, where, how bad, and what to do about it."""

from __future__ import annotations

import html
import json

from sklearn.base import BaseEstimator

from . import _core
from ._data import training_data, view_groups, warn_of
from ._options import seed_of, shown, thread_count
from ._ratio import ratio_option


class Diagnosis:
    """The result of :func:`diagnose`. ``to_frame()`` and ``plot()`` show where the shift is.

    Attributes
    ----------
    shift : bool, p_value, domain_auc : is there shift at all (a permutation test).
    views : list of dict, name, kl, kl_binned, generalized, stable: where.
    effective_sample_size, support : how bad: the training sample after weighting, and the share of
        the target without training support.
    recommendation : dict, verdict, summary, reasons: what is the matter; method, why and command: the
        fit to use, as Python; label_first: rows to label first.
    data : dict, every number, as ``covshift diagnose --json`` prints them. Rows count from 1.
    """

    def __init__(self, data: dict):
        self.data = data

    def __getattr__(self, name: str):
        if name == "data" or name not in self.data:
            raise AttributeError(name)
        return self.data[name]

    def __dir__(self):
        return [*super().__dir__(), *self.data]

    def _lines(self) -> list[str]:
        d, support = self.data, self.data["support"]
        return [
            f"{d['train']} training rows, {d['target']} target rows",
            f"domain AUC {d['domain_auc']:.3f} (0.5: no shift, 1: no overlap), "
            f"p = {d['p_value']:.3g}: " + ("shift" if d["shift"] else "no shift is visible"),
            f"effective sample size {d['effective_sample_size']:.1f} of {d['train']}; "
            f"{100 * support['share']:.1f}% of the target without training support",
        ]

    def _rows(self, count: int) -> list[tuple[str, str, str]]:
        views = sorted(self.data["views"], key=lambda v: -max(v["kl"], v["kl_binned"]))
        return [
            (v["name"], f"{max(v['kl'], v['kl_binned'], 0):.4f}", "yes" if v["stable"] else "no")
            for v in views[:count]
        ]

    def __repr__(self) -> str:
        rows = [("view", "symmetric KL", "stable"), *self._rows(10)]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            f"  {name:<{widths[0]}}  {kl:>{widths[1]}}  {stable}" for name, kl, stable in rows
        ]
        more = len(self.data["views"]) - 10
        if more > 0:
            table.append(f"  ... and {more} more views (to_frame() lists all)")
        advice = self.data["recommendation"]
        following = [advice["why"], f"Next: {advice['command']}"] if advice["command"] else []
        return "\n".join([*self._lines(), *table, advice["summary"], *following])

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows(20)
        )
        lines = "<br>".join(html.escape(line) for line in self._lines())
        return (
            f"<div><p>{lines}</p><table><tr><th>view</th><th>symmetric KL</th><th>stable</th></tr>"
            f"{cells}</table><p><b>{html.escape(self.data['recommendation']['summary'])}</b></p></div>"
        )

    def to_frame(self, what: str = "views"):
        """A pandas DataFrame of the views, or of the columns and their means (``"features"``)."""
        import pandas

        if what not in ("views", "features"):
            raise ValueError(f"what must be 'views' or 'features', not {what!r}")
        return pandas.DataFrame(self.data[what]).set_index("name")

    def plot(self, ax=None):
        """Bars of the views' divergences; see :func:`covshift.plot.view_bars`."""
        from . import plot

        return plot.view_bars(self, ax=ax)


class _Inputs(BaseEstimator):
    """What scikit-learn's checks ask of an estimator."""

    def __init__(self, dates=None, missing="error"):
        self.dates, self.missing = dates, missing


def diagnose(
    X,
    X_target,
    *,
    views="each",
    ratio="logistic",
    ratio_lam="stable",
    scale: str = "standard",
    view_threshold: float = 0.1,
    level: float = 0.05,
    permutations: int = 199,
    dates=None,
    missing: str = "indicator",
    random_state=0,
    threads: int | None = None,
    progress=False,
) -> Diagnosis:
    """Compares the inputs of a training and a target sample.

    ``X`` and ``X_target`` are what ``RobustClassifier.fit`` takes, and so are ``views``, ``ratio``,
    ``scale``, ``view_threshold``, ``dates``, ``missing`` and ``progress``. ``level``: p-values up to this count as shift.
    """
    if X_target is None:
        raise ValueError("diagnose compares two samples; give X_target")
    given = training_data(_Inputs(dates, missing), X, X_target)
    options = {
        "dates": dates,
        "missing": missing,
        "views": view_groups(views, given.columns),
        "ratio": ratio_option(ratio),
        "ratio_lam": ratio_lam,
        "scale": scale,
        "view_threshold": view_threshold,
        "level": level,
        "permutations": permutations,
        "random_state": seed_of(random_state),
        "threads": thread_count(threads),
    }
    with shown(progress) as callback:
        found = _core.diagnose(given.data, given.target, given.names, options, callback)
    warn_of(given.data)
    warn_of(given.target)
    data = json.loads(found)
    if data["recommendation"]["verdict"] != "undetermined":
        chosen = {
            "views": (views, "each"),
            "ratio": (ratio, "logistic"),
            "ratio_lam": (ratio_lam, "stable"),
            "scale": (scale, "standard"),
            "view_threshold": (view_threshold, 0.1),
            "dates": (dates, None),
            "missing": (missing, "indicator"),
            "random_state": (random_state, 0),
        }
        given_by_user = ", ".join(
            f"{name}={value!r}"
            for name, (value, default) in chosen.items()
            if not (isinstance(value, type(default)) and value == default)
        )
        data["recommendation"]["command"] = f"RobustClassifier({given_by_user}).fit(X, y, X_target)"
    return Diagnosis(data)
