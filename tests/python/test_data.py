"""Supported data, and errors for unusable data."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import covshift


def fit(X, y, X_target, **options):
    return covshift.RobustClassifier(lam=0.01, ratio_lam=0.01, **options).fit(X, y, X_target)


def test_dtypes_and_orders(shifted):
    X, y, X_target, _ = shifted
    X, X_target = X.astype(np.float32).astype(np.float64), X_target.astype(np.float32).astype(float)
    expected = fit(X, y, X_target).predict_proba(X_target)
    for change in (np.asfortranarray, lambda a: a.astype(np.float32), lambda a: a[::-1][::-1],
                   lambda a: a.astype(">f8"), lambda a: a.tolist(),
                   lambda a: np.hstack([a, a])[:, :4], lambda a: a.astype(object)):
        model = fit(change(X), y, change(X_target))
        np.testing.assert_array_equal(model.predict_proba(change(X_target)), expected)
    np.testing.assert_array_equal(fit(X, y, X_target, threads=1).predict_proba(X_target), expected)
    frozen = X.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(fit(frozen, y, X_target).predict_proba(X_target), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_and_dense_agree(shifted, kind, dtype):
    X, y, X_target, _ = shifted
    X = np.where(np.abs(X) > 0.7, X, 0).astype(dtype)
    X_target = np.where(np.abs(X_target) > 0.7, X_target, 0).astype(dtype)
    dense = fit(X, y, X_target, scale="none", views={"first": [0, 1]})
    sparse = fit(kind(X), y, kind(X_target), scale="none", views={"first": [0, 1]})
    np.testing.assert_allclose(
        sparse.predict_proba(kind(X_target)), dense.predict_proba(X_target), rtol=1e-7
    )
    np.testing.assert_allclose(sparse.log_ratio(X_target), dense.log_ratio(X_target), rtol=1e-9)
    mixed = fit(kind(X), y, X_target, scale="none", views={"first": [0, 1]})
    np.testing.assert_array_equal(mixed.log_ratio(X), sparse.log_ratio(X))
    # A scaler with offsets works a block at a time.
    unit = fit(X, y, X_target)
    np.testing.assert_array_equal(unit.predict_proba(kind(X)), unit.predict_proba(X))


def test_sparse_with_repeated_entries(shifted):
    X, y, X_target, _ = shifted
    parts = sp.csr_matrix((np.concatenate([X.ravel(), X.ravel()]) / 2,
                           (np.tile(np.repeat(np.arange(150), 4), 2), np.tile(np.arange(4), 300))),
                          shape=X.shape)
    raw = sp.csr_matrix((np.repeat(X / 2, 2, axis=1).ravel(), np.tile([0, 0, 1, 1, 2, 2, 3, 3], 150),
                         np.arange(0, 1201, 8)), shape=X.shape)
    assert not raw.has_canonical_format
    a = fit(parts, y, sp.csr_matrix(X_target)).predict_proba(X_target)
    b = fit(raw, y, sp.csr_matrix(X_target)).predict_proba(X_target)
    np.testing.assert_allclose(a, b, rtol=1e-9)
    assert raw.nnz == 1200  # the caller's matrix is unchanged


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def table(X, colours):
    return {"a": X[:, 0], "b": X[:, 1], "colour": colours, "flag": X[:, 2] > 0}


@pytest.mark.parametrize("library", FRAMES)
def test_frames(shifted, library):
    X, y, X_target, _ = shifted
    frame = FRAMES[library]
    names = ["a", "b", "c", "d"]
    model = fit(frame(dict(zip(names, X.T))), y, frame(dict(zip(names, X_target.T))), views="each",
                generalize="views")
    assert list(model.feature_names_in_) == names
    assert [v.name for v in model.views_] == names
    plain = fit(X, y, X_target, views="each", generalize="views")
    np.testing.assert_array_equal(
        model.predict_proba(frame(dict(zip(names, X.T)))), plain.predict_proba(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(dict(zip("abce", X.T))))


@pytest.mark.parametrize("library", FRAMES)
def test_categories(shifted, library):
    X, y, X_target, _ = shifted
    rng = np.random.default_rng(0)
    colours = np.array(["red", "green", "blue"], dtype=object)
    train, target = (table(x, colours[rng.integers(0, 3, len(x))]) for x in (X, X_target))
    frame = FRAMES[library]
    views = {"colours": ["colour"], "numbers": ["a", "b", "flag"]}
    model = fit(frame(train), y, frame(target), views=views, generalize="views",
                generalized_views=["colours"])
    assert model.n_features_in_ == 4
    assert model.views_[0].features == ["colour"] and model.views_[0].generalized
    assert model.coef_scaled_.shape == (2, 3 + 3)
    one_hot = np.column_stack(
        [train["a"], train["b"], *[train["colour"] == c for c in ("blue", "green", "red")],
         train["flag"]]
    ).astype(float)
    one_hot_target = np.column_stack(
        [target["a"], target["b"], *[target["colour"] == c for c in ("blue", "green", "red")],
         target["flag"]]
    ).astype(float)
    by_hand = fit(one_hot, y, one_hot_target, generalize="views", generalized_views=["colours"],
                  views={"colours": [2, 3, 4], "numbers": [0, 1, 5]})
    np.testing.assert_allclose(
        model.predict_proba(frame(target)), by_hand.predict_proba(one_hot_target), rtol=1e-10
    )
    # A subset of the categories is encoded the same way, a new one as none of them.
    some = {k: v[:3] for k, v in target.items()}
    np.testing.assert_array_equal(
        model.predict_proba(frame(some)), model.predict_proba(frame(target))[:3]
    )
    some["colour"] = np.array(["red", "violet", "red"], dtype=object)
    with pytest.warns(UserWarning, match="'violet'.*never saw"):
        model.predict(frame(some))
    with pytest.raises(ValueError, match="DataFrame"):
        model.predict(one_hot[:, :4])
    with pytest.raises(TypeError, match="X_target is not"):
        fit(frame(train), y, X_target)
    some["colour"] = np.array(["red", None, "red"], dtype=object)
    with pytest.warns(UserWarning, match="'colour' has missing values .1 of 3 rows, 33%., but had none"):
        model.predict(frame(some))
    ratio = covshift.LogisticRatio(lam=0.01).fit(frame(train), frame(target))
    np.testing.assert_array_equal(ratio.log_ratio(frame(train)), model.log_ratio(frame(train)))


def test_pandas_categories_and_missing_numbers(shifted):
    X, y, _, _ = shifted
    frame = pd.DataFrame(table(X, np.resize(["x", "y"], len(X)))).astype({"colour": "category"})
    model = covshift.lr(lam=0.1).fit(frame, y)
    text = covshift.lr(lam=0.1).fit(frame.astype({"colour": "str"}), y)
    np.testing.assert_array_equal(model.predict_proba(frame), text.predict_proba(
        frame.astype({"colour": "str"})))
    holes = frame.assign(a=[np.nan if i == 2 else v for i, v in enumerate(frame["a"])])
    with pytest.warns(UserWarning, match="'a' has missing values"):
        model.predict(holes)
    strict = covshift.lr(lam=0.1, missing="error").fit(frame, y)
    with pytest.raises(ValueError, match="X:3:1.*'a' is missing"):
        strict.predict(holes)


def test_missing_numbers(shifted, tmp_path):
    """NaN in an array, a DataFrame and a file mean the same."""
    X, y, X_target, _ = shifted
    holes, later = X.copy(), X_target.copy()
    holes[::7, 1] = np.nan
    later[::3, 1] = np.nan
    model = fit(holes, y, later)
    p = model.predict_proba(later)
    assert np.isfinite(p).all() and model.coef_scaled_.shape[1] == X.shape[1] + 1  # the indicator
    frame = fit(pd.DataFrame(holes, columns=list("abcd")), y, pd.DataFrame(later, columns=list("abcd")))
    np.testing.assert_array_equal(frame.predict_proba(pd.DataFrame(later, columns=list("abcd"))), p)
    single = fit(holes.astype(np.float32), y, later.astype(np.float32))
    np.testing.assert_allclose(single.predict_proba(later.astype(np.float32)), p, atol=1e-3)
    by_hand = [np.column_stack([np.where(np.isnan(x), np.nanquantile(holes[:, 1], 0.5, method="higher"), x)
                                if c == 1 else x for c, x in enumerate(rows.T)]
                               + [np.isnan(rows[:, 1])]) for rows in (holes, later)]
    assert model.coef_scaled_.shape == fit(by_hand[0], y, by_hand[1]).coef_scaled_.shape
    np.testing.assert_allclose(fit(by_hand[0], y, by_hand[1]).predict_proba(by_hand[1]), p, atol=1e-6)
    imputed = fit(holes, y, later, missing="impute")
    assert imputed.coef_scaled_.shape[1] == X.shape[1]
    model.save(tmp_path / "m.json")
    loaded = covshift.RobustClassifier.load(tmp_path / "m.json")
    assert loaded.missing == "indicator"
    np.testing.assert_array_equal(loaded.predict_proba(later), p)


def test_dates(shifted, tmp_path):
    X, y, _, _ = shifted
    days = pd.Timestamp("2020-02-28") + pd.to_timedelta(np.arange(len(X)), unit="D")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(seen=days)
    model = covshift.lr(lam=0.1, dates=["seen"]).fit(frame, y)
    text = covshift.lr(lam=0.1, dates=["seen"]).fit(frame.assign(seen=days.strftime("%Y-%m-%d")), y)
    np.testing.assert_array_equal(model.coef_scaled_, text.coef_scaled_)
    assert model.coef_scaled_.shape[1] == 4 + 4
    model.save(tmp_path / "m.json")
    loaded = covshift.RobustClassifier.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


def test_warnings_name_what_to_write_in_python(shifted):
    X, y, _, _ = shifted
    frame = pd.DataFrame(X, columns=list("abcd")).assign(id=[f"p{i}" for i in range(len(X))])
    with pytest.warns(UserWarning, match=r"'id' has .* as identifiers do; leave it out \(X.drop\(columns=\['id'\]\)\)"):
        covshift.lr(lam=0.1).fit(frame, y)


@pytest.mark.parametrize("dtype", ["string", "category", object])
def test_missing_categories_are_named(shifted, dtype):
    X, y, _, _ = shifted
    column = pd.Series(np.resize(["u", "v"], len(X)), dtype=dtype)
    column[2] = pd.NA
    with pytest.raises(ValueError, match="X:3:2.*'colour' is missing"):
        covshift.lr(lam=0.1, missing="error").fit(pd.DataFrame({"a": X[:, 0], "colour": column}), y)
    model = covshift.lr(lam=0.1).fit(pd.DataFrame({"a": X[:, 0], "colour": column}), y)
    assert model.coef_scaled_.shape[1] == 1 + 3  # a category of its own


def test_numbers_in_a_column_of_objects(shifted):
    X, y, _, _ = shifted
    frame = pd.DataFrame(X, columns=list("abcd"))
    numbers, objects = covshift.lr(lam=0.1).fit(frame, y), covshift.lr(lam=0.1).fit(frame.astype(object), y)
    np.testing.assert_array_equal(objects.predict_proba(frame.astype(object)), numbers.predict_proba(frame))
    frame = frame.assign(colour=np.resize(["u", "v"], len(X)))
    mixed = covshift.lr(lam=0.1).fit(frame.astype({"b": object}), y)
    np.testing.assert_array_equal(
        mixed.predict_proba(frame), covshift.lr(lam=0.1).fit(frame, y).predict_proba(frame)
    )


@pytest.mark.parametrize("library", FRAMES)
def test_categories_only_in_the_target(shifted, library):
    X, y, X_target, _ = shifted
    frame = FRAMES[library]
    train = frame({"a": X[:, 0], "colour": np.resize(["u", "v"], len(X))})
    target = frame({"a": X_target[:, 0], "colour": np.resize(["u", "w"], len(X_target))})
    with pytest.warns(UserWarning, match="X_target: column 'colour' has the category 'w'"):
        fit(train, y, target)
    with pytest.warns(UserWarning, match="X_target: column 'colour' has the category 'w'"):
        ratio = covshift.LogisticRatio(lam=0.1).fit(train, target)
    with pytest.warns(UserWarning, match="X: column 'colour' has the category 'w'"):
        ratio.weights(target)


def test_a_column_with_the_name_of_the_labels(shifted, tmp_path):
    X, y, _, _ = shifted
    for colours in (X[:, 1], np.resize(["u", "v"], len(X))):
        frame = pd.DataFrame({"y": X[:, 0], "colour": colours})
        model = covshift.lr(lam=0.1).fit(frame, pd.Series(y, name="y"))
        assert model.views_[0].features == ["y", "colour"] and model._model.label == "y_"


def test_columns_that_supply_densities(shifted):
    X, y, X_target, _ = shifted
    ratio = covshift.LogisticRatio(lam=0.01).fit(X, X_target)
    train = pd.DataFrame(X, columns=list("abcd")).assign(w=ratio.weights(X))
    target = pd.DataFrame(X_target, columns=list("abcd")).assign(w=ratio.weights(X_target))
    model = covshift.RobustClassifier(lam=0.01, ratio="column:w").fit(train, y, target)
    estimated = fit(X, y, X_target)
    np.testing.assert_allclose(
        model.predict_proba(target), estimated.predict_proba(X_target), rtol=1e-6
    )
    with pytest.raises(ValueError, match="DataFrame"):
        model.predict(X_target)


# --- memory ---

MEASURE = """
import numpy as np, warnings
warnings.simplefilter("ignore")
import covshift
rows, cols = 20000, 1000
def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
def growth(call):
    with open("/proc/self/clear_refs", "w") as refs: refs.write("5")  # forgets the peak so far
    before = status("VmRSS")
    call()
    return status("VmHWM") - before
