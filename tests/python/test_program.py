"""The same numbers as the program's, and the same model files."""

import csv
import io
import json
import re

import joblib
import numpy as np
import pandas as pd
import pickle
import pytest

import covshift

CASES = {
    "robust": ({}, []),
    "lr": ({"lam": "cv"}, ["--lambda", "cv"]),
    "iw": ({"lam": 0.03}, ["--lambda", "0.03"]),
    "robust-view": (
        {"views": "each", "view_threshold": 0.5, "scale": "standard", "random_state": 5},
        ["--views", "each", "--view-threshold", "0.5", "--scale", "standard", "--seed", "5"],
    ),
    "robust01": ({"lam": 0.01, "ratio": "ulsif"}, ["--lambda", "0.01", "--ratio", "ulsif"]),
    "iw-svm": ({"lam": 0.01, "ratio": "kliep"}, ["--lambda", "0.01", "--ratio", "kliep"]),
    "auto": ({"lams": [0.1, 0.01]}, ["--lambdas", "0.1,0.01"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory, shifted):
    X, y, X_target, _ = shifted
    folder = tmp_path_factory.mktemp("program")
    names = ["a", "b", "c", "d"]
    colour = np.array(["red", "green", "blue"])
    rng = np.random.default_rng(2)
    train = pd.DataFrame(X, columns=names).assign(colour=colour[rng.integers(0, 3, len(X))])
    target = pd.DataFrame(X_target, columns=names)
    target = target.assign(colour=colour[rng.integers(0, 3, len(X_target))])
    train.assign(y=np.where(y == 1, "yes", "no")).to_csv(folder / "train.csv", index=False)
    target.to_csv(folder / "target.csv", index=False)
    return folder, train, pd.Series(np.where(y == 1, "yes", "no"), name="y"), target


def predictions(program, model, data):
    rows = list(csv.DictReader(io.StringIO(program("predict", model, data))))
    p = [[float(v) for k, v in row.items() if k.startswith("p:")] for row in rows]
    return np.array(p), np.array([float(r["log_ratio"]) for r in rows]), [r["predicted"] for r in rows]


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("method", CASES)
def test_same_numbers(files, program, method, categories):
    folder, train, y, target = files
    options, flags = CASES[method]
    if categories:
        data, other = folder / "train.csv", folder / "target.csv"
    else:
        train, target = train.drop(columns="colour"), target.drop(columns="colour")
        data, other = folder / "numbers.csv", folder / "others.csv"
        train.assign(y=y).to_csv(data, index=False)
        target.to_csv(other, index=False)
    report = json.loads(
        program("fit", data, "--target", other, "--label", "y", "--method", method, *flags,
                "-o", folder / "model.json", "--json")
    )
    model = getattr(covshift, method.replace("-", "_"))(**options).fit(train, y, target)
    p, log_ratio, predicted = predictions(program, folder / "model.json", other)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(model.predict_proba(target), p, **close)
    np.testing.assert_allclose(model.log_ratio(target), log_ratio, **close)
    assert list(model.predict(target)) == predicted
    assert model.lam_ == report["lambda"]
    for key in ("game_value", "gap", "target_value", "target_risk", "mean_weight", "finite_sample"):
        ours, theirs = getattr(model.certificate_, key), report["certificate"][key]
        assert ours is theirs is None or ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    assert [v.name for v in model.views_] == [v["name"] for v in report["views"]]
    kl = np.array([v["kl"] for v in report["views"]], float)  # null, nan: no ratio was needed
    np.testing.assert_allclose([v.kl for v in model.views_], kl, **close)
    assert str(model.certificate_) == report["certificate"]["statement"]

    # Models can be exchanged in both directions.
    again = covshift.RobustClassifier.load(folder / "model.json")
    np.testing.assert_array_equal(again.predict_proba(target), p)
    assert list(again.feature_names_in_) == list(train.columns)
    assert again.certificate_ == model.certificate_ or method == "auto"
    model.save(folder / "ours.json")
    p_ours, log_ratio_ours, _ = predictions(program, folder / "ours.json", other)
    np.testing.assert_array_equal(p_ours, model.predict_proba(target))
    np.testing.assert_array_equal(log_ratio_ours, model.log_ratio(target))


@pytest.mark.parametrize("crossing", [0.0, 0.3])
def test_same_sample(files, program, crossing):
    folder, train, y, _ = files
    numbers = train.drop(columns="colour")
    numbers.assign(y=y).to_csv(folder / "all.csv", index=False)
    program("sample", folder / "all.csv", "--label", "y", "--n-train", 20, "--n-target", 30, "--seed",
            7, "--crossing", crossing, "--train-output", folder / "s.csv", "--target-output", folder / "t.csv")
    X, X_target, y_train, _ = covshift.biased_split(
        numbers, y, n_train=20, n_target=30, random_state=7, crossing=crossing
    )
    drawn = pd.read_csv(folder / "s.csv")
    np.testing.assert_allclose(drawn[list("abcd")], X, rtol=1e-15)
    assert list(drawn["y"]) == list(y_train)
    np.testing.assert_allclose(pd.read_csv(folder / "t.csv")[list("abcd")], X_target, rtol=1e-15)


def test_same_diagnosis(files, program):
    folder, train, _, target = files
    data = json.loads(program("diagnose", folder / "train.csv", folder / "target.csv", "--label", "y",
                              "--json"))
    ours = covshift.diagnose(train, target).data
    assert ours["p_value"] == data["p_value"]
    for key in ("domain_auc", "effective_sample_size"):
        assert ours[key] == pytest.approx(data[key], rel=1e-12)
    assert [v["kl"] for v in ours["views"]] == pytest.approx([v["kl"] for v in data["views"]])
    assert ours["recommendation"]["verdict"] == data["recommendation"]["verdict"]


def test_pickle_and_joblib_are_the_model_file(shifted, tmp_path):
    X, y, X_target, _ = shifted
    for estimator in (covshift.RobustClassifier(lam=0.01, views="each", generalize="views"),
                      covshift.LogisticRatio(), covshift.KMM(), covshift.ULSIF(alpha=0.2)):
        if isinstance(estimator, covshift.RobustClassifier):
            estimator.fit(X, y, X_target)
        else:
            estimator.fit(X, X_target)
        data = pickle.dumps(estimator)
        assert b'"version": ' in data and b'"checksum"' in data
        joblib.dump(estimator, tmp_path / "model.joblib")
        for again in (pickle.loads(data), joblib.load(tmp_path / "model.joblib")):
            np.testing.assert_array_equal(again.log_ratio(X), estimator.log_ratio(X))
            if hasattr(estimator, "predict_proba"):
                np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))
                assert again.certificate_ == estimator.certificate_
                assert again.get_params() == estimator.get_params()
        damaged = re.sub(rb'"version": \d', b'"version": 9', data)
        with pytest.raises(ValueError, match="newer covshift"):
            pickle.loads(damaged)


