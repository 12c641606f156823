"""Tables of other libraries, by Arrow's C data interface or from pandas: one model, that of the same CSV file."""

import datetime
import decimal
import json
import subprocess
import sys
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import covshift
from covshift._frames import ArrowTable


def pieces(table):
    """The same rows in chunks, one of them empty, and each at an offset in its memory."""
    twice = pa.concat_tables([table.slice(0, 3), table]).combine_chunks()
    return pa.concat_tables([twice.slice(3, 40), twice.slice(0, 0), twice.slice(43, 1), twice.slice(44)])


LIBRARIES = {
    "pandas": pa.Table.to_pandas,
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "pyarrow in chunks": pieces,
    "record batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: pa.RecordBatchReader.from_batches(table.schema, pieces(table).to_batches()),
    "duckdb": duckdb.from_arrow,
}


@pytest.fixture(scope="module")
def tables(shifted):
    """Training and target rows of every ordinary kind, with classes."""
    X, y, X_target, _ = shifted
    rng = np.random.default_rng(4)

    def table(X):
        n = len(X)
        first = datetime.date(2020, 2, 27)
        return pa.table({
            "a": pa.array([None if i % 9 == 2 else v for i, v in enumerate(X[:, 0].tolist())]),
            "whole": pa.array(rng.integers(-5, 99, n), pa.int32()),
            "colour": pa.array([None if i % 7 == 3 else ("red", "green", "blue")[i % 3] for i in range(n)]),
            "size": pa.array(np.resize(["S", "M", "L", "M"], n)).dictionary_encode(),
            "seen": pa.array([first + datetime.timedelta(days=int(d)) for d in rng.integers(0, 900, n)]),
            "b": pa.array(X[:, 1], pa.float64()),
        })

    return table(X), np.where(y == 1, "yes", "no"), table(X_target)


def fitted(X, y, X_target=None, **options):
    return covshift.robust(lam=0.01, ratio_lam=0.01, dates=["seen"], **options).fit(X, y, X_target)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_model_of_the_csv_file(tables, program, tmp_path, library):
    train, y, target = tables
    to = LIBRARIES[library]
    train.append_column("y", [y]).to_pandas().to_csv(tmp_path / "train.csv", index=False)
    target.to_pandas().to_csv(tmp_path / "target.csv", index=False)
    program("fit", tmp_path / "train.csv", "--target", tmp_path / "target.csv", "--label", "y", "--method", "robust",
            "--lambda", "0.01", "--ratio-lambda", "0.01", "--dates", "seen", "-q", "-o", tmp_path / "m.json")
    by_file = covshift.RobustClassifier.load(tmp_path / "m.json")
    model = fitted(to(train), y, to(target))
    assert model.feature_names_ == by_file.feature_names_
    assert "seen:weekday" in model.feature_names_ and "colour missing" in model.feature_names_
    np.testing.assert_allclose(model.coef_scaled_, by_file.coef_scaled_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model.predict_proba(to(target)), by_file.predict_proba(target), rtol=1e-12)
    model.save(tmp_path / "n.json")
    encoders = [json.loads((tmp_path / f).read_text())["body"]["encoder"] for f in ("m.json", "n.json")]
    assert encoders[0] == encoders[1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_parquet(tables, tmp_path, library):
    train, y, target = tables
    pq.write_table(train, tmp_path / "train.parquet", row_group_size=50)
    read = {"polars": pl.read_parquet, "pandas": pd.read_parquet, "duckdb": duckdb.read_parquet}
    rows = read.get(library, pq.read_table)(str(tmp_path / "train.parquet"))
    expected = fitted(train, y, target).predict_proba(target)
    np.testing.assert_array_equal(fitted(rows, y, target).predict_proba(target), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_numbers(shifted, library):
    X, y, X_target, _ = shifted
    to = LIBRARIES[library]
    names = ["a", "b", "c", "d"]
    train, target = (pa.table(dict(zip(names, x.T))) for x in (X, X_target))
    model = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01, views="each").fit(to(train), y, to(target))
    plain = covshift.RobustClassifier(lam=0.01, ratio_lam=0.01, views="each").fit(X, y, X_target)
    assert list(model.feature_names_in_) == names and [v.name for v in model.views_] == names
    np.testing.assert_array_equal(model.predict_proba(to(target)), plain.predict_proba(X_target))
    ratio = covshift.LogisticRatio(lam=0.01).fit(to(train), to(target))
    np.testing.assert_array_equal(ratio.log_ratio(to(train)), model.log_ratio(X))
    assert covshift.diagnose(to(train), to(target), permutations=19).train == len(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(to(target.rename_columns(list("abce"))))


NUMBERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
           pa.float16(), pa.float32(), pa.float64(), pa.decimal128(20, 3), pa.decimal128(38, 0)]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers(kind):
    values = [0, 1, None, 5, 100, None, 77]
    if kind in (pa.int8(), pa.int32(), pa.int64(), pa.float16(), pa.float64(), pa.decimal128(20, 3)):
        values[3] = -5
    if pa.types.is_floating(kind):
        values[4] = 0.375
    given = [decimal.Decimal(v) if pa.types.is_decimal(kind) and v is not None else v for v in values]
    if kind == pa.decimal128(20, 3):
        values[4], given[4] = -0.3, decimal.Decimal("-0.3")
    if kind == pa.decimal128(38, 0):
        values[4] = float(10**30)
        given[4] = decimal.Decimal(10**30)
    column = pa.chunked_array([pa.array(given, kind), pa.array(given, kind).slice(2, 3)])
    matrix = np.asarray(ArrowTable(pa.table({"x": column, "z": pa.array(range(10), pa.int8())})))
    expected = [np.nan if v is None else v for v in [*values, *values[2:5]]]
    assert matrix.flags.c_contiguous and matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix[:, 0], expected)
    np.testing.assert_array_equal(matrix[:, 1], np.arange(10))


