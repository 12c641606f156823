"""Estimates of any classifier on a target, and prediction sets."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
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


def test_class_weights_are_costs_and_nothing_is_promised():
    X, y = draw(400, 0, 1)
    X_target = draw(400, 0.5, 2)[0]
    model = covshift.robust(class_weight="balanced").fit(X, y, X_target, sample_weight=np.arange(400) % 3 + 1)
    assert model.certificate_.bound is None and "factors of classes" in model.certificate_.reason
    with pytest.warns(UserWarning, match="factors of classes"):
        model.predict_set(X_target)
    for alpha in (None, "0.1"):
        with pytest.raises(TypeError, match="alpha must be a number"):
            model.predict_set(X_target, alpha=alpha)


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


def spot(n, generator):
    """Half of the rows in a narrow spot, which no ratio of squares and products describes."""
    rows = generator.normal(size=(n, 2))
    here = generator.random((n, 1)) < 0.5
    return np.where(here, generator.normal(size=(n, 2)) * 0.1 + 1.5, rows)


def test_sets_warn_where_the_ratio_is_rejected():
    generator = np.random.default_rng(0)
    X, y = draw(600, 0, 1)
    sets = covshift.ConformalClassifier(LogisticRegression(), threads=1).fit(X, y, spot(600, generator))
    assert sets.ratio_p_value_ < 0.05
    said = r"hold the true class in less than 80% of the rows: the weighted .* \(p = .*misses a part of the shift"
    with pytest.warns(UserWarning, match=said):
        sets.predict_set(X, alpha=0.2)
    with pytest.warns(UserWarning, match="less than 90% of the rows: 100% of the target rows are unlike any"):
        sets.fit(X, y, X + 30).predict_set(X)
    with pytest.warns(UserWarning, match="one row cannot be tested"):
        sets.fit(X, y, X[:1]).predict_set(X)


def test_sets_under_another_spread(recwarn):
    X, y = draw(1000, 0, 1)
    X_target = draw(1000, 0, 2)[0] * 1.3
    sets = covshift.ConformalClassifier(LogisticRegression(), threads=1).fit(X, y, X_target)
    assert sets.ratio_p_value_ > 0.05
    ratio = sets.ratio_.log_ratio([[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0]])
    assert ratio[0] < 0 < min(ratio[1:])  # has squares
    assert abs(sets.log_weights_ - sets.ratio_.log_ratio(X)).mean() < 0.1
    sets.fit(X, y, draw(500, 0.5, 2)[0]).predict_set(X)
    sets.fit(X, y).predict_set(X)
    assert sets.ratio_p_value_ is None and not recwarn


class Remote:
    """Neither fit nor predict."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, p=(0.4, 0.6)):
        self.p = p

    def predict_proba(self, X):
        return np.tile(self.p, (len(X), 1))


def test_sets_of_any_object_with_probabilities(study):
    _, X, y, X_target = study
    sets = covshift.ConformalClassifier(Remote(), cv="prefit", threads=1).fit(X, y, X_target)
    assert sets.predict_set(X).shape == (len(X), 2)
    assert sets.predict(X[:2]).tolist() == ["yes", "yes"]


@pytest.mark.parametrize("with_target", [True, False])
def test_sets_refuse_labels_and_probabilities_that_do_not_fit(study, with_target):
    model, X, y, X_target = study
    target = X_target if with_target else None

    def fit(model, y):
        return covshift.ConformalClassifier(model, cv="prefit", threads=1).fit(X, y, target)

    with pytest.raises(ValueError, match="798 labels for 800 rows"):
        fit(model, y[:-2])
    with pytest.raises(ValueError, match="1600 labels for 800 rows"):
        fit(model, np.append(y, y))
    for p in ([-0.1, 1.1], [0.8, 0.8]):
        with pytest.raises(ValueError, match=r"row 1; they must be in \[0, 1\] and add up to 1"):
            fit(Remote(p), y)
        with pytest.raises(ValueError, match=r"row 1; they must be in \[0, 1\] and add up to 1"):
            covshift.estimate(Remote(p), X, y, X_target)


def test_sets_refuse_bad_options(study):
    model, X, y, _ = study
    for cv in ("pre", None, 1, 2.5):
        with pytest.raises(ValueError, match='"prefit"'):
            covshift.ConformalClassifier(model, cv=cv).fit(X, y)
    sets = covshift.ConformalClassifier(model, cv="prefit").fit(X, y)
    for alpha in (None, "0.1"):
        with pytest.raises(TypeError, match=rf"^alpha must be a number in \(0, 1\), not {alpha!r}$"):
            sets.predict_set(X, alpha)


