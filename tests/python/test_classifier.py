"""The classifier and the density ratios."""

import importlib.metadata
import pathlib
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import covshift


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return covshift.biased_split(X, y, n_train=100, n_target=80, feature=8, b=(0.3, 0.6), random_state=1)


def test_attributes(wine):
    X, X_target, y, y_target = wine
    model = covshift.RobustClassifier(ratio_lam="paper").fit(X, y, X_target)
    assert list(model.classes_) == [0, 1, 2] and model.actions_ is model.classes_
    assert not hasattr(model, "abstain_")
    assert model.n_features_in_ == 13 and not hasattr(model, "feature_names_in_")
    assert model.coef_scaled_.shape == (3, len(model.feature_names_))
    assert model.certificate_.gap <= 1e-6 and str(model.certificate_).startswith("Promised")
    assert [v.name for v in model.views_] == ["all"] and len(model.views_[0].features) == 13
    assert 2.0**-18 <= model.lam_ <= 4
    assert 4 <= len(model.path_[0][2]) <= 11  # a path ends when it rises
    assert 1 <= model.effective_sample_size_ <= 100
    assert model.status_ == "converged" and model.method_ == "auto"
    assert model.score(X_target, y_target) > 0.7
    psi = model.decision_function(X_target)
    p = np.exp(psi - psi.max(axis=1, keepdims=True))
    np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), model.predict_proba(X_target))


@pytest.mark.parametrize("options", [{}, {"scale": "unit"}, {"scale": "none"}, {"bias": "none"}, {"bias": "test"},
                                     {"views": "each"}, {"views": {"left": [0, 1, 2], "right": [2, 3]}}],
                         ids=str)
def test_coefficients_are_on_the_scale_of_the_data(shifted, options):
    X, y, X_target, _ = shifted
    X, X_target = 3 * X + [1, 0, -5, 2], 3 * X_target + [1, 0, -5, 2]
    plain = covshift.lr(lam=0.01, features="linear", **options).fit(X, y)
    assert plain.coef_.shape == (1, 4) and plain.intercept_.shape == (1,)
    p = plain.predict_proba(X_target)
    odds = X_target @ plain.coef_[0] + plain.intercept_[0]
    np.testing.assert_allclose(odds, np.log(p[:, 1] / p[:, 0]), rtol=1e-6, atol=1e-9)
    three = np.digitize(X[:, 0], [-1, 2])
    for method in (covshift.lr, covshift.iw, covshift.adv01, covshift.svm):
        model = method(lam=0.01, ratio_lam="paper", **options).fit(X, three, X_target)
        assert model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
        np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X),
                                   rtol=1e-9, atol=1e-9)
        assert model.coef_scaled_.shape == (3, len(model.feature_names_))
        assert model.intercept_scaled_.shape == (3,)
        assert (model.intercept_scaled_ == 0).all() == (options.get("bias") == "none")


