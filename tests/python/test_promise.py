"""Estimates of any classifier on a target, and prediction sets."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import accuracy_score, f1_score

import covshift


def draw(n, mean, seed, flip=False):
    generator = np.random.default_rng(seed)
    X = generator.normal(mean, 1, size=(n, 2))
    y = (generator.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1] ** 2 - 1))).astype(int)
    return X, np.array(["no", "yes"])[1 - y if flip else y]


@pytest.fixture(scope="module")
def study():
    model = LogisticRegression().fit(*draw(500, 0, 1))
    return model, *draw(800, 0, 2), draw(600, 0.8, 3)[0]


def test_the_certificate_and_sets_of_a_fit():
    X, y = draw(400, 0, 1)
    X_target = draw(400, 0.5, 2)[0]
    X_true, y_true = draw(5000, 0.5, 3)
    model = covshift.RobustClassifier().fit(X, y, X_target)
    certificate = model.certificate_
    p = model.predict_proba(X_true)[np.arange(len(y_true)), (y_true == "yes").astype(int)]
    assert -np.log(p).mean() < certificate.bound < 1.5 * -np.log(p).mean()
    assert certificate.estimate < certificate.bound < certificate.uninformed == pytest.approx(np.log(2))
    assert "with probability 95%" in str(certificate)
    sets = model.predict_set(X_true, alpha=0.1)
    assert sets.shape == (5000, 2) and sets.dtype == bool
    assert sets[np.arange(5000), (y_true == "yes").astype(int)].mean() > 0.87
    for alpha in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match="alpha"):
            model.predict_set(X_true, alpha=alpha)
    abstaining = covshift.RobustClassifier(loss="abstain:0.2").fit(X, y, X_target)
    with pytest.raises(ValueError, match="no prediction sets"):
        abstaining.predict_set(X_true)


def test_intervals_hold_the_truth(study):
    model, X, y, X_target = study
    found = covshift.estimate(model, X, y, X_target, scoring=["f1_macro"])
    X_true, y_true = draw(20000, 0.8, 4)
    truth = {
        "accuracy": accuracy_score(y_true, model.predict(X_true)),
        "f1_macro": f1_score(y_true, model.predict(X_true), average="macro"),
    }
    assert found.can_tell
    for metric, value in truth.items():
        assert found[metric]["low"] <= value <= found[metric]["high"]
    assert found["accuracy"]["method"] == "doubly_robust"
    assert "accuracy" in repr(found) and len(found.to_frame()) == len(found.estimates)
    with pytest.raises(KeyError, match="recall"):
        found["recall"]


def test_scorers_agree_with_weighting(study):
    model, X, y, X_target = study
    found = covshift.estimate(model, X, y, X_target, scoring="accuracy")
    ours = [e for e in found.estimates if e["metric"] == "accuracy" and e["method"] == "weighting"]
    assert len(ours) == 2
    assert ours[0]["value"] == pytest.approx(ours[1]["value"], abs=1e-9)


def test_any_object_with_probabilities(study):
    model, X, y, X_target = study

    class Remote:
        classes_ = np.append(model.classes_, "zzz")  # a class that no labelled row has

        def predict_proba(self, X):
            return np.column_stack([model.predict_proba(X), np.zeros(len(X))])

    found = covshift.estimate(Remote(), X, y, X_target, scoring="accuracy")
    same = covshift.estimate(model, X, y, X_target, scoring="accuracy")
    assert found.estimates[-1] == same.estimates[-1]
    assert found.ratio_p_value == same.ratio_p_value


def test_nothing_is_promised_about_values_that_only_the_target_lacks(study):
    _, X, y, _ = study
    X_target = draw(600, 0.2, 3)[0]
    X_target[::4, 0] = np.nan
    model = covshift.robust(lam=0.01).fit(X, y, X_target)
    assert model.certificate_.bound is None
    assert "25% of the target rows are unlike any labelled row" in str(model.certificate_)


def test_concept(study):
    model, X, y, X_target = study
    same = covshift.estimate(model, X, y, X_target, truth=draw(400, 0.8, 5))
    assert not same.concept["changed"]
    other = covshift.estimate(model, X, y, X_target, truth=draw(400, 0.8, 5, flip=True))
    assert other.concept["changed"] and "P(y|x) has changed" in repr(other)


def test_no_overlap_and_bad_input(study):
    model, X, y, X_target = study
    found = covshift.estimate(model, X, y, X_target + 30, scoring="roc_auc")
    assert not found.can_tell and "cannot be estimated" in repr(found)
    assert found["accuracy"]["value"] is None and found["roc_auc"]["high"] is None
    assert "accuracy" in found.to_frame()["metric"].tolist()
    with pytest.raises(TypeError, match="predict_proba"):
        covshift.estimate(Perceptron().fit(X, y), X, y, X_target)
    with pytest.raises(ValueError, match="maybe"):
        covshift.estimate(model, X, np.where(np.arange(len(y)) == 0, "maybe", y), X_target)
    with pytest.raises(ValueError, match="two target rows"):
        covshift.estimate(model, X, y, X_target[:1])
    with pytest.raises(ValueError, match="level"):
        covshift.estimate(model, X, y, X_target, level=1.5)


@pytest.mark.parametrize("cv", [5, "prefit"])
def test_sets_cover_the_target(study, cv):
    model, X, y, X_target = study
    sets = covshift.ConformalClassifier(model, cv=cv).fit(X, y, X_target)
    X_true, y_true = draw(5000, 0.8, 6)
    inside = sets.predict_set(X_true, alpha=0.1)
    covered = inside[np.arange(len(y_true)), (y_true == "yes").astype(int)].mean()
    assert 0.87 < covered < 0.97
    assert inside.any(axis=1).all()
    # A row without support holds every class.
    assert sets.predict_set(np.array([[40.0, 40.0]]), alpha=0.1).all()
    assert (sets.predict(X) == sets.estimator_.predict(X)).all()


def test_sets_of_our_own_classifier(study):
    _, X, y, X_target = study
    model = covshift.robust(lam=0.01)
    sets = covshift.ConformalClassifier(model).fit(X, y, X_target)
    alone = covshift.robust(lam=0.01).fit(X, y, X_target)
    assert np.allclose(sets.predict_proba(X), alone.predict_proba(X))
    X_true, y_true = draw(5000, 0.8, 7)
    inside = sets.predict_set(X_true, alpha=0.1)
    assert inside[np.arange(len(y_true)), (y_true == "yes").astype(int)].mean() > 0.86


def test_sets_refuse_bad_input(study):
    model, X, y, X_target = study
    sets = covshift.ConformalClassifier(model, cv="prefit").fit(X, y, X_target)
    for alpha in (0, 1, -0.1, float("nan")):
        with pytest.raises(ValueError, match="alpha"):
            sets.predict_set(X, alpha)
    with pytest.raises(TypeError, match="predict_proba"):
        covshift.ConformalClassifier(Perceptron()).fit(X, y, X_target)


class Broken(LogisticRegression):
    """Predicts what ``change`` makes of the probabilities."""

    def __init__(self, change=None):
        super().__init__()
        self.change = change

    def predict_proba(self, X):
        return self.change(super().predict_proba(X))


def missing(p):
    p[3, 1] = np.nan
    return p


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (missing, r"the probabilities that Broken predicts are \[0\.\d+, nan\] in row 4; they must be numbers"),
        (lambda p: p[:, 1], r"have the shape \(\d+,\); there must be a column for each of 2 classes"),
    ],
)
def test_predictions_that_are_no_probabilities(study, change, message):
    _, X, y, X_target = study
    model = Broken(change).fit(X, y)
    for judge in (
        lambda: covshift.estimate(model, X, y, X_target),
        lambda: covshift.ConformalClassifier(model, cv="prefit").fit(X, y, X_target),
    ):
        with pytest.raises(ValueError, match=message):
            judge()
    sets = covshift.ConformalClassifier(LogisticRegression().fit(X, y), cv="prefit").fit(X, y, X_target)
    sets.estimator_ = model
    with pytest.raises(ValueError, match=message):
        sets.predict_set(X_target)