def matrix(dtype):
    X = np.empty((rows, cols), dtype=dtype)
    rng = np.random.default_rng(0)
    for i in range(0, rows, 1000): X[i:i + 1000] = rng.normal(size=(1000, cols))
    return X
X = matrix(np.float64)
y = (X[:, 0] > 0).astype(int)
warm = slice(0, 400)
covshift.lr(lam=0.1, scale="none", max_iter=2).fit(X[warm], y[warm]).predict_proba(X[warm])
model = covshift.lr(lam=0.1).fit(X[warm], y[warm])
fit = growth(lambda: covshift.lr(lam=0.1, scale="none", max_iter=2, threads=2).fit(X, y))
predict = growth(lambda: model.predict_proba(X))
scaled = growth(lambda: covshift.lr(lam=0.1, scale="unit", max_iter=2, threads=2).fit(X, y))
print(X.nbytes, fit, predict, scaled)
"""


def test_a_contiguous_matrix_is_not_copied():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    size, fitting, predicting, scaled = map(int, done.stdout.split())
    assert size == 160_000_000
    assert fitting < 0.25 * size
    assert predicting < 0.25 * size  # even with scaling: a block at a time
    assert scaled > 0.5 * size  # a copy shows in the peak


# --- errors ---


def bad_calls(X, y, T):
    nan, inf = X.copy(), X.copy()
    nan[3, 1], inf[3, 1] = np.nan, np.inf
    R, L = covshift.RobustClassifier, covshift.LogisticRatio
    frame = pd.DataFrame(X, columns=list("abcd"))
    coloured = frame.assign(a=np.resize(["u", "v"], len(X)))
    gap = np.where(y == 1, "yes", "no").astype(object)
    gap[2:3] = None
    ones = np.arange(len(X))
    out, back, offsets = (
        sp.csr_matrix((X[:, 0], np.zeros(len(X), dtype=np.int32), np.arange(len(X) + 1)), shape=X.shape)
        for _ in range(3)
    )
    out.indices[1], back.indices[1], offsets.indptr[1] = 10**8, -(10**8), 10**8
    wide = sp.csr_array(X + 1)
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    wide.indices[1] = 2**32 + 1
    return {
        "NaN": (lambda: R(missing="error").fit(nan, y), ValueError, "Input X contains NaN(.|\n)*RobustClassifier"),
        "sparse NaN": (lambda: R().fit(sp.csr_array(nan), y), ValueError, "Input X contains NaN"),
        "infinite": (lambda: R().fit(inf, y), ValueError, "Input X contains infinity"),
        "infinite, scaled": (lambda: R(scale="standard").fit(inf, y), ValueError, "X contains infinity"),
        "NaN in target": (lambda: R(missing="error").fit(X, y, nan), ValueError, "X_target contains NaN"),
        "text": (lambda: R().fit(np.full(X.shape, "a"), y), ValueError, "convert"),
        "complex": (lambda: R().fit(X + 1j, y), ValueError, "Complex"),
        "one dimension": (lambda: R().fit(X[:, 0], y), ValueError, "reshape"),
        "lengths": (lambda: R().fit(X, y[:-1]), ValueError, "inconsistent"),
        "no labels": (lambda: R().fit(X, None), ValueError, "y"),
        "one class": (lambda: R().fit(X, np.zeros(len(X))), ValueError, "two"),
        "target columns": (lambda: R().fit(X, y, T[:, :3]), ValueError, "3 features, X has 4"),
        "target names": (
            lambda: R().fit(frame, y, frame.rename(columns={"b": "z"})), ValueError, "lacks 'b'"),
        "target order": (lambda: R().fit(frame, y, frame[list("bacd")]), ValueError, r"list\(X.col"),
        "columns": (lambda: fit(X, y, T).predict(T[:, :3]), ValueError, "3 features"),
        "loss": (lambda: R("loog").fit(X, y), ValueError, "zero-one"),
        "generalize": (lambda: R(generalize="trian").fit(X, y, T), ValueError, "train, test, views"),
        "ratio": (lambda: R(ratio="lsif").fit(X, y, T), ValueError, "ratio must be logistic, .* not 'lsif'; did you mean 'ulsif'"),
        "ratio type": (lambda: R(ratio=3).fit(X, y, T), TypeError, "ratio must be a string"),
        "lam": (lambda: R(lam=-1).fit(X, y), ValueError, "positive number, auto, cv or iwcv"),
        "scale": (lambda: R(scale="max").fit(X, y), ValueError, "unit, standard or none"),
        "bias": (lambda: R(bias="no").fit(X, y), ValueError, "joint, test or none"),
        "views": (lambda: R(views={"a": ["z*"]}).fit(X, y, T), ValueError, "no feature 'z"),
        "views type": (lambda: R(views=3).fit(X, y, T), TypeError, "'each'"),
        "view column": (lambda: R(views={"a": [4]}).fit(X, y, T), ValueError, "0 to 3"),
        "no such view": (
            lambda: R(generalize="views", generalized_views=["z"]).fit(X, y, T), ValueError, "'z'"),
        "costs": (lambda: R([[0, 1, 1], [1, 0, 1]]).fit(X, y), ValueError, "column for each class"),
        "threads": (lambda: R(threads=0).fit(X, y), ValueError, "threads must be"),
        "folds": (lambda: R(folds=1).fit(X, y), ValueError, "folds"),
        "tol": (lambda: R(tol=0, lam=0.1).fit(X, y), ValueError, "tol must be a number > 0"),
        "weights": (lambda: R().fit(X, y, sample_weight=-np.ones(len(X))), ValueError, "Negative"),
        "weight lengths": (lambda: R().fit(X, y, sample_weight=[1.0]), ValueError, "sample_weight"),
        "no weight": (
            lambda: R().fit(X, y, sample_weight=np.zeros(len(X))), ValueError, "positive|zero"),
        "classes": (lambda: R(classes=[1, 2]).fit(X, y), ValueError, "each class once"),
        "option": (lambda: R(lamda=1), TypeError, "lamda"),
        "ratio target": (lambda: L().fit(X, T[:, :2]), ValueError, "2 features, X has 4"),
        "ratio labels": (lambda: L().fit(X, y[:-1]), ValueError, "neither labels"),
        "ratio lam": (lambda: L(lam="best").fit(X, T), ValueError, "positive number, paper, cv or stable"),
        "ratio width": (lambda: covshift.KLIEP(kernel_width=-1).fit(X, T), ValueError, "width"),
        "diagnose": (lambda: covshift.diagnose(X, None), ValueError, "X_target"),
        "sampling": (lambda: covshift.biased_split(X, y, quantile=2), ValueError, "quantile"),
        "feature": (lambda: covshift.biased_split(X, y, feature="z"), ValueError, "'z'"),
        "features": (lambda: covshift.biased_split(X, y, feature=-2), ValueError, "0 to 3"),
        "rows": (lambda: covshift.biased_split(X, y, n_train=-5), ValueError, "n_train must be a whole number >= 1"),
        "interval": (lambda: covshift.biased_split(X, y, a=3), TypeError, "a must be a list"),
        "sparse column": (lambda: R().fit(out, y), ValueError, "column 100000000, but columns are 0 to 3; rebuild"),
        "sparse negative": (lambda: R().fit(back, y), ValueError, "column -.*, but columns are 0 to 3; rebuild"),
        "sparse offsets": (lambda: R().fit(offsets, y), ValueError, "starts at entry .* ends at entry .*; rebuild"),
        "sparse long column": (lambda: R().fit(wide, y), ValueError, "indices must be < 4.*rebuild"),
        "missing class": (lambda: R().fit(X, gap), ValueError, "row 3 is missing"),
        "missing class of a table": (lambda: R().fit(coloured, gap), ValueError, "row 3 is missing"),
        "no rows": (lambda: R().fit(coloured[:0], []), ValueError, "X has no rows"),
        "durations": (
            lambda: R().fit(frame.assign(a=pd.to_timedelta(ones, unit="s")), y), TypeError,
            "'a' of X is of type timedelta64"),
        "durations of polars": (
            lambda: R().fit(pl.DataFrame({"a": pd.to_timedelta(ones, unit="s")}), y), TypeError,
            "'a' of X is of type duration"),
        "lazy": (lambda: R().fit(pl.DataFrame(X).lazy(), y), TypeError, r"collect\(\)"),
        "costs of one dimension": (lambda: R([0, 1]).fit(X, y), ValueError, "row for each action"),
        "no loss": (lambda: R(None).fit(X, y), ValueError, "loss must be a name"),
        "lam type": (lambda: R(lam=None).fit(X, y), TypeError, "lam must be a number or a string"),
        "folds type": (lambda: R(folds="x").fit(X, y), TypeError, "folds must be a number"),
        "broken folds": (lambda: R(folds=2.5).fit(X, y), ValueError, "folds must be a whole"),
        "iterations": (lambda: R(max_iter=-1).fit(X, y), ValueError, "max_iter must be a whole number >= 0"),
        "seed": (lambda: R(random_state=2**70).fit(X, y), ValueError, "random_state must be in"),
        "threads type": (lambda: R(threads="all").fit(X, y), TypeError, "threads must be"),
        "progress": (lambda: R(progress="yes").fit(X, y), TypeError, "progress must be"),
        "no views": (lambda: R(views={}).fit(X, y, T), ValueError, "'all' or 'each'"),
        "view member": (lambda: R(views={"a": [0.5]}).fit(X, y, T), TypeError, "0.5 must be the name or number"),
        "trusted": (
            lambda: R(generalized_views=None).fit(X, y, T), TypeError, "generalized_views must be a list"),
        "ratio scale": (lambda: L(scale=None).fit(X, T), TypeError, "scale must be a string"),
        "ratio centres": (lambda: covshift.ULSIF(centres=-3).fit(X, T), ValueError, "centres must be a whole number >= 1"),
        "ratio width text": (
            lambda: covshift.ULSIF(kernel_width="wide").fit(X, T), ValueError, "kernel_width.*'cv'"),
        "diagnose ratio": (lambda: covshift.diagnose(X, T, ratio=None), TypeError, "ratio must be"),
        "diagnose views": (lambda: covshift.diagnose(X, T, views={}), ValueError, "'all' or 'each'"),
        "column": (lambda: R(ratio="column:w").fit(X, y, T), ValueError, "DataFrame"),
    }


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, float, bool, str, object])
def test_classes_are_numbered_in_their_order(dtype):
    from covshift._labels import numbered

    rng = np.random.default_rng(1)
    for values in ([-128, 127], [-5, 3, 4], [0, 1], [7], [100, 2]):
        if np.dtype(dtype).kind == "u":
            values = np.abs(values)
        y = rng.choice(values, size=500).astype(dtype)
        classes, codes = numbered(y)
        expected, inverse = np.unique(y, return_inverse=True)
        np.testing.assert_array_equal(classes, expected)
        np.testing.assert_array_equal(codes, inverse)
        assert classes.dtype == expected.dtype
    far = np.array([2**63, 2**63 + 1, 2**63], dtype=np.uint64)  # too large to count
    np.testing.assert_array_equal(numbered(far)[1], [0, 1, 0])


def test_names_of_many_columns():
    from covshift._data import NumberedColumns

    for prefix in ("", "c"):
        columns = NumberedColumns(prefix, 12)
        names = [f"{prefix}{c}" for c in range(1, 13)]
        assert list(columns) == names and len(columns) == 12 and columns[-1] == names[-1]
        for name in [*names, f"{prefix}0", f"{prefix}13", f"{prefix}01", "c", "", "x1", f"{prefix}-1"]:
            assert (name in columns) == (name in names), name
    with pytest.raises(IndexError):
        columns[12]


@pytest.mark.parametrize("name", bad_calls(np.zeros((5, 4)), np.zeros(5), np.zeros((5, 4))))
def test_errors_say_what_to_do(shifted, name):
    X, y, X_target, _ = shifted
    call, kind, message = bad_calls(X, y, X_target)[name]
    with warnings.catch_warnings(), pytest.raises(kind, match=message):
        warnings.simplefilter("ignore")
        call()


def told(call):
    """What a call warns of, and its answer."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        answer = call()
    return [str(warning.message) for warning in found], answer