def test_coefficients_of_encoded_and_of_sparse_columns(shifted):
    pd = pytest.importorskip("pandas")
    sp = pytest.importorskip("scipy.sparse")
    X, y, _, _ = shifted
    frame = pd.DataFrame({"a": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    model = covshift.lr(lam=0.01).fit(frame, y)
    assert model.coef_.shape == (1, len(model.feature_names_)) == (1, 3)
    columns = np.column_stack([(frame[n] if n == "a" else frame["colour"] == n.split("=")[-1])
                               for n in model.feature_names_]).astype(float)
    np.testing.assert_allclose(columns @ model.coef_[0] + model.intercept_,
                               model.decision_function(frame), atol=1e-9)
    sparse = covshift.lr(lam=0.01).fit(sp.csr_array(np.where(X > 0, X, 0)), y)
    np.testing.assert_allclose(np.where(X > 0, X, 0) @ sparse.coef_[0] + sparse.intercept_,
                               sparse.decision_function(sp.csr_array(np.where(X > 0, X, 0))), atol=1e-9)


def test_only_linear_models_have_coefficients(shifted):
    X, y, X_target, _ = shifted
    for model, reason in ((covshift.RobustClassifier(), r"mixes \d models"),
                          (covshift.robust(lam=0.1), r"fades with the density ratio \(generalize='train'"),
                          (covshift.lr(lam=0.1, features="nystroem:20"), "nystroem:20.*, not the columns")):
        model.fit(X, y, X_target)
        for name in ("coef_", "intercept_"):
            assert not hasattr(model, name)
            with pytest.raises(AttributeError, match=f"{reason}.*coef_scaled_.*features='linear'"):
                getattr(model, name)
        assert model.coef_scaled_.shape == (2, len(model.feature_names_))
    with pytest.raises(AttributeError, match="not fitted"):
        covshift.lr().coef_  # noqa: B018


def test_class_weight_is_sample_weight(shifted):
    X, y, X_target, _ = shifted
    rare = np.flatnonzero((y == 0) | (np.arange(len(y)) % 3 == 0))
    X, y = X[rare], np.where(y[rare] == 1, "rare", "often")
    weight = np.arange(len(y)) % 3 + 1.0
    balanced = np.array([(weight.sum() / 2 / weight[y == c].sum()) for c in ("often", "rare")])
    for given, factor in (({"rare": 3}, np.array([1.0, 3.0])), ("balanced", balanced)):
        model = covshift.robust(lam=0.01, ratio_lam=0.1, class_weight=given).fit(X, y, X_target, weight)
        by_hand = covshift.robust(lam=0.01, ratio_lam=0.1)
        by_hand.fit(X, y, X_target, weight * factor[(y == "rare").astype(int)])
        np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(X))
        plain = covshift.robust(lam=0.01, ratio_lam=0.1).fit(X, y, X_target, weight)
        assert (model.predict(X) == "rare").sum() > (plain.predict(X) == "rare").sum()
    from sklearn.utils.class_weight import compute_sample_weight

    a = covshift.lr(lam=0.01, class_weight="balanced").fit(X, y)
    b = covshift.lr(lam=0.01).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    with pytest.raises(ValueError, match="balanced"):
        covshift.lr(class_weight="equal").fit(X, y)
    with pytest.raises(ValueError, match="class"):
        covshift.lr(class_weight={"never": 2}).fit(X, y)


def test_verbose(shifted, capsys):
    X, y, X_target, _ = shifted
    covshift.RobustClassifier(ratio_lam="paper", verbose=1).fit(X, y, X_target)
    shown = capsys.readouterr()
    assert "converged after" in shown.out and "the model mixes" in shown.out
    # Which of the later stages are seen depends on their speed.
    assert re.search(r"\r(density ratio|selection|training) +\d+%", shown.err)
    covshift.RobustClassifier(ratio_lam="paper").fit(X, y, X_target)
    assert capsys.readouterr() == ("", "")


def test_fit_without_a_target_warns(shifted):
    X, y, _, _ = shifted
    for model in (covshift.RobustClassifier(lam=0.1), covshift.robust(lam=0.1), covshift.iw(lam=0.1)):
        with pytest.warns(UserWarning, match="without X_target: assuming the model will be used on data like X"):
            model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        covshift.lr(lam=0.1).fit(X, y)


def test_no_shift_without_target(wine):
    X, X_target, y, _ = wine
    for method, plain in ((covshift.robust, covshift.lr), (covshift.robust01, covshift.adv01),
                          (covshift.iw_svm, covshift.svm)):
        a, b = method().fit(X, y), plain(lam="cv").fit(X, y)
        np.testing.assert_array_equal(a.predict_proba(X_target), b.predict_proba(X_target))
        assert a.method_ == b.method_ == plain.__name__
        np.testing.assert_array_equal(a.log_ratio(X), 0)
        assert a.effective_sample_size_ is None and a.certificate_.target_value is None


def test_named_methods_match_the_table(wine):
    X, X_target, y, _ = wine
    from covshift import _core

    for name, loss, generalize, _ in _core.methods():
        model = getattr(covshift, name.replace("-", "_"))(lam=0.1, ratio_lam="paper", views="each")
        assert (model.loss, model.generalize) == (loss, generalize)
        assert model.fit(X, y, X_target).method_ == name
    auto = covshift.auto(lams=[0.01], ratio_lam="paper").fit(X, y, X_target)
    assert [tried[0] for tried in auto.path_[:2]] == ["lr", "lr"]  # lambda by cv, and by both samples
    assert abs(sum(tried.share for tried in auto.tried_) - 1) < 1e-9 and "the model mixes" in auto.choice_


def test_robust_is_less_certain_far_from_training_data(shifted):
    X, y, X_target, _ = shifted
    far = np.array([[8.0, -8.0, 0.0, 0.0]])
    plain = covshift.lr(lam=0.01).fit(X, y)
    robust = covshift.robust(lam=0.01).fit(X, y, X_target)
    away = np.full((1, 4), 8.0)  # where the target is
    assert plain.predict_proba(far).max() > 0.99
    assert robust.log_ratio(away) > 3
    assert robust.predict_proba(away).max() < 0.6


def test_abstaining(wine):
    X, X_target, y, y_target = wine
    for labels, abstain in (
        (np.array([0, 1, 2]), -1),
        (np.array([-1, 0, 1]), -2),
        (np.array([1.0, 2.0, 3.0]), -1.0),
        (np.array([-1.0, 0.0, 1.0]), -2.0),
        (np.array(["a", "b", "c"]), "abstain"),
        (np.array(["a", "abstain", "c"]), "abstain_"),
    ):
        model = covshift.robust(loss="abstain:0.3", lam=0.01, ratio_lam="paper")
        predicted = model.fit(X, labels[y], X_target).predict(X_target)
        p = model.predict_proba(X_target)
        assert p.shape == (80, 4) and len(model.actions_) == 4
        np.testing.assert_equal(model.abstain_, abstain)
        chosen = p.argmax(axis=1) == 3
        assert 0 < chosen.sum() < 80
        for row, given_up in zip(predicted, chosen):
            np.testing.assert_equal(row, abstain) if given_up else labels.tolist().index(row)
        assert list(model.classes_) == list(labels)
        # A metric treats it as another class, which is always wrong.
        assert model.score(X_target, labels[y_target]) == np.mean(predicted == labels[y_target])
    assert not hasattr(model.set_params(loss="log").fit(X, y, X_target), "abstain_")


def test_cost_matrices(wine):
    X, X_target, y, _ = wine
    zero_one = 1 - np.eye(3)
    a = covshift.robust(loss=zero_one, lam=0.05, ratio_lam="paper").fit(X, y, X_target)
    b = covshift.robust01(lam=0.05, ratio_lam="paper").fit(X, y, X_target)
    np.testing.assert_allclose(a.potentials(X), b.potentials(X), atol=1e-2)
    np.testing.assert_array_equal(b.potentials(X), b.decision_function(X))
    assert not hasattr(a, "decision_function")  # the largest potential need not win
    assert (a.predict(X) == b.predict(X)).mean() > 0.97
    few = covshift.robust(loss=[[0, 1, 1], [1, 0, 0]], lam=0.05, ratio_lam="paper")
    few.fit(X, y, X_target)
    assert list(few.actions_) == ["action 1", "action 2"]
    assert set(few.predict(X)) <= {"action 1", "action 2"}


def test_order_of_classes(wine):
    X, X_target, y, _ = wine
    names = np.array(["small", "medium", "large"])[y]
    model = covshift.RobustClassifier("absolute", lam=0.05, classes=["small", "medium", "large"])
    numbers = covshift.RobustClassifier("absolute", lam=0.05).fit(X, y)
    assert list(model.fit(X, names).classes_) == ["small", "medium", "large"]
    np.testing.assert_array_equal(model.predict_proba(X), numbers.predict_proba(X))


def test_views_by_default(wine):
    X, X_target, y, _ = wine
    assert len(covshift.robust_view(lam=0.1).fit(X, y, X_target).views_) == X.shape[1]
    assert len(covshift.robust(lam=0.1).fit(X, y, X_target).views_) == 1


def test_views(wine):
    X, X_target, y, _ = wine
    model = covshift.robust_view(views={"few": [0, "c3"], "last": 12}, generalized_views=["last"],
                                 lam=0.05, ratio_lam="paper").fit(X, y, X_target)
    assert [(v.name, len(v.features), v.generalized) for v in model.views_] == [
        ("few", 2, False), ("last", 1, True), ("rest", 10, False)]
    assert model.views_[0].features == ["c1", "c3"]


def test_warns_if_not_converged(wine):
    X, X_target, y, _ = wine
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = covshift.robust(lam=0.001, max_iter=1, ratio_lam="paper").fit(X, y, X_target)
    assert model.status_ == "iteration_limit" and model.n_iter_ == 1


@pytest.mark.parametrize("ratio", [covshift.LogisticRatio(), covshift.ULSIF(), covshift.ULSIF(alpha=0.1),
                                   covshift.KLIEP(), covshift.KMM(), covshift.GaussianRatio()], ids=repr)
def test_ratios_point_from_train_to_target(ratio):
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(400, 2)), rng.normal(0.7, 0.8, size=(300, 2))
    w = ratio.fit(X, X_target).weights(X)
    np.testing.assert_allclose(np.log(w), ratio.log_ratio(X), atol=1e-14)
    before = np.abs(X.mean(axis=0) - X_target.mean(axis=0))
    after = np.abs(np.average(X, axis=0, weights=w) - X_target.mean(axis=0))
    assert (after < 0.5 * before).all()
    np.testing.assert_array_equal(ratio.fit(X, X_target=X_target).weights(X), w)
    np.testing.assert_array_equal(ratio.fit(X, covshift.Target(X_target)).weights(X), w)
    name = {"ULSIF": "rulsif" if getattr(ratio, "alpha", 0) else "ulsif", "LogisticRatio": "logistic",
            "GaussianRatio": "gaussian"}.get(type(ratio).__name__, type(ratio).__name__.lower())
    y = (X[:, 0] > 0).astype(int)
    model = covshift.RobustClassifier(lam=0.1, ratio=name).fit(X, y, X_target)
    np.testing.assert_array_equal(model.log_ratio(X), ratio.log_ratio(X))
    ratio.fit(X, y)  # labels are ignored
    np.testing.assert_array_equal(ratio.weights(X), 1)