def with_holes(X, seed):
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)


def table_with_holes(X, seed):
    import pandas

    city = pandas.Series(np.random.default_rng(seed).choice(["Oslo", "Rome", None], len(X)), dtype="category")
    return pandas.DataFrame(X, columns=["a", "b"]).assign(city=city)


@pytest.mark.parametrize("frame", [None, "numbers", "categories"])
def test_missing_values_are_the_affair_of_the_classifier(study, frame):
    _, X, y, X_target = study
    X, X_target, X_true = with_holes(X, 1), with_holes(X_target, 2), with_holes(draw(3000, 0.8, 6)[0], 3)
    y_true = draw(3000, 0.8, 6)[1]
    if frame is not None:
        pytest.importorskip("pandas")
        keep = ["a", "b"] if frame == "numbers" else ["a", "b", "city"]
        X, X_target, X_true = (
            table_with_holes(x, seed)[keep] for seed, x in enumerate((X, X_target, X_true))
        )
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype").fit(X[:400], y[:400])
    found = covshift.estimate(
        model, X[400:], y[400:], X_target, truth=(X_true[:300], y_true[:300]), threads=1
    )
    assert found["accuracy"]["low"] <= accuracy_score(y_true, model.predict(X_true)) <= found["accuracy"]["high"]
    assert not found.concept["changed"]
    sets = covshift.ConformalClassifier(model, threads=1).fit(X, y, X_target)
    inside = pickle.loads(pickle.dumps(sets)).predict_set(X_true)
    assert inside[np.arange(len(y_true)), (y_true == "yes").astype(int)].mean() > 0.86


def test_values_that_only_new_rows_lack(study):
    _, X, y, X_target = study
    sets = covshift.ConformalClassifier(HistGradientBoostingClassifier(max_iter=5), threads=1).fit(X, y, X_target)
    with pytest.raises(ValueError, match="column that had none in fit"):
        sets.predict_set(with_holes(X, 1))
    with pytest.warns(UserWarning, match="unlike any labelled row"):
        sets.fit(X, y, with_holes(X_target, 1)).predict_set(with_holes(X, 2))


def test_labels_in_a_column_of_their_own(study):
    pandas = pytest.importorskip("pandas")
    model, X, y, X_target = study
    plain = covshift.estimate(model, X, y, X_target, scoring="accuracy", threads=1)
    for column in (y.reshape(-1, 1), pandas.DataFrame({"y": y})):
        found = covshift.estimate(model, X, column, X_target, scoring="accuracy", threads=1)
        assert found.estimates == plain.estimates
        sets = covshift.ConformalClassifier(LogisticRegression(), threads=1).fit(X, column, X_target)
        assert sets.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"y": None}, ValueError, "y must be a list of classes, one for each row, not None"),
        ({"y": [[1, 2]]}, ValueError, r"one for each row, not the shape \(1, 2\)"),
        ({"y": np.arange(800)}, ValueError, "y has classes of the type int, those of the model are of the type str"),
        ({"truth": np.zeros((3, 2))}, ValueError, r"truth must be a pair \(X, y\) .*, not ndarray"),
        ({"truth": (np.zeros((3, 2)),)}, ValueError, r"truth must be a pair \(X, y\) .*, not tuple of 1"),
        ({"truth": (np.zeros((3, 2)), None)}, ValueError, "y of truth must be a list of classes"),
        ({"scoring": None}, TypeError, "scoring must be a scorer, its name or a list of these, not None"),
        ({"scoring": 3}, TypeError, "scoring must be a scorer, its name or a list of these, not 3"),
        ({"scoring": [3]}, TypeError, r"scoring must be a scorer, its name or a list of these, not \[3\]"),
        ({"ratio": None}, TypeError, r"a density ratio such as covshift.KMM\(\), not None"),
    ],
)
def test_estimate_says_what_is_wrong(study, changed, error, message):
    model, X, y, X_target = study
    given = {"model": model, "X": X, "y": y, "X_target": X_target, **changed}
    with pytest.raises(error, match=message):
        covshift.estimate(**given)


def test_estimate_needs_the_names_of_classes(study):
    class Nameless:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(TypeError, match="Nameless has no classes_"):
        covshift.estimate(Nameless(), *study[1:])


def test_texts_name_arguments_of_python(study):
    model, X, y, _ = study
    X_target = spot(600, np.random.default_rng(0))
    found = covshift.estimate(model, X, y, X_target, truth=(X_target, y[:600]), threads=1)
    for text in (str(found), str(found.data["cautions"]), found.concept["statement"]):
        assert "ratio='auto'" in text and "--" not in text
