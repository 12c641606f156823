"""scikit-learn compatibility: its checks, pipelines, searches, calibration."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before importing SciPy, so no check is skipped

import numpy as np
import pytest
import scipy.sparse as sp
import shifted_estimators as own
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import covshift

ESTIMATORS = [
    # Every loss and every bias; with a target below.
    covshift.RobustClassifier(),
    covshift.RobustClassifier(bias="test"),
    covshift.RobustClassifier(bias="none"),
    covshift.RobustClassifier(loss="zero-one"),
    covshift.RobustClassifier(loss="absolute"),
    covshift.RobustClassifier(loss="squared"),
    covshift.RobustClassifier(loss="hinge"),
    covshift.RobustClassifier(loss="abstain:0.3"),
    covshift.adv01(bias="none"),
    covshift.svm(lam=0.01, class_weight="balanced"),
    covshift.LogisticRatio(),
    covshift.ULSIF(),
    covshift.KLIEP(),
    covshift.KMM(),
    covshift.GaussianRatio(),
    own.ShiftedClassifier(),
    own.ShiftedClassifier(generalize="test", ratio="ulsif", scale="standard"),
    own.ShiftedClassifier(loss="squared", generalize="overlap", scale="unit"),
    own.ShiftedLogistic(),
    own.ShiftedULSIF(),
    own.ShiftedKLIEP(kernel_width=100.0),  # some checks have data far from the target
    own.ShiftedKMM(),
    own.ShiftedGaussian(),
]


# Beside the classes, predict returns abstain_ and predict_proba has a column for it.
ABSTAINING = dict.fromkeys(
    ["check_estimator_sparse_array", "check_estimator_sparse_matrix", "check_classifiers_train"],
    "there is one more action than there are classes",
)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator):
    expected = ABSTAINING if "abstain" in str(getattr(estimator, "loss", "")) else {}
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip="warn", on_fail="raise")
    assert len(results) > 40
    assert {r["check_name"] for r in results if r["status"] != "passed"} == set(expected)


@pytest.mark.parametrize("estimator", [own.ShiftedLogistic(), own.ShiftedULSIF(), own.ShiftedKLIEP(),
                                       own.ShiftedKMM(), own.ShiftedGaussian()], ids=repr)
def test_weight_two_equals_the_row_twice(estimator):
    rng = np.random.RandomState(1)
    X = rng.rand(40, 3)
    weight = rng.randint(0, 4, size=40)
    a = clone(estimator).fit(X, sample_weight=weight).log_ratio(X)
    b = clone(estimator).fit(np.repeat(X, weight, axis=0)).log_ratio(X)
    assert np.ptp(a) > 0.01  # the ratio is not constant: the weights matter
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_in_a_pipeline(shifted):
    X, y, X_target, _ = shifted
    with sklearn.config_context(enable_metadata_routing=True):
        last = covshift.robust(scale="none", lam=0.01).set_fit_request(X_target=True)
        pipeline = make_pipeline(StandardScaler(), last, transform_input=["X_target"])
        pipeline.fit(X, y, X_target=X_target)
    scaler = StandardScaler().fit(X)
    by_hand = covshift.robust(scale="none", lam=0.01)
    by_hand.fit(scaler.transform(X), y, scaler.transform(X_target))
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), by_hand.predict_proba(scaler.transform(X))
    )


def test_grid_search_routes_target_and_weights(shifted):
    X, y, X_target, _ = shifted
    # As long as X: scikit-learn would split a plain array of this length into folds.
    target = X_target[np.arange(len(X)) % len(X_target)]
    weight = np.random.default_rng(1).integers(1, 3, size=len(X)).astype(float)
    seen = []

    class Spy(covshift.RobustClassifier):
        def fit(self, X, y, X_target=None, sample_weight=None):
            seen.append((len(X), X_target.shape[0], len(sample_weight)))
            return super().fit(X, y, X_target=X_target, sample_weight=sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        spy = Spy(lam=0.01, ratio_lam=0.01).set_fit_request(X_target=True, sample_weight=True)
        spy.set_score_request(sample_weight=True)
        search = GridSearchCV(spy, {"generalize": ["train", "test"]}, cv=3)
        search.fit(X, y, X_target=covshift.Target(target), sample_weight=weight)
    assert seen == [(100, 150, 100)] * 6 + [(150, 150, 150)]
    assert search.best_params_["generalize"] in ("train", "test")


def test_calibration(shifted):
    X, y, X_target, y_target = shifted
    for method in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(covshift.RobustClassifier(lam=0.01), method=method, cv=3)
        p = model.fit(X, y).predict_proba(X_target)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert model.score(X_target, y_target) > 0.7
    with sklearn.config_context(enable_metadata_routing=True):
        inner = covshift.robust(lam=0.01, ratio_lam=0.01).set_fit_request(X_target=True)
        model = CalibratedClassifierCV(inner, cv=3)
        model.fit(X, y, X_target=covshift.Target(X_target))
    assert model.calibrated_classifiers_[0].estimator.effective_sample_size_ < 100


def test_importance_weighted_scorer(shifted):
    X, y, X_target, y_target = shifted
    ratio = covshift.LogisticRatio().fit(X, X_target)
    model = covshift.lr(lam=0.01).fit(X, y)
    right = model.predict(X) == y
    w = ratio.weights(X)
    scorer = covshift.importance_weighted_scorer("accuracy", ratio)
    assert scorer(model, X, y) == pytest.approx((w * right).sum() / w.sum())
    plain = covshift.importance_weighted_scorer("accuracy", ratio, normalize=False)
    assert plain(model, X, y) == pytest.approx((w * right).mean())
    twice = np.full(len(y), 2.0)
    assert scorer(model, X, y, sample_weight=twice) == pytest.approx(scorer(model, X, y))
    assert plain(model, X, y, sample_weight=twice) == pytest.approx(plain(model, X, y))
    scores = cross_val_score(covshift.lr(lam=0.01), X, y, scoring=scorer, cv=3)
    assert scores.shape == (3,) and (scores > 0.7).all()
    search = GridSearchCV(covshift.lr(), {"lam": [1.0, 0.01]}, scoring=scorer, cv=3).fit(X, y)
    assert search.best_params_["lam"] in (1.0, 0.01)
    with pytest.raises(TypeError, match=r"LogisticRatio\(\)\.fit"):
        covshift.importance_weighted_scorer("accuracy", "logistic")
    with pytest.raises(TypeError, match=r"LogisticRatio\(\)\.fit"):
        covshift.importance_weighted_scorer("accuracy", covshift.LogisticRatio)
    with pytest.raises(NotFittedError):
        covshift.importance_weighted_scorer("accuracy", covshift.LogisticRatio())


def test_target_is_not_split(shifted):
    X_target = shifted[2]
    for X in (X_target, X_target.tolist(), sp.csr_array(X_target)):
        target = covshift.Target(X)
        assert target.shape == X_target.shape and target[:3] is target
        np.testing.assert_array_equal(np.asarray(target), X_target)
        with pytest.raises(TypeError, match="iter"):
            list(target)


def test_options_of_a_nested_ratio(shifted):
    X, y, X_target, _ = shifted
    model = covshift.RobustClassifier(lam=0.01, ratio=covshift.KMM(bound=3.0, kernel_width=1.0))
    assert model.get_params()["ratio__bound"] == 3.0
    model.set_params(ratio__bound=2.0).fit(X, y, X_target)
    assert model.log_ratio(X).max() <= np.log(2.0) + 1e-12
    alone = covshift.KMM(bound=2.0, kernel_width=1.0).fit(X, X_target)
    np.testing.assert_array_equal(alone.log_ratio(X), model.log_ratio(X))


def test_not_fitted():
    with pytest.raises(NotFittedError):
        covshift.RobustClassifier().predict([[0.0]])
    with pytest.raises(NotFittedError):
        covshift.ULSIF().log_ratio([[0.0]])