def test_classes_are_restored(tmp_path, shifted):
    X, y, _, _ = shifted
    for labels in (np.array([3, 7]), np.array([1.0, 2.0]), np.array(["no", "yes"]),
                   np.array([False, True]), np.array(["007", "008"]), np.array(["1_0", "nan"])):
        model = covshift.lr(lam=0.1).fit(X, labels[y])
        model.save(tmp_path / "m.json")
        again = covshift.RobustClassifier.load(str(tmp_path / "m.json"))
        np.testing.assert_array_equal(again.classes_, labels)
        assert again.classes_.dtype.kind == labels.dtype.kind
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_loaded_cost_matrix_can_be_fitted_again(tmp_path, shifted):
    X, y, X_target, _ = shifted
    model = covshift.robust(loss=[[0, 3], [1, 0], [0.5, 0.5]], lam=0.1).fit(X, y, X_target)
    model.save(tmp_path / "m.json")
    again = covshift.RobustClassifier.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.loss, model.loss)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), p)
    np.testing.assert_array_equal(again.fit(X, y, X_target).predict_proba(X), p)


def test_rejects_other_files(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        covshift.RobustClassifier.load(tmp_path / "nowhere.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="not a covshift model"):
        covshift.RobustClassifier.load(tmp_path / "bad.json")
