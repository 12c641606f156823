"""Is there shift between two samples, where, how bad, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import BaseEstimator

from . import _core
from ._data import training_data, view_groups, warn_of
from ._methods import as_call, estimator_for
from ._options import documented, in_python, seed_of, shown, thread_count
from ._ratio import DensityRatio, ratio_option
from ._results import Reported, frame, trust_lines
from ._typing import Data, Missing, Progress, RandomState, RatioLambda, Scale, Views

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@documented
class Diagnosis(Reported):
    """The result of :func:`diagnose`. ``to_frame()`` and ``plot()`` show where the shift is.

    Attributes
    ----------
    shift : bool
        Is there shift at all: ``p_value`` of a permutation test is at most ``level``.
    p_value, domain_auc : float
        Of that test; an AUC of 0.5 means that the samples are alike, 1 that they do not overlap.
    power : float or None
        Without shift, the share of shifts by half a standard deviation that the test would have found; if it
        is below 0.8, that none was found says little.
    views : list of dict
        Where: name, kl, kl_binned, generalized, stable.
    effective_sample_size : float
        How bad: rows that the training sample is worth after weighting.
    support : dict
        The share of the target without training support, and examples.
    recommendation : dict
        Can a model be trusted on the target, in plain words: trust (answer, headline, evidence, next).
        What is the matter: verdict, summary, reasons; what to do: method, why and command (the fit to
        use, as Python), label_first (rows to label first).
    data : dict
        Every number, as ``covshift diagnose --json`` prints them. Rows count from 1.
    """

    _kind = "diagnose"
    train: int
    target: int
    shift: bool
    p_value: float
    domain_auc: float
    power: float | None
    views: list[dict[str, Any]]
    features: list[dict[str, Any]]
    view_threshold: float
    effective_sample_size: float
    support: dict[str, Any]
    recommendation: dict[str, Any]

    def _opening(self) -> list[str]:
        return [
            *trust_lines(self.data),
            f"{self.train} training rows, {self.target} target rows",
            f"domain AUC {self.domain_auc:.3f} (0.5: no shift, 1: no overlap), "
            f"p = {self.p_value:.3g}: " + ("shift" if self.shift else "no shift detected"),
            f"effective sample size {self.effective_sample_size:.1f} of {self.train}; "
            f"{100 * self.support['share']:.1f}% of the target without training support",
        ]

    def _rows(self, most: int = 10) -> list[list[str]]:
        views = sorted(self.views, key=lambda v: -max(v["kl"], v["kl_binned"]))
        return [
            ["view", "symmetric KL", "binned KL", "stable"],
            *(
                [v["name"], f"{v['kl']:.4f}", f"{v['kl_binned']:.4f}", "yes" if v["stable"] else "no"]
                for v in views[:most]
            ),
            *([[f"... {len(views) - most} more: to_frame()", "", "", ""]] if len(views) > most else []),
        ]

    def _closing(self) -> list[str]:
        advice = self.recommendation
        following = [advice["why"], f"Next: {advice['command']}"] if advice["command"] else []
        return [advice["summary"], *following]

    def to_frame(self, what: Literal["views", "features"] = "views") -> pandas.DataFrame:
        """The numbers as a table.

        Parameters
        ----------
        what : {"views", "features"}, default="views"
            The divergences of the views, or the columns' means before and after weighting.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each view or column, by name.
        """
        if what not in ("views", "features"):
            raise ValueError(f"what must be 'views' or 'features', not {what!r}")
        return frame(self.data[what], "name")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars of the views' symmetric KL divergences; see :func:`covshift.plot.view_bars`.

        Parameters
        ----------
        {ax}
        """
        from . import plot

        return plot.view_bars(self, ax=ax)


class Inputs(BaseEstimator):
    """What scikit-learn's checks ask of an estimator."""

    def __init__(self, dates: Sequence[str] | None = None, missing: Missing = "error") -> None:
        self.dates, self.missing = dates, missing


@documented
def diagnose(
    X: Data,
    X_target: Data,
    *,
    views: Views = "each",
    ratio: str | DensityRatio = "logistic",
    ratio_lam: RatioLambda = "stable",
    scale: Scale = "standard",
    view_threshold: float = 0.1,
    level: float = 0.05,
    permutations: int = 199,
    dates: Sequence[str] | None = None,
    missing: Missing = "indicator",
    random_state: RandomState = 0,
    threads: int | None = None,
    progress: Progress = False,
) -> Diagnosis:
    """Compares the inputs of a training and a target sample.

    Parameters
    ----------
    X : array-like, CSR matrix, DataFrame or Arrow table of shape (n_samples, n_features)
        Inputs that labels exist for.
    X_target : like X, of shape (n_target, n_features)
        Inputs from where a model will be used.
    {parameters}

    Returns
    -------
    diagnosis : Diagnosis
        Is there shift, where, how bad, and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> import covshift
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(200, 3)), rng.normal([1, 0, 0], 1, size=(150, 3))
    >>> found = covshift.diagnose(X, X_target, permutations=99)
    >>> found.shift, found.p_value
    (True, 0.01)
    >>> list(found.to_frame()["stable"])
    [False, True, True]
    """
    if X_target is None:
        raise ValueError("diagnose compares two samples; give X_target")
    given = training_data(Inputs(dates, missing), X, X_target)
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
    data = in_python(json.loads(found))
    if data["recommendation"]["verdict"] != "undetermined":
        model = estimator_for(
            data["recommendation"]["method"],
            views=None if isinstance(views, str) and views == "each" else views,
            ratio=ratio,
            ratio_lam=ratio_lam,
            scale=scale,
            view_threshold=view_threshold,
            dates=dates,
            missing=missing,
            random_state=options["random_state"],
        )
        data["recommendation"]["command"] = f"{as_call(model)}.fit(X, y, X_target)"
    return Diagnosis(data)
