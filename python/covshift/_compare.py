"""Every method on the same data, judged by the same rules."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._classifier import RobustClassifier
from ._data import refused_as_by_scikit_learn, training_data, view_groups, warn_of
from ._diagnose import Diagnosis, Inputs
from ._frames import frame_of
from ._labels import labelled_data
from ._methods import as_call, estimator_for
from ._options import documented, in_python, seed_of, shown, thread_count
from ._ratio import DensityRatio, ratio_option
from ._results import Reported, frame, trust_lines
from ._typing import Data, Labels, Missing, Progress, RandomState, RatioLambda, Scale, Views

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@documented
class Comparison(Reported):
    """The result of :func:`compare`. ``to_frame()`` and ``plot()`` show the methods' scores.

    Attributes
    ----------
    recommended : str
        What to use: the winner; without one the default, ``"auto"``, unless it is measurably worse than
        the best. ``best_estimator()`` makes it.
    winner : str or None
        The one method that is better than all others by more than chance explains; None for a tie, or
        if the rows are too few.
    best : str
        The method with the smallest score.
    statement : str
        The result, and what to use, in words.
    command : str
        What to run next, as Python.
    methods : list of dict
        Of each method: how it was fitted, its scores (``estimated`` from held-out training rows weighted
        to look like the target, ``truth`` if labels were given), its certificate.
    judged_by : {"estimate", "truth"}
        Whose scores decide.
    effective_sample_size : float
        Rows that the training sample is worth after weighting.
    data : dict
        Every number, as ``covshift compare --json`` prints them.
    """

    _kind = "compare"
    train: int
    target: int
    classes: list[str]
    metric: str
    judged_by: Literal["estimate", "truth"]
    effective_sample_size: float
    level: float
    best: str
    winner: str | None
    recommended: str
    statement: str
    command: str
    methods: list[dict[str, Any]]

    def __init__(self, data: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(data)
        self._options = options

    def best_estimator(self, method: str | None = None) -> RobustClassifier:
        """The recommended model, not yet fitted, with the options of the comparison.

        Parameters
        ----------
        method : str, default=None
            Another method of the table; None is ``recommended``.

        Returns
        -------
        estimator : RobustClassifier
            ``fit(X, y, X_target)`` gives the model that was compared.
        """
        name = self.recommended if method is None else method.replace("_", "-")
        if name not in (known := [m["method"] for m in self.methods]):
            raise ValueError(f"{method!r} was not compared; there are {', '.join(known)}")
        return estimator_for(name, **self._options)

    @property
    def diagnosis(self) -> Diagnosis:
        """Is there shift, where, and how bad; its recommendation is that of the comparison."""
        return Diagnosis(self.data["diagnosis"])

    def to_frame(self) -> pandas.DataFrame:
        """The scores on the target as a table.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each method, by name: error, log_loss (in nats, as in scikit-learn) and brier, each
            with its standard error (``_se``); confidence, the mean probability of its own answer;
            calibration_error; reliable, False if such scores mean nothing; bound, what is promised for
            the target (its loss in nats, nan: nothing); behind, its distance from the best, and tied,
            whether that may be chance; lam, loss and generalize.
        """
        rows: list[dict[str, Any]] = []
        for m in self.methods:
            scores = m[self._judged]
            row: dict[str, Any] = {"method": m["method"]}
            for name in ("error", "log_loss", "brier"):
                row[name] = _number(scores[name]["value"])
                row[f"{name}_se"] = _number(scores[name]["standard_error"])
            row.update({name: scores[name] for name in ("confidence", "calibration_error", "reliable")})
            row["bound"] = _number(m["certificate"]["bound"], np.nan)
            row["behind"] = _number(m["behind"]["value"])
            row.update(tied=m["tied"], lam=m["lambda"], loss=m["loss"], generalize=m["generalize"])
            rows.append(row)
        return frame(rows, "method")

    def plot(self, ax: Axes | None = None) -> Axes:
        """The methods' scores with 95% intervals; see :func:`covshift.plot.scores`.

        Parameters
        ----------
        {ax}
        """
        from . import plot

        return plot.scores(self, ax=ax)

    @property
    def _judged(self) -> str:
        return "truth" if self.judged_by == "truth" else "estimated"

    def _opening(self) -> list[str]:
        by = (
            f"on {self.data['truth']} labelled rows of the target"
            if self.judged_by == "truth"
            else "on the target, estimated from held-out training rows by their weights (effective sample "
            f"size {self.effective_sample_size:.1f})"
        )
        return [
            *trust_lines(self.data["diagnosis"]),
            f"{self.train} training rows, {self.target} target rows, {len(self.classes)} classes; "
            + self.data["diagnosis"]["recommendation"]["summary"],
            f"Scores {by}:",
        ]

    def _rows(self) -> list[list[str]]:
        table = [["method", "error", "log loss", "Brier", "sure", "right", "promised", ""]]
        for m in self.methods:
            scores = m[self._judged]
            doubt = "" if scores["reliable"] else "?"
            bound = m["certificate"]["bound"]
            remarks = {
                "use this": m["method"] == self.recommended,
                "best": m["method"] == self.best,
                "tied": m["tied"] and m["method"] != self.best,
            }
            table.append([
                m["method"],
                *(_with_error(scores[name], doubt) for name in ("error", "log_loss", "brier")),
                f"{scores['confidence']:.0%}",
                f"{scores['accuracy']:.0%}{doubt}",
                "-" if bound is None else f"{bound:.3f}",
                ", ".join(words for words, true in remarks.items() if true),
            ])
        return table

    def _closing(self) -> list[str]:
        doubt = [] if self.methods[0][self._judged]["reliable"] else [
            "?: a guess; the rows are too few, or the target is too far from them, for a score to mean "
            "anything."
        ]
        return [*doubt, self.statement, f"Next: {self.command}"]


def _number(value: float | None, absent: float = np.inf) -> float:
    return absent if value is None else value


def _with_error(score: dict[str, float | None], doubt: str) -> str:
    if score["value"] is None:
        return "-"
    return f"{score['value']:.3f} ±{score['standard_error']:.3f}{doubt}"


def _truth_codes(y: Labels, classes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The positions of the classes; -1 for those that training never saw, with a warning."""
    place = {c: i for i, c in enumerate(classes.tolist())}
    labels = np.asarray(y).tolist()
    unknown = sorted({str(label) for label in labels if label not in place})
    if unknown:
        warnings.warn(
            f"training never saw the classes {', '.join(unknown[:5])}; these rows count as errors",
            UserWarning,
            stacklevel=3,
        )
    return np.array([place.get(label, -1) for label in labels], dtype=np.int32)