def test_tables_of_numbers_are_checked_as_others_are(shifted):
    X, y = shifted[:2]
    n = len(X)
    frame = pd.DataFrame({"x": X[:, 0], "Unnamed: 0": np.arange(n), "a, b": 3.0, "e": np.nan})
    names = np.where(y == 0, "a", "A")
    classifier = covshift.RobustClassifier(generalize="none", lam=0.1)
    found, model = told(lambda: classifier.fit(frame, names))
    start = "the training data: "
    assert found == [
        start + "column 'Unnamed: 0' numbers the rows; leave it out (X.drop(columns=['Unnamed: 0']))",
        start + "one column has no value in any row ('e') and cannot help; leave it out (X.drop(columns=['e']))",
        start + "the label 'label' has the classes 'A' and 'a', which differ only in capitals or blanks; write them alike "
        "if they are the same",
        start + "one column has the same value in every row ('a, b'): nothing can be learnt about it; leave it out "
        "(X.drop(columns=['a, b'])) unless new data have other values",
    ]
    other = frame.copy()
    other.loc[0, "x"], other.loc[1:2, "a, b"] = np.nan, 4
    found, _ = told(lambda: model.predict(other))
    assert found == [
        f"the data: one column has one value in training and others in 2 of {n} rows here ('a, b'): nothing can be learnt "
        "about it, and these rows are unlike the training rows",
        f"the data: column 'x' has missing values (1 of {n} rows, {100 / n:.2g}%), but had none in training; the median or "
        "most frequent value of training takes their place",
    ]
    assert told(lambda: model.predict(frame))[0] == []


def test_a_quantity_is_no_class():
    X = np.random.default_rng(0).normal(size=(400, 2))
    found, _ = told(lambda: covshift.RobustClassifier(generalize="none", lam=0.1).fit(X, np.arange(400)))
    assert found == ["the training data: the label 'label' has 400 different numbers: that is a quantity, and each value is "
                     "taken as a class; this program classifies, so cut it into a few ranges"]


def test_booleans_in_a_column_of_objects_are_numbers(shifted):
    X, y = shifted[:2]
    flag = X[:, 1] > 0
    objects = pd.Series(flag, dtype=object)
    objects[3] = None
    model = covshift.RobustClassifier(generalize="none", lam=0.1).fit(pd.DataFrame({"x": X[:, 0], "flag": objects}), y)
    found, _ = told(lambda: model.predict(pd.DataFrame({"x": X[:, 0], "flag": flag})))
    assert found == []


def test_a_column_of_lists_is_named(shifted):
    X, y = shifted[:2]
    frame = pd.DataFrame({"x": X[:, 0], "tags": [[1, 2]] * len(X)})
    with pytest.raises(TypeError, match="column 'tags' of X holds values that are neither numbers, categories nor dates"):
        covshift.RobustClassifier(generalize="none").fit(frame, y)
