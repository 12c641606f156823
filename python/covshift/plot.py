"""Plots with matplotlib. Each function draws into ``ax`` (by default a new one) and returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._options import documented
from ._typing import Data, HasPredictions, Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._classifier import RobustClassifier
    from ._compare import Comparison
    from ._diagnose import Diagnosis
    from ._promise import TargetPerformance
    from ._ratio import DensityRatio


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("covshift.plot needs matplotlib: pip install covshift[plot]") from error
    return plt.subplots(constrained_layout=True)[1]


@documented
def decision_map(
    model: HasPredictions,
    X: Data,
    y: Labels | None = None,
    *,
    X_target: Data | None = None,
    resolution: int = 150,
    ax: Axes | None = None,
) -> Axes:
    """The largest probability of a model of two features over the plane, and the data.

    Pale colours mean uncertainty. Lines separate predictions.

    Parameters
    ----------
    model : fitted classifier of two features
        Of any package, with ``predict_proba``.
    X : array-like of shape (n_samples, 2)
        Rows to show.
    y : array-like of shape (n_samples,), default=None
        Their classes, shown as colours.
    X_target : array-like of shape (n_target, 2), default=None
        Rows of the target to show.
    resolution : int, default=150
        Cells along each axis.
    {ax}

    Examples
    --------
    >>> import covshift, covshift.plot
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = covshift.lr(lam=0.1).fit(X, X[:, 0] > 0)
    >>> covshift.plot.decision_map(model, X, X[:, 0] > 0, resolution=20)
    <Axes: >
    """
    ax = _axes(ax)
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"a decision map needs two features, not {X.shape[-1]}; fit on two columns")
    both = X if X_target is None else np.vstack([X, np.asarray(X_target, dtype=float)])
    low, high = both.min(axis=0), both.max(axis=0)
    margin = 0.08 * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[k] - margin[k], high[k] + margin[k], resolution) for k in range(2)]
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    points = grid.reshape(-1, 2)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        import pandas

        points = pandas.DataFrame(points, columns=list(names))
    p = model.predict_proba(points)
    shape = grid.shape[:2]
    best = p.argmax(axis=1).reshape(shape)
    colours = [f"C{k}" for k in range(max(p.shape[1], len(model.classes_)))]
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(c) for c in colours])
    sure = (p.max(axis=1) - 1 / p.shape[1]) / (1 - 1 / p.shape[1])
    image = 1 - 0.7 * sure[:, None] * (1 - rgb[p.argmax(axis=1)])
    ax.imshow(
        image.reshape(*shape, 3).clip(0, 1),
        extent=(axes[0][0], axes[0][-1], axes[1][0], axes[1][-1]),
        origin="lower",
        aspect="auto",
    )
    if best.min() < best.max():
        levels = np.arange(p.shape[1] - 1) + 0.5
        ax.contour(*axes, best, levels=levels, colors="0.4", linewidths=0.8)
    if X_target is not None:
        ax.scatter(*np.asarray(X_target, dtype=float).T, s=12, c="0.25", marker="x", label="target")
    if y is not None:
        for k, label in enumerate(model.classes_):
            rows = np.asarray(y) == label
            ax.scatter(*X[rows].T, s=16, c=colours[k], edgecolors="k", linewidths=0.4, label=str(label))
    else:
        ax.scatter(*X.T, s=16, c="k", label="training")
    ax.legend(fontsize="small")
    if names is not None:
        ax.set_xlabel(str(names[0]))
        ax.set_ylabel(str(names[1]))
    return ax


@documented
def weight_histogram(
    model: RobustClassifier | DensityRatio, X: Data, *, bins: int = 30, ax: Axes | None = None
) -> Axes:
    """How the training rows' weights P_target/P_train are spread, on a logarithmic axis.

    Parameters
    ----------
    model : fitted RobustClassifier or density ratio
        Fitted with a target.
    X : as it was fitted to
        The training rows.
    bins : int, default=30
        Bars.
    {ax}
    """
    ax = _axes(ax)
    log_ratio = model.log_ratio(X)
    size = getattr(model, "effective_sample_size_", None)  # a classifier bounds its weights
    if size is None:
        w = np.exp(log_ratio - log_ratio.max())
        size = w.sum() ** 2 / (w**2).sum()
    ax.hist(log_ratio / np.log(10), bins=bins, color="C0")
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_xlabel("log10 of the weight, P_target/P_train")
    ax.set_ylabel("training rows")
    ax.set_title(f"effective sample size {size:.1f} of {len(log_ratio)}", fontsize="medium")
    return ax


@documented
def view_bars(
    model: RobustClassifier | Diagnosis,
    *,
    threshold: float | None = None,
    most: int = 25,
    ax: Axes | None = None,
) -> Axes:
    """The symmetric KL divergence of each view; trusted (stable) views in a different colour.

    Of a diagnosis, a dot marks the binned KL where it is larger: a change that the density ratio does
    not see, for which a view is not stable either.

    Parameters
    ----------
    model : fitted RobustClassifier or Diagnosis
        What has views.
    threshold : float, default=None
        A line to draw; None is the threshold that the model or the diagnosis used.
    most : int, default=25
        Number of views to show, those that shifted most.
    {ax}
    """
    ax = _axes(ax)
    views: list[tuple[str, float, bool, float]]  # name, KL, stable, binned KL
    if hasattr(model, "views_"):
        views = [(v.name, v.kl, v.generalized, 0.0) for v in model.views_]
    else:
        views = [(v["name"], v["kl"], v["stable"], v["kl_binned"]) for v in model.views]
    threshold = getattr(model, "view_threshold", None) if threshold is None else threshold
    # The KL of a view is nan where no density ratio was needed; max(0, nan) is 0.
    views = sorted(views, key=lambda v: max(v[3], v[1]))[-most:]
    ax.barh(
        [v[0] for v in views],
        [max(0.0, v[1]) for v in views],
        color=["C2" if v[2] else "C1" for v in views],
    )
    hidden = [v for v in views if v[3] > v[1]]
    if hidden:
        ax.plot([v[3] for v in hidden], [v[0] for v in hidden], "o", color="0.3", label="binned KL")
        ax.legend(fontsize="small")
    if threshold is not None:
        ax.axvline(threshold, color="0.3", linewidth=0.8, linestyle="--")
    ax.set_xlabel("symmetric KL between training and target")
    return ax


@documented
def reliability(
    y: Labels,
    probabilities: Labels,
    *,
    classes: Sequence[Any] | None = None,
    bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """How often predictions of a given confidence are right; calibrated ones lie on the diagonal.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    probabilities : array-like of shape (n_samples, n_classes)
        Those of ``predict_proba``.
    classes : sequence, default=None
        Names of the columns of ``probabilities``; None means the sorted classes of ``y``.
    bins : int, default=10
        Points; each stands for the same number of rows.
    {ax}
    """
    ax = _axes(ax)
    p = np.asarray(probabilities, dtype=float)
    y = np.asarray(y)
    classes = np.unique(y) if classes is None else np.asarray(classes)
    if p.ndim != 2 or len(p) != len(y) or p.shape[1] != len(classes):
        raise ValueError(
            f"probabilities of shape {p.shape} for {len(y)} rows and {len(classes)} classes; "
            "give predict_proba(X) and classes=model.actions_"
        )
    confidence = p.max(axis=1)
    right = classes[p.argmax(axis=1)] == y
    order = np.argsort(confidence, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, len(y))) if len(part)]
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ax.plot(
        [confidence[part].mean() for part in parts], [right[part].mean() for part in parts], "o-"
    )
    ax.set_xlabel("confidence")
    ax.set_ylabel("share that is right")
    ax.set_xlim(0, 1.02)
    ax.set_ylim(-0.02, 1.02)
    return ax


@documented
def intervals(found: TargetPerformance, *, ax: Axes | None = None) -> Axes:
    """The estimates of :func:`covshift.estimate`, each with its interval.

    Parameters
    ----------
    found : TargetPerformance
        The result.
    {ax}
    """
    ax = _axes(ax)
    rows = found.estimates[::-1] if found.can_tell else []
    names = [f"{e['metric']} ({e['method'].replace('_', ' ')})" for e in rows]
    for name, e in zip(names, rows):
        ax.plot([e["low"], e["high"]], [name, name], color="C0")
    ax.plot([e["value"] for e in rows], names, "o", color="C0")
    ax.set_xlabel("on the target: estimate and interval")
    return ax


_METRICS = {"brier": "Brier score", "error": "share of wrong answers", "log-loss": "log loss (nats)"}


@documented
def scores(
    found: Comparison,
    *,
    metric: Literal["brier", "error", "log-loss"] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The methods of :func:`covshift.compare`, the best at the top, with 95% intervals.

    The method to use is green. Scores that mean nothing, because too few rows resemble the target, are
    grey. A method without a finite score is left out.

    Parameters
    ----------
    found : Comparison
        The result.
    metric : {"brier", "error", "log-loss"}, default=None
        What to show; None is the metric that decided.
    {ax}
    """
    ax = _axes(ax)
    metric_name = found.metric if metric is None else metric
    column = metric_name.replace("-", "_")
    table = found.to_frame()
    table = table[np.isfinite(table[column])].sort_values(column, ascending=False, kind="stable")
    for name, row in table.iterrows():
        colour = "C2" if name == found.recommended else "C0"
        ax.errorbar(
            row[column], str(name), xerr=1.96 * row[f"{column}_se"], fmt="o",
            color=colour if row["reliable"] else "0.6",
        )
    where = "labelled target rows" if found.judged_by == "truth" else "the target, estimated"
    ax.set_xlabel(f"{_METRICS[metric_name]} on {where}; 95% intervals")
    return ax