@documented
def compare(
    X: Data,
    y: Labels,
    X_target: Data,
    *,
    truth: tuple[Data, Labels] | None = None,
    methods: Sequence[str] | None = None,
    metric: Literal["brier", "error", "log-loss"] = "brier",
    level: float = 0.05,
    views: Views | None = None,
    features: str | None = None,
    view_threshold: float = 0.1,
    ratio: str | DensityRatio = "logistic",
    ratio_lam: RatioLambda = "stable",
    scale: Scale = "standard",
    folds: int = 5,
    dates: Sequence[str] | None = None,
    missing: Missing = "indicator",
    random_state: RandomState = 0,
    threads: int | None = None,
    progress: Progress = False,
) -> Comparison:
    """Fits every method to the same data and judges all of them the same way: a winner or a tie.

    Parameters
    ----------
    {labelled}
    {target}
    truth : tuple (X, y), default=None
        Rows of the target with their classes, to judge by; never used for training. Without them scores
        are estimated from held-out training rows.
    {parameters}

    Returns
    -------
    comparison : Comparison
        The scores of the methods, and which one to use.

    Examples
    --------
    >>> import covshift
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_target, y_train, y_target = covshift.biased_split(X, y, feature=8, n_target=80)
    >>> found = covshift.compare(
    ...     X_train, y_train, X_target, truth=(X_target, y_target), methods=["lr", "robust"])
    >>> list(found.to_frame().index)
    ['lr', 'robust']
    >>> found.best in ("lr", "robust")
    True
    >>> model = found.best_estimator().fit(X_train, y_train, X_target)
    """
    if X_target is None:
        raise ValueError("compare judges methods on a target; give X_target")
    checks = Inputs(dates, missing)
    X, X_target = frame_of(X), frame_of(X_target)
    given, classes, codes, named = labelled_data(checks, X, y, X_target)
    for_fits = {
        "views": views,
        "features": features,
        "view_threshold": view_threshold,
        "ratio": ratio,
        "ratio_lam": ratio_lam,
        "scale": scale,
        "folds": folds,
        "dates": dates,
        "missing": missing,
        "random_state": seed_of(random_state),
    }
    options = {
        **for_fits,
        **named,
        "views": view_groups(views, given.columns),
        "ratio": ratio_option(ratio),
        "methods": None if methods is None else [name.replace("_", "-") for name in methods],
        "metric": metric,
        "level": level,
        "threads": thread_count(threads),
    }
    judged, judged_codes = None, np.zeros(0, dtype=np.int32)
    if truth is not None:
        judged = training_data(checks, X, truth[0]).target
        judged_codes = _truth_codes(truth[1], classes)
        if len(judged_codes) != judged.rows:
            raise ValueError(f"truth has {judged.rows} rows and {len(judged_codes)} classes; give one for each")
    with shown(progress) as callback, refused_as_by_scikit_learn(checks, X, X_target):
        found = _core.compare(
            given.data, given.target, given.names, codes, judged, judged_codes, options, callback
        )
    for part in (given.data, given.target, judged):
        if part is not None:
            warn_of(part)
    data = in_python(json.loads(found))
    command = f"{as_call(estimator_for(data['recommended'], **for_fits))}.fit(X, y, X_target)"
    data["command"] = data["diagnosis"]["recommendation"]["command"] = command
    return Comparison(data, for_fits)