def test_biased_split():
    X, y = load_wine(return_X_y=True, as_frame=True)
    parts = covshift.biased_split(X, y, np.arange(178), n_train=30, n_target=40, feature="alcohol",
                                  replacement=False, random_state=4)
    X_train, X_target, y_train, y_target, i_train, i_target = parts
    assert len(X_train) == 30 and len(X_target) == 40
    assert X_train["alcohol"].max() <= X_target["alcohol"].min()
    assert len(set(i_train) | set(i_target)) == 70
    assert (y.iloc[i_train] == y_train).all() and (X.iloc[i_target] == X_target).all(axis=None)
    sample = covshift.biased_sample(X.to_numpy(), n_train=30, n_target=40, feature=0,
                                    replacement=False, random_state=4)
    np.testing.assert_array_equal(sample.train, i_train)
    assert sample.feature == 0


def test_the_target_may_have_intervals_of_its_own():
    X = np.random.default_rng(0).normal(size=(200, 3))
    same, own = covshift.biased_sample(X), covshift.biased_sample(X, target_a=(6, 8), target_b=(3, 4))
    np.testing.assert_array_equal(same.train, own.train)
    assert list(same.target) != list(own.target)
    with pytest.raises(ValueError, match="target_a"):
        covshift.biased_sample(X, target_a=(1,))


