"""Plots with matplotlib. Each function draws into ``ax`` (by default a new one) and returns it."""

from __future__ import annotations

import numpy as np


def _axes(ax):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("covshift.plot needs matplotlib: pip install covshift[plot]") from error
    return plt.subplots(constrained_layout=True)[1]


def decision_map(model, X, y=None, *, X_target=None, resolution: int = 150, ax=None):
    """The largest probability of a model of two features over the plane, and the data.

    Pale colours mean uncertainty. Lines separate predictions.
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


def weight_histogram(model, X, *, bins=30, ax=None):
    """How the training rows' weights P_target/P_train are spread, on a logarithmic axis.

    ``model`` is a classifier or a density ratio, ``X`` its training data.
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


def view_bars(model, *, threshold: float | None = None, most: int = 25, ax=None):
    """The symmetric KL divergence of each view; trusted (stable) views in a different colour.

    ``model`` is a fitted classifier or a :class:`~covshift.Diagnosis`.
    """
    ax = _axes(ax)
    if hasattr(model, "views_"):
        views = [(v.name, v.kl, v.generalized) for v in model.views_]
        threshold = getattr(model, "view_threshold", None) if threshold is None else threshold
    else:
        views = [(v["name"], max(v["kl"], v["kl_binned"]), v["stable"]) for v in model.views]
        threshold = model.view_threshold if threshold is None else threshold
    views = sorted(views, key=lambda v: v[1])[-most:]
    ax.barh(
        [v[0] for v in views],
        [max(v[1], 0.0) for v in views],
        color=["C2" if v[2] else "C1" for v in views],
    )
    if threshold is not None:
        ax.axvline(threshold, color="0.3", linewidth=0.8, linestyle="--")
    ax.set_xlabel("symmetric KL between training and target")
    return ax


def reliability(y, probabilities, *, classes=None, bins: int = 10, ax=None):
    """How often predictions of a given confidence are right; calibrated ones lie on the diagonal.

    ``probabilities`` are ``predict_proba``'s for the rows with the true classes ``y``; ``classes`` names
    their columns (default: the sorted classes of ``y``). Bins hold equal numbers of rows.
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
