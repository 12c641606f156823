"""Fits to batches that are kept on disk are those of the same rows in memory."""

import datetime
import os
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import covshift


def rows(seed, n, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(shift, 1, size=(n, 4))
    y = np.where(X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0, "yes", "no")
    return X, y


def cut(*arrays, at=(7, 7, 400)):
    edges = [0, *at, len(arrays[0])]
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        parts = tuple(a[first:last] for a in arrays)
        yield parts if len(parts) > 1 else parts[0]


@pytest.mark.parametrize("kind", ["generator", "arrow"])
def test_batches_are_the_rows(kind, tmp_path):
    X, y = rows(1, 600)
    X_new, _ = rows(2, 500, 0.5)
    expected = covshift.robust(lam=0.01).fit(X, y, X_new)
    if kind == "generator":
        batches, target, label = cut(X, y), cut(X_new), None
    else:
        names = ["a", "b", "c", "d"]
        table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y})
        batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))
        target, label = pa.table(dict(zip(names, X_new.T, strict=True))), "y"
    model = covshift.stream.fit(covshift.robust(lam=0.01), batches, target, label=label, cache_dir=tmp_path)
    found = model.predict_proba(X_new if kind == "generator" else target)
    np.testing.assert_array_equal(found, expected.predict_proba(X_new))
    assert model.classes_.tolist() == ["no", "yes"]
    assert os.listdir(tmp_path) == []


def test_missing_values_and_no_target():
    X, y = rows(3, 300)
    X[::7, 2] = np.nan
    model = covshift.stream.fit(covshift.lr(lam=0.1), cut(X, y, at=(100,)))
    np.testing.assert_array_equal(model.predict_proba(X), covshift.lr(lam=0.1).fit(X, y).predict_proba(X))


def test_bad_batches(tmp_path):
    X, y = rows(4, 20)
    lr = covshift.lr(lam=1.0)
    for batches, message in (
        ([(X, y), (X[:, :3], y)], "batch 2 has 3 columns, those before it 4"),
        ([(X, y[:5])], "batch 1 has 20 rows, but labels of shape"),
        ([X], "batch 1 is not a pair"),
        ([], "there are no rows"),
        ([(np.array([["a", "b"]]), ["x"])], "batch 1 has values that are not numbers"),
        ([(X.astype(str), y)], "batch 1 has values that are not numbers .there is text"),
        ([(X.astype(str).astype(object), y)], "batch 1 has values that are not numbers"),
        ([(X.astype("datetime64[s]"), y)], "batch 1 has values that are not numbers"),
        ([(X, y), (X, np.arange(20))], "the labels are numbers in batch 2 and text in batch 1"),
        ([(X, [1, 2] * 10), (X, y[:0]), (X, list(y))], "batch 2 has 20 rows, but labels of shape"),
        ([(X, [True, False] * 10), (X[:0], y[:0]), (X, y.astype(object))], "numbers in batch 1 and text in batch 3"),
        (pa.table({"a": [1.0]}), "name the column of the class"),
    ):
        with pytest.raises(ValueError, match=message):
            covshift.stream.fit(lr, batches, cache_dir=tmp_path)
    with pytest.raises(ValueError, match="there is no column 'z'"):
        covshift.stream.fit(lr, pa.table({"a": [1.0]}), label="z", cache_dir=tmp_path)
    with pytest.raises(FileNotFoundError, match="cache_dir must be a folder .*, not '.*none': No such file"):
        covshift.stream.fit(lr, [(X, y)], cache_dir=tmp_path / "none")
    with pytest.raises(ValueError, match=r"target must be batches of rows, not one array; give target=\[X\]"):
        covshift.stream.fit(lr, [(X, y)], X, cache_dir=tmp_path)
    assert os.listdir(tmp_path) == []


def test_arrow_columns_that_are_not_numbers():
    good = {"x": [1.0, 2.0], "y": [0, 1]}
    for odd in ([datetime.datetime(2020, 1, 1)] * 2, ["1", "2"], [b"1", b"2"]):
        with pytest.raises(ValueError, match="column 'odd' of batch 1 has values that are not numbers .* encode them"):
            covshift.stream.fit(covshift.lr(lam=0.1), pa.table({**good, "odd": odd}), label="y")


NAMES = ["a", "b", "c", "d"]


def named(kind, X, order, y=None):
    columns = {name: X[:, NAMES.index(name)] for name in order} | ({} if y is None else {"y": y})
    return pa.table(columns) if kind == "arrow" else pd.DataFrame(columns, index=np.arange(len(X)) + 7)


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_columns_are_taken_by_name(kind):
    X, y = rows(5, 300)
    X_new, _ = rows(6, 200, 0.5)
    expected = covshift.robust(lam=0.01).fit(named(kind, X, "abcd"), y, named(kind, X_new, "abcd"))
    pairs = [(named(kind, X[:100], "abcd"), y[:100]), (named(kind, X[100:], "cadb"), y[100:])]
    targets = [named(kind, X_new[:50], "dcba"), named(kind, X_new[50:], "bacd")]
    model = covshift.stream.fit(covshift.robust(lam=0.01), pairs, targets)
    assert model.feature_names_in_.tolist() == NAMES and model._model.to_text() == expected._model.to_text()
    frame = named("pandas", X_new, "abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))

    whole = covshift.stream.fit(
        covshift.robust(lam=0.01), named(kind, X, "abcd", y), named(kind, X_new, "dcba", np.ones(200)), label="y")
    np.testing.assert_array_equal(whole.predict_proba(frame), expected.predict_proba(frame))

    other = named(kind, X, "abd")
    for batches, target, message in (
        ([*pairs, (other, y)], None, "batch 3 has other columns than batch 1: it lacks 'c'. Give"),
        (pairs, [*targets, other], "batch 3 of the target has other columns than batch 1: it lacks 'c'. Give"),
        ([(other, y), *pairs], None, "batch 2 has other columns than batch 1: it adds 'c'. Give"),
    ):
        with pytest.raises(ValueError, match=message):
            covshift.stream.fit(covshift.robust(lam=0.01), batches, target)


def test_names_of_some_batches():
    X, y = rows(7, 60)
    model = covshift.lr(lam=0.1)
    first_named = covshift.stream.fit(model, [(named("pandas", X, "abcd"), y), (X, y)])
    assert first_named.feature_names_in_.tolist() == NAMES
    array_first = covshift.stream.fit(model, [(X, y), (named("pandas", X, "dcba"), y)])
    assert not hasattr(array_first, "feature_names_in_")
    twice = pd.DataFrame(X, columns=["a", "b", "a", "d"])
    with pytest.raises(ValueError, match="batch 1 has two columns named 'a'; rename one"):
        covshift.stream.fit(model, [(twice, y)])
    nullable = named("pandas", X, "abcd").assign(a=pd.array([1, None] * 30, dtype="Int64"))
    for some in (nullable, nullable[["a"]].set_axis([0], axis=1)):
        covshift.stream.fit(model, [(some, y)])
    with pytest.raises(ValueError, match="'column:NAME' needs X_target in memory"):
        covshift.stream.fit(covshift.robust(ratio="column:a"), [(named("pandas", X, "abcd"), y)] * 2, [X])
