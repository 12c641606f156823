"""Feature maps, overlapping views and densities of views in the Python package."""

import numpy as np
import pandas as pd
import pytest

import covshift


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = ((X[:, :2] ** 2).sum(axis=1) + 0.3 * rng.normal(size=400) > 1.4).astype(int)
    return X[:200], y[:200], X[200:] + [0.4, 0, 0], y[200:]


@pytest.mark.parametrize(
    "features", ["quadratic", "splines:5", "fourier:60", "nystroem:60", "linear + nystroem:40", "auto"]
)
def test_a_map_sees_what_columns_do_not(rings, features, tmp_path):
    X, y, X_target, _ = rings
    linear = covshift.RobustClassifier(generalize="test").fit(X, y, X_target)
    mapped = covshift.RobustClassifier(generalize="test", features=features).fit(X, y, X_target)
    assert mapped.score(X, y) > linear.score(X, y) + 0.1
    assert mapped.coef_scaled_.shape == (2, len(mapped.feature_names_))
    p = mapped.predict_proba(X_target)
    np.testing.assert_array_equal(p[:5], [mapped.predict_proba(x[None])[0] for x in X_target[:5]])
    mapped.save(tmp_path / "model.json")
    np.testing.assert_array_equal(
        covshift.RobustClassifier.load(tmp_path / "model.json").predict_proba(X_target), p
    )


def test_names_of_features(rings):
    X, y, X_target, _ = rings
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    target = pd.DataFrame(X_target, columns=["a", "b", "c"])
    model = covshift.RobustClassifier(
        views={"pair": {"columns": ["a", "b"], "features": "quadratic"}, "too": ["b", "c"]}, features="linear"
    ).fit(frame, y, target)
    assert model.feature_names_ == ["a", "b", "a^2", "a*b", "b^2", "b", "c"]
    assert [(v.name, v.features, v.maps) for v in model.views_] == [
        ("pair", ["a", "b"], "quadratic"),
        ("too", ["b", "c"], "linear"),
    ]
    assert covshift.RobustClassifier(features="linear").fit(frame, y, target).feature_names_ == ["a", "b", "c"]


def test_densities_of_a_view(rings):
    X, y, X_target, _ = rings
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(r=np.exp(0.4 * X[:, 0]))
    target = pd.DataFrame(X_target, columns=["a", "b", "c"]).assign(r=np.exp(0.4 * X_target[:, 0]))
    model = covshift.RobustClassifier(
        generalize="views", views="each", generalized_views=["a"], ratio="logistic,a=column:r"
    ).fit(frame, y, target)
    assert model.feature_names_ == ["a", "b", "c"]
    assert model.predict_proba(target).shape == (200, 2)
    with pytest.raises(ValueError, match="r"):
        model.predict_proba(target.drop(columns="r"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": "nystrom"}, "did you mean 'nystroem'"),
        ({"features": "fourier:0"}, "whole number from 1"),
        ({"views": {"a": {"features": "linear"}}}, "must have 'columns'"),
        ({"views": {"a": {"columns": [0], "features": "spline"}}}, "did you mean 'splines'"),
        ({"ratio": "logistic,nose=column:x"}, "named columns"),
    ],
)
def test_bad_input(rings, arguments, message):
    X, y, X_target, _ = rings
    with pytest.raises(ValueError, match=message):
        covshift.RobustClassifier(**arguments).fit(X, y, X_target)


def test_maps_larger_than_the_rows_constant_views_and_one_row(rings):
    X, y, X_target, _ = rings
    few = [*range(15), *np.flatnonzero(y == 0)[:3], *np.flatnonzero(y == 1)[:3]]
    for features in ("nystroem:500", "fourier:50", "splines:50"):
        model = covshift.RobustClassifier(features=features, lam=0.01).fit(X[few], y[few], X_target[:1])
        assert np.isfinite(model.predict_proba(X_target[:1])).all()
    flat = np.c_[X, np.full(len(X), 7.0)]
    views = {"flat": {"columns": [X.shape[1]], "features": "nystroem:20"}, "rest": list(range(X.shape[1]))}
    own = covshift.robust(views=views, lam=0.01).fit(flat, y, flat[:50])
    rest = covshift.robust(lam=0.01).fit(X, y, X[:50])
    np.testing.assert_allclose(own.predict_proba(flat), rest.predict_proba(X), atol=1e-4)


def test_scores_are_those_of_scikit_learns_transformers(rings):
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, X_target, y_target = rings
    width = 2.0
    for ours, theirs in (
        (f"nystroem:100:{width}", Nystroem(gamma=1 / (2 * width**2), n_components=100, random_state=0)),
        (f"fourier:200:{width}", RBFSampler(gamma=1 / (2 * width**2), n_components=200, random_state=0)),
    ):
        peer = make_pipeline(StandardScaler(), theirs, LogisticRegression(C=100)).fit(X, y)
        own = covshift.RobustClassifier(features=ours, lam=1e-4).fit(X, y)
        assert abs(own.score(X_target, y_target) - peer.score(X_target, y_target)) < 0.06