def test_booleans_nothing_and_single_precision():
    table = pa.table({"flag": pa.array([True, None, False, True]).slice(1), "none": pa.nulls(3)})
    np.testing.assert_array_equal(np.asarray(ArrowTable(table)), [[np.nan, np.nan], [0, np.nan], [1, np.nan]])
    single = pa.table({"x": pa.array([1.5, 2.5], pa.float32()), "z": pa.array([0.1, 0.2], pa.float32())})
    matrix = np.asarray(ArrowTable(single))
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.array([[1.5, 0.1], [2.5, 0.2]], dtype=np.float32))


WORDS = ["a", "a rather long word that does not fit into a view", None, "b", "é"]
STRINGS = {
    "string": pa.array(WORDS), "large": pa.array(WORDS, pa.large_string()),
    "view": pa.array(WORDS, pa.string_view()), "dictionary": pa.array(WORDS).dictionary_encode(),
    "large dictionary": pa.array(WORDS, pa.large_string()).dictionary_encode(),
    "small codes": pa.array(WORDS).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
}


@pytest.mark.parametrize("kind", STRINGS)
def test_strings(shifted, kind):
    X, y, _, _ = shifted
    chunks = [STRINGS[kind].slice(2), STRINGS[kind], STRINGS[kind].slice(1, 1)]
    column = pa.chunked_array(chunks * (len(X) // 9) + [STRINGS[kind].slice(0, 1)] * (len(X) % 9))
    plain = pa.chunked_array([pa.array(column.to_pylist())])
    model = covshift.lr(lam=0.1).fit(pa.table({"x": X[:, 0], "word": column}), y)
    expected = covshift.lr(lam=0.1).fit(pd.DataFrame({"x": X[:, 0], "word": plain.to_pylist()}), y)
    assert model.feature_names_ == ["x", "word=a", f"word={WORDS[1]}", "word=b", "word=é", "word missing"]
    np.testing.assert_array_equal(model.coef_scaled_, expected.coef_scaled_)


def test_numbers_as_categories(shifted):
    X, y, _, _ = shifted
    codes = np.resize([3, 1, 12], len(X))
    arrow = covshift.lr(lam=0.1).fit(pa.table({"x": X[:, 0], "k": pa.array(codes).dictionary_encode()}), y)
    frame = pd.DataFrame({"x": X[:, 0], "k": pd.Categorical(codes)})
    assert arrow.feature_names_ == ["x", "k=1", "k=3", "k=12"]
    np.testing.assert_array_equal(arrow.coef_scaled_, covshift.lr(lam=0.1).fit(frame, y).coef_scaled_)


MOMENTS = [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"),
           pa.timestamp("ns"), pa.timestamp("us", "UTC")]


@pytest.mark.parametrize("kind", MOMENTS, ids=str)
def test_dates(shifted, kind):
    X, y, _, _ = shifted
    first = datetime.datetime(1969, 12, 28, *((17, 30) if pa.types.is_timestamp(kind) else (0, 0)))
    moments = [None if i == 5 else first + datetime.timedelta(days=i) for i in range(len(X))]
    text = [None if m is None else m.isoformat(" ") for m in moments]
    model = covshift.lr(lam=0.1, dates=["t"]).fit(pa.table({"x": X[:, 0], "t": pa.array(moments, kind)}), y)
    expected = covshift.lr(lam=0.1, dates=["t"]).fit(pd.DataFrame({"x": X[:, 0], "t": text}), y)
    assert model.feature_names_[1:] == ["t:year", "t:month", "t:weekday", "t:days", "t missing"]
    np.testing.assert_array_equal(model.coef_scaled_, expected.coef_scaled_)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_dates_are_pointed_out(shifted, library):
    X, y, _, _ = shifted
    moments = pa.array([datetime.datetime(2020, 1, 1 + i % 28) for i in range(len(X))])
    table = LIBRARIES[library](pa.table({"x": X[:, 0], "seen": moments}))
    with pytest.warns(UserWarning, match=r"'seen' holds dates such as .* \(dates=\['seen'\]\)"):
        covshift.lr(lam=0.1).fit(table, y)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_words_that_mean_missing(shifted, library):
    X, y, _, _ = shifted
    words = [(None, "?", "NA", "", "nan", "red", "blue")[i % 7] for i in range(len(X))]
    marked = [w if w in ("red", "blue") else None for w in words]
    to = LIBRARIES[library]
    models = [covshift.lr(lam=0.1).fit(to(pa.table({"x": X[:, 0], "c": pa.array(c)})), y) for c in (words, marked)]
    assert models[0].feature_names_ == ["x", "c=blue", "c=red", "c missing"]
    np.testing.assert_array_equal(models[0].coef_scaled_, models[1].coef_scaled_)


REFUSED = {
    "list": pa.array([[1], [2], [3]]), "struct": pa.array([{"a": 1}] * 3), "duration": pa.array([1, 2, 3], pa.duration("s")),
    "time of day": pa.array([1, 2, 3], pa.time32("s")), "binary": pa.array([b"a", b"b", b"c"]),
    "decimal of more than 128 bits": pa.array([decimal.Decimal(1)] * 3, pa.decimal256(50, 2)),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_types_that_are_not_features(kind):
    table = pa.table({"x": [1.0, 2.0, 3.0], "odd": REFUSED[kind]})
    with pytest.raises(TypeError, match=f"column 'odd' of X is of type {kind}, neither .*; convert it, or drop it"):
        covshift.lr(lam=0.1).fit(table, [0, 1, 0])


def test_a_stream_that_fails_says_why(shifted):
    def batches():
        yield pa.record_batch({"x": [1.0, 2.0]})
        raise OSError("the disk is on fire")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), batches())
    with pytest.raises(ValueError, match="the table cannot be read: .*the disk is on fire"):
        covshift.lr(lam=0.1).fit(reader, [0, 1])
    with pytest.raises(ValueError, match="two columns are named 'x'"):
        covshift.lr(lam=0.1).fit(pa.table([[1.0, 2.0], [2.0, 3.0]], names=["x", "x"]), [0, 1])
    with pytest.raises(ValueError, match="X has no rows"):
        covshift.lr(lam=0.1).fit(pa.table({"c": pa.array([], pa.string())}), [])


MEASURE = """
import resource, numpy as np, pyarrow as pa, covshift
from covshift._frames import ArrowTable
rows, cols = 20000, 1000
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
table = pa.table({f"c{j}": np.random.default_rng(j).normal(size=rows) for j in range(cols)})
before = peak()
read = ArrowTable(table)
held = peak() - before
matrix = np.asarray(read)
print(table.nbytes, held, peak() - before)
"""


def test_numbers_are_copied_once():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    size, held, copied = map(int, done.stdout.split())
    assert size == 160_000_000
    assert held < 0.1 * size  # read in place
    assert copied < 1.2 * size  # the rows of the matrix


def test_no_library_of_tables_is_imported():
    code = (  # scikit-learn imports pandas where it is installed
        "import sys, sklearn.utils.fixes; before = set(sys.modules); import covshift\n"
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'duckdb') if m in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pandas_needs_no_pyarrow(shifted):
    X, y, _, _ = shifted
    code = """
import sys
sys.modules["pyarrow"] = None
import numpy as np, pandas as pd, covshift
frame = pd.DataFrame({"x": np.arange(40.0), "c": ["u", "v"] * 20}, index=np.arange(40) + 7)
print(covshift.lr(lam=0.1).fit(frame, np.arange(40) % 2).feature_names_)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['x', 'c=u', 'c=v']", done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame({"x": X[:, 0], "c": np.resize(["u", "v"], len(X))}, index=np.arange(len(X)) + 7)
        arrow = pl.DataFrame({"x": X[:, 0], "c": np.resize(["u", "v"], len(X))})
        np.testing.assert_array_equal(covshift.lr(lam=0.1).fit(frame, y).coef_scaled_, covshift.lr(lam=0.1).fit(arrow, y).coef_scaled_)
