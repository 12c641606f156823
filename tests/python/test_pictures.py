"""Plots show their data; examples and code in the documentation run."""

import doctest
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import covshift
import covshift.plot

PROJECT = pathlib.Path(__file__).parents[2]
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def two(shifted):
    X, y, X_target, _ = shifted
    model = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01).fit(X[:, :2], y, X_target[:, :2])
    return model, X[:, :2], y, X_target[:, :2]


def test_decision_map(two):
    model, X, y, X_target = two
    ax = covshift.plot.decision_map(model, X, y, X_target=X_target, resolution=40)
    image = ax.images[0].get_array()
    assert image.shape == (40, 40, 3) and image.min() < 0.75  # certain somewhere
    assert {t.get_text() for t in ax.get_legend().get_texts()} == {"0", "1", "target"}
    frame = pd.DataFrame(X, columns=["one", "two"])
    named = covshift.lr(lam=0.01).fit(frame, y)
    assert covshift.plot.decision_map(named, frame, resolution=20).get_xlabel() == "one"
    classes = np.digitize(X[:, 0], [-0.5, 0.5])  # three, and two actions
    few = covshift.lr(loss=[[0, 1, 1], [1, 0, 0]], lam=0.01).fit(X, classes)
    legend = covshift.plot.decision_map(few, X, classes, resolution=20).get_legend()
    assert {t.get_text() for t in legend.get_texts()} == {"0", "1", "2"}
    with pytest.raises(ValueError, match="two features"):
        covshift.plot.decision_map(model, np.zeros((3, 4)))


def test_weight_histogram(two):
    model, X, _, _ = two
    ax = covshift.plot.weight_histogram(model, X)
    assert sum(p.get_height() for p in ax.patches) == len(X)
    assert f"{model.effective_sample_size_:.1f} of 150" in ax.get_title()


def test_view_bars(shifted):
    X, y, X_target, _ = shifted
    model = covshift.robust_view(views="each", lam=0.1, ratio_lam=0.01).fit(X, y, X_target)
    ax = covshift.plot.view_bars(model)
    assert sorted(p.get_width() for p in ax.patches) == pytest.approx(
        sorted(max(v.kl, 0) for v in model.views_)
    )


def test_a_diagnosis_shows_the_number_it_names(shifted):
    X, _, X_target, _ = shifted
    spread = X_target.copy()
    spread[:, 3] = np.where(spread[:, 3] > 0, 2.0, -2.0)  # the mean hardly moves: the ratio misses it
    found = covshift.diagnose(X, spread, permutations=19)
    kl = {v["name"]: v["kl"] for v in found.views}
    binned = {v["name"]: v["kl_binned"] for v in found.views}
    assert binned["c4"] > kl["c4"] + 0.1
    ax = found.plot()
    assert sorted(p.get_width() for p in ax.patches) == pytest.approx(sorted(kl.values()))
    dots = dict(zip(ax.lines[0].get_ydata(), ax.lines[0].get_xdata()))
    assert dots == pytest.approx({name: binned[name] for name in kl if binned[name] > kl[name]})
    rows = {line.split()[0]: line.split()[1:3] for line in repr(found).splitlines() if "  c" in line}
    assert rows == {name: [f"{kl[name]:.4f}", f"{binned[name]:.4f}"] for name in kl}
    for name in kl:
        assert f"<td>{name}</td><td>{kl[name]:.4f}</td><td>{binned[name]:.4f}</td>" in found._repr_html_()
    frame = found.to_frame()
    assert dict(frame["kl"]) == kl and dict(frame["kl_binned"]) == binned


def test_intervals(shifted):
    X, y, X_target, _ = shifted
    found = covshift.estimate(covshift.lr(lam=0.1).fit(X[:75], y[:75]), X[75:], y[75:], X_target)
    ax = found.plot()
    assert len(ax.lines) == len(found.estimates) + 1
    assert list(ax.lines[-1].get_xdata()) == [e["value"] for e in found.estimates[::-1]]


def test_reliability():
    p = np.array([[0.9, 0.1]] * 10 + [[0.4, 0.6]] * 10)
    y = np.array([0] * 9 + [1] + [1] * 5 + [0] * 5)
    ax = covshift.plot.reliability(y, p, bins=2)
    x, share = ax.lines[1].get_data()
    np.testing.assert_allclose(x, [0.6, 0.9])
    np.testing.assert_allclose(share, [0.5, 0.9])
    with pytest.raises(ValueError, match="predict_proba"):
        covshift.plot.reliability(y, p[:, :1])


@pytest.mark.parametrize("module", ["covshift", "covshift.plot", "covshift.dask", "covshift.stream", *(
    f"covshift.{name}" for name in ("_classifier", "_compare", "_diagnose", "_methods", "_promise", "_ratio",
                                    "_results", "_sampling", "_scoring"))])
def test_doctests(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0


def test_public_functions_have_examples():
    """Each function and estimator; classes that functions return are shown by these."""
    finder = doctest.DocTestFinder(recurse=False)
    for name in covshift.__all__:
        thing = getattr(covshift, name)
        made = inspect.isclass(thing) and not hasattr(thing, "fit") and thing is not covshift.Target
        if name.startswith("__") or made or thing in (covshift.DensityRatio,) or _is_method(thing):
            continue
        assert any(test.examples for test in finder.find(thing)), name


def _is_method(thing):
    return "Takes the options of :class:`RobustClassifier`" in (thing.__doc__ or "")


def test_there_are_five_examples():
    assert len(EXAMPLES) == 5


def run(path, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(path)], cwd=folder, capture_output=True,
        text=True, timeout=300, env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES[1:], ids=lambda p: p.name)
def test_example(path, tmp_path):
    shown = run(path, tmp_path)
    assert len(shown) > 60 and "nan" not in shown


def test_the_first_example_ends_with_what_it_announces(tmp_path):
    shown = run(EXAMPLES[0], tmp_path)
    plain, robust = map(float, re.search(r"mean +([\d.]+)% +([\d.]+)%", shown).groups())
    assert 9 < plain < 11 and 5.5 < robust < 7  # one in ten, one in sixteen
    assert "the promise holds" in shown.splitlines()[-1]