def test_biased_split_of_columns_with_categories():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.insert(0, "region", np.resize(["north", "west", "south"], len(X)))
    for feature in ("ash", list(X.columns).index("ash")):
        sample = covshift.biased_sample(X, feature=feature, n_train=20, n_target=20)
        assert X.columns[sample.feature] == "ash"
        assert X["ash"].iloc[sample.train].max() <= sample.threshold < X["ash"].iloc[sample.target].min()
    with pytest.raises(ValueError, match="'region' has categories"):
        covshift.biased_sample(X, feature="region")


def test_diagnose(shifted):
    pd = pytest.importorskip("pandas")
    X, _, X_target, _ = shifted
    found = covshift.diagnose(pd.DataFrame(X, columns=list("abcd")),
                              pd.DataFrame(X_target, columns=list("abcd")), permutations=49)
    assert found.shift and found.p_value <= 0.05 and 0.5 < found.domain_auc < 1
    text = repr(found)
    assert "150 training rows, 120 target rows" in text and "domain AUC" in text
    assert found.recommendation["summary"] in text
    # What it recommends is the default fit, and works as it stands.
    assert found.recommendation["method"] == "auto"
    command = found.recommendation["command"]
    assert command == "RobustClassifier().fit(X, y, X_target)" and f"Next: {command}" in text
    other = covshift.diagnose(X, X_target, ratio="ulsif", views={"a": [0]}, permutations=49)
    model = eval(other.recommendation["command"],  # noqa: S307
                 {"RobustClassifier": covshift.RobustClassifier, "X": X, "y": shifted[1], "X_target": X_target})
    assert model.ratio == "ulsif" and [v.name for v in model.views_] == ["a", "rest"]
    assert "<table>" in found._repr_html_()
    assert list(found.to_frame().index) == list("abcd")
    assert {"before", "after"} <= set(found.to_frame("features").columns)
    with pytest.raises(ValueError, match="views"):
        found.to_frame("rows")
    with pytest.raises(AttributeError):
        found.nothing  # noqa: B018
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == text
    same = covshift.diagnose(X[:75], X[75:], views={"left": [0, 1]}, permutations=49)
    assert not same.shift and [v["name"] for v in same.views] == ["left", "rest"]


def test_runs_against_the_installed_wheel():
    folder = pathlib.Path(covshift.__file__).parent
    assert folder.parent.name == "site-packages"
    assert {"py.typed", "_core.pyi", "plot.py"} <= {path.name for path in folder.iterdir()}
    assert "class Model" in (folder / "_core.pyi").read_text()
    assert covshift.__version__ == importlib.metadata.version("covshift")
