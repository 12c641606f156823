"""Fits to batches that are kept on disk are those of the same rows in memory."""

import os

import numpy as np
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
    np.testing.assert_array_equal(model.predict_proba(X_new), expected.predict_proba(X_new))
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
        (pa.table({"a": [1.0]}), "name the column of the class"),
    ):
        with pytest.raises(ValueError, match=message):
            covshift.stream.fit(lr, batches, cache_dir=tmp_path)
    with pytest.raises(ValueError, match="there is no column 'z'"):
        covshift.stream.fit(lr, pa.table({"a": [1.0]}), label="z", cache_dir=tmp_path)
    with pytest.raises(OSError):
        covshift.stream.fit(lr, [(X, y)], cache_dir=tmp_path / "none")
    assert os.listdir(tmp_path) == []
