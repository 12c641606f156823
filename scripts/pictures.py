"""Draws the pictures of README and site into docs/pictures, with the installed package and matplotlib.

    python scripts/pictures.py
"""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

import covshift  # noqa: E402

FOLDER = Path(__file__).resolve().parents[1] / "docs/pictures"
COLORS = matplotlib.colors.LinearSegmentedColormap.from_list("classes", ["#c2552d", "#f6f4f0", "#2f6db3"])


def curved(X):
    """Log odds whose boundary looks straight from the left and bends on the right."""
    return 4 * (X[:, 1] - 0.25 * np.maximum(0, X[:, 0] + 1) ** 2)


def saturating(X):
    """Log odds in which the first input counts only as far as training rows go, the second everywhere."""
    return 3 * X[:, 1] + 3 * np.minimum(X[:, 0] + 2, 0.5)


def sample(rng, mean, cov, n, odds):
    """Inputs from a Gaussian, classes from one P(y|x) for all samples."""
    X = rng.multivariate_normal(mean, cov, n)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds(X)))).astype(int)


def note(model, X, y):
    p = model.predict_proba(X)
    loss = -np.log2(p[np.arange(len(p)), y]).mean()
    return f"on the target {p.max(axis=1).mean():.0%} sure, {model.score(X, y):.0%} right: {loss:.2f} bits"


def save(figure, name):
    """As a PNG of 64 colours: a third of the size, and no difference to be seen."""
    figure.savefig(FOLDER / name, dpi=130)
    with Image.open(FOLDER / name) as picture:
        picture.convert("RGB").quantize(64).save(FOLDER / name, optimize=True)


def panel(ax, model, X, y, X_target, title, note):
    x1, x2 = np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-4, 4, 160))
    if model is not None:
        p = model.predict_proba(np.column_stack([x1.ravel(), x2.ravel()]))[:, 1].reshape(x1.shape)
        ax.imshow(p, extent=(-5, 5, -4, 4), origin="lower", cmap=COLORS, vmin=0, vmax=1, aspect="auto", alpha=0.9)
        ax.contour(x1, x2, p, levels=[0.5], colors="#333", linewidths=1)
    ax.scatter(*X_target.T, s=9, facecolors="none", edgecolors="#555", linewidths=0.6, label="target, no labels")
    for k, color, marker in ((0, "#8f3413", "o"), (1, "#1d4c86", "^")):
        ax.scatter(*X[y == k].T, s=12, color=color, marker=marker, linewidths=0, label=f"training, class {k + 1}")
    ax.set(xlim=(-5, 5), ylim=(-4, 4), xticks=[], yticks=[])
    ax.set_title(title, fontsize=11, loc="left")
    ax.text(0, -0.05, note, transform=ax.transAxes, fontsize=9.5, va="top")


def shift():
    rng = np.random.default_rng(3)
    cov = [[1.0, 0.4], [0.4, 0.8]]
    X, y = sample(rng, [-2, -0.2], cov, 150, curved)
    X_target, y_target = sample(rng, [1.6, 0.4], cov, 150, curved)
    plain, robust = covshift.lr().fit(X, y), covshift.robust().fit(X, y, X_target)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
    panel(axes[0], None, X, y, X_target, "The data", "training rows have labels, the target has none")
    axes[0].legend(fontsize=8, loc="upper left", frameon=False)
    panel(axes[1], plain, X, y, X_target, "Logistic regression", note(plain, X_target, y_target))
    panel(axes[2], robust, X, y, X_target, "Robust classifier", note(robust, X_target, y_target))
    save(figure, "shift.png")


def views():
    rng = np.random.default_rng(0)
    cov = [[0.5, 0.0], [0.0, 1.2]]
    X, y = sample(rng, [-2, 0], cov, 150, saturating)
    X_target, y_target = sample(rng, [2, 0], cov, 150, saturating)
    plain, trusting = covshift.lr().fit(X, y), covshift.robust_view(views="each").fit(X, y, X_target)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.7), layout="constrained")
    panel(axes[0], plain, X, y, X_target, "Logistic regression", note(plain, X_target, y_target))
    panel(axes[1], trusting, X, y, X_target, "robust-view", note(trusting, X_target, y_target))
    axes[0].legend(fontsize=8, loc="lower left", framealpha=0.8)
    save(figure, "views.png")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    shift()
    views()
