"""The ONNX file answers as the model does: onnxruntime agrees to 1e-6 with every kind of model."""

import datetime
import json
import pathlib

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import covshift
from covshift import _core

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

GOLDEN = pathlib.Path(__file__).parents[1] / "model" / "golden"
LOSSES = ["log", "zero-one", "absolute", "squared", "hinge", "abstain:0.3", "abstain:0.5", "abstain:0.8"]
MAPS = ["linear", "quadratic", "splines:4", "fourier:30", "nystroem:20", "linear + nystroem:10"]
RATIOS = ["logistic", "quadratic", "gaussian", "ulsif", "rulsif", "kliep", "kmm"]
ASSUMPTIONS = ["none", "train", "test", "views", "views:2", "overlap", "overlap:3", "temper:0.4"]
TOLERANCE = 1e-9  # a thousandth of what is promised: single precision anywhere would show


def session_of(file):
    """Checks the file against the standard and loads it."""
    model = onnx.load_from_string(file)
    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString() == file  # no field out of order, none unknown
    assert model.ir_version == 9
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 19)]
    assert (model.producer_name, model.producer_version) == ("covshift", covshift.__version__)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    assert [o.name for o in session.get_outputs()] == ["label", "probabilities", "log_ratio"]
    return session


def feed_of(session, X):
    """A matrix, or a column of rows for each input: days since 1970 for dates, "" for missing text."""
    inputs = session.get_inputs()
    if [i.name for i in inputs] == ["X"]:
        return {"X": np.asarray(X, dtype=float)}
    feed = {}
    for given in inputs:
        column = X[given.name.rstrip("_") if given.name not in X else given.name]
        if given.type == "tensor(string)":
            feed[given.name] = column.fillna("").astype(str).to_numpy(dtype=object)[:, None]
        elif column.dtype.kind == "M":
            days = (column - pd.Timestamp(1970, 1, 1)) / pd.Timedelta(days=1)
            feed[given.name] = days.to_numpy(dtype=float)[:, None]
        else:
            feed[given.name] = column.to_numpy(dtype=float)[:, None]
    return feed


def assert_agrees(model, X, file=None):
    session = session_of(model.to_onnx() if file is None else file)
    feed = feed_of(session, X)
    label, p, log_ratio = session.run(None, feed)
    expected = model.predict_proba(X)
    np.testing.assert_allclose(p, expected, rtol=0, atol=TOLERANCE)
    ratio = model.log_ratio(X)
    np.testing.assert_allclose(log_ratio, ratio, rtol=1e-9, atol=TOLERANCE)
    assert log_ratio.shape == label.shape == (len(expected),)
    # Ties may fall either way.
    top = np.sort(expected, axis=1)
    clear = top[:, -1] - top[:, -2] > TOLERANCE
    predicted = np.array([str(action) for action in model.actions_])[expected.argmax(axis=1)]
    if not hasattr(model, "abstain_"):
        assert list(label[clear]) == list(predicted[clear])
    for row in (0, len(expected) - 1):  # alone
        one = session.run(["probabilities"], {k: v[row : row + 1] for k, v in feed.items()})[0]
        np.testing.assert_allclose(one[0], expected[row], rtol=0, atol=TOLERANCE)
    return session


@pytest.fixture(scope="module")
def three():
    """X, y, X_target: three ordered classes; the inputs shift."""
    rng = np.random.default_rng(1)

    def draw(n, mean):
        X = rng.normal(size=(n, 3)) + [mean, 0, 0]
        return X, np.digitize(X[:, 0] + X[:, 1] * 0.5 + 0.5 * rng.normal(size=n), [-0.4, 0.6])

    X, y = draw(60, 0.0)
    return X, y, draw(50, 0.7)[0]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden_models(path):
    model = covshift.RobustClassifier.load(path)
    data = pd.read_csv(GOLDEN / "data.csv")
    assert_agrees(model, data)
    recorded = pd.read_csv(path.with_suffix(".csv"))
    session = session_of(model.to_onnx())
    p = session.run(["probabilities"], feed_of(session, data))[0]
    np.testing.assert_allclose(p, recorded.filter(like="p:"), rtol=0, atol=TOLERANCE)


def test_golden_models_were_found():
    assert len(list(GOLDEN.glob("*.json"))) >= 13


@pytest.mark.parametrize("method", [row[0].replace("-", "_") for row in _core.methods()])
def test_every_method(three, method):
    X, y, X_target = three
    assert_agrees(getattr(covshift, method)(lam=0.01).fit(X, y, X_target), X_target)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(three, loss):
    """Every loss of the table, under every assumption for the first."""
    X, y, X_target = three
    for generalize in ASSUMPTIONS if loss == "zero-one" else ["train", "test"]:
        model = covshift.RobustClassifier(loss, generalize, views="each", lam=0.003, view_threshold=0.5)
        assert_agrees(model.fit(X, y, X_target), np.vstack([X_target, X, 10 * X]))


@pytest.mark.parametrize("loss", ["squared", "absolute", "zero-one", "abstain:0.4"])
def test_many_classes(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.4 * rng.normal(size=200), [-1, -0.5, 0, 0.3, 0.8, 1.2])
    for lam in (1e-3, 0.03):
        model = covshift.lr(loss=loss, lam=lam, features="quadratic").fit(X, y)
        assert_agrees(model, np.vstack([X, 3 * X, 0.1 * X]))


@pytest.mark.parametrize("options", [{"bias": "test"}, {"bias": "none"}, {"caution": 0.3}, {"caution": 0.0}])
def test_bias_and_caution(three, options):
    X, y, X_target = three
    for generalize in ("train", "views", "overlap:2"):
        model = covshift.RobustClassifier(generalize=generalize, views="each", lam=0.01, view_threshold=0.5, **options)
        assert_agrees(model.fit(X, y, X_target), 3 * X_target)


@pytest.mark.parametrize("maps", MAPS)
def test_one_column(three, maps):
    """A factor for each column is then a single number: runtimes may not take it for a scalar to be rounded."""
    X, y, X_target = three
    for scale in ("unit", "standard"):
        model = covshift.robust(lam=0.003, features=maps, scale=scale, bias="none")
        assert_agrees(model.fit(X[:, :1] * 3.3, y, X_target[:, :1] * 3.3), X_target[:, :1])


def test_sparse_data_are_rows_of_numbers(three):
    X, y, X_target = three
    sparse, target = scipy.sparse.csr_array(np.where(X > 0, X, 0)), np.where(X_target > 0, X_target, 0)
    for ratio in ("logistic", "ulsif"):
        model = covshift.robust(lam=0.01, ratio=ratio).fit(sparse, y, scipy.sparse.csr_array(target))
        assert_agrees(model, target)


def test_losses_are_all_of_the_table():
    _, values, _ = _core.options()["RobustClassifier"]["loss"]
    known = {value.partition(":")[0] for value in values.split("|")} - {"cost"}
    assert known == {loss.partition(":")[0] for loss in LOSSES}


@pytest.mark.parametrize("maps", MAPS)
def test_every_map(three, maps):
    X, y, X_target = three
    for generalize in ("train", "views"):
        model = covshift.RobustClassifier(
            generalize=generalize, views={"one": [0, 1], "two": [2, 0]}, features=maps, lam=0.01
        )
        assert_agrees(model.fit(X, y, X_target), np.vstack([X_target, 100 * X]))


@pytest.mark.parametrize("scale", ["standard", "unit", "none"])
@pytest.mark.parametrize("ratio", RATIOS)
def test_every_ratio(three, ratio, scale):
    X, y, X_target = three
    model = covshift.RobustClassifier("zero-one", "train", ratio=ratio, scale=scale, lam=0.01)
    assert_agrees(model.fit(X + 5, y, X_target + 5), np.vstack([X_target, X, X_target * 3]) + 5)


def test_the_default_mixes_models(shifted):
    X, y, X_target, _ = shifted
    mixed = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = covshift.auto(lams=[0.1, 0.01]).fit(X + 0.1 * rng.normal(size=X.shape), y, X_target)
        mixed += sum(tried.share > 0 for tried in model.tried_) > 1
        assert_agrees(model, np.vstack([X_target, 4 * X_target]))
    assert mixed > 0, "no model was a mixture: the test tests nothing"


@pytest.mark.parametrize("scale", ["standard", "unit", "none"])
@pytest.mark.parametrize("loss", ["log", "zero-one", "absolute", "squared", "abstain:0.3"])
def test_rows_far_outside_training(three, loss, scale):
    X, y, X_target = three
    far = np.array([[s * v, t * v, 0.3] for v in (1e3, 1e10, 1e150, 1e300) for s in (-1, 1) for t in (0, -1, 1)])
    for generalize, ratio in (("train", "logistic"), ("views", "gaussian"), ("test", "ulsif")):
        model = covshift.RobustClassifier(loss, generalize, views="each", ratio=ratio, scale=scale, lam=0.01)
        assert_agrees(model.fit(X, y, X_target), far)


def test_rows_that_predict_refuses_have_no_answer(three):
    X, y, X_target = three
    bad = X_target[:3].copy()
    bad[1, 1] = np.inf
    for model in (covshift.lr(lam=0.1, loss="zero-one"), covshift.robust(lam=0.1, missing="error", scale="unit")):
        model.fit(X, y, X_target)
        with pytest.raises(ValueError):
            model.predict(bad)
        label, p, log_ratio = session_of(model.to_onnx()).run(None, {"X": bad})
        assert np.isnan(p[1]).all() and np.isnan(log_ratio[1]) and label[1] == ""
        np.testing.assert_allclose(p[[0, 2]], model.predict_proba(bad[[0, 2]]), rtol=0, atol=TOLERANCE)
    bad[1, 1] = np.nan
    label, p, _ = session_of(model.to_onnx()).run(None, {"X": bad})
    assert np.isnan(p[1]).all() and label[1] == ""


@pytest.fixture(scope="module")
def table():
    """A table of every kind of column, with missing values, its classes, and rows of the target with
    categories that training never saw."""
    rng = np.random.default_rng(4)

    def draw(n, words):
        date = pd.to_datetime("2019-11-20") + pd.to_timedelta(rng.integers(0, 400, n) * 36, unit="h")
        frame = pd.DataFrame(
            {
                "size": rng.normal(size=n),
                "colour": rng.choice(words, n).astype(object),
                "label": rng.choice(["a", "b"], n).astype(object),  # also the name of an output
                "bought": date,
                "t1": rng.normal(size=n),  # also the name of an inner tensor
            }
        )
        frame.loc[::7, "size"] = np.nan
        frame.loc[3::9, "colour"] = None
        frame.loc[5::11, "bought"] = pd.NaT
        return frame

    train, target = draw(90, ["red", "green", "blue, dark"]), draw(70, ["red", "green", "violet"])
    y = np.where(train["t1"] + (train["colour"] == "red") + 0.5 * rng.normal(size=90) > 0.3, "yes", "no")
    return train, y, target


@pytest.mark.parametrize("missing", ["indicator", "impute"])
def test_tables(table, missing):
    train, y, target = table
    for generalize, features in (("train", "linear"), ("views", "splines:3")):
        model = covshift.RobustClassifier(
            generalize=generalize, lam=0.01, dates=["bought"], missing=missing, views="each", features=features
        )
        model.fit(train, y, target)
        session = assert_agrees(model, target)
        assert [i.name for i in session.get_inputs()] == ["size", "colour", "label_", "bought", "t1"]
        rest = target.assign(**{"t1": np.nan, "label": "?"}).head(4)  # missing only here
        assert_agrees(model, rest)


def test_a_missing_category_where_that_is_an_error(table):
    train, y, _ = table
    train = train[["colour", "t1"]].fillna({"colour": "red"})
    model = covshift.lr(lam=0.1, missing="error").fit(train, y)
    feed = {"colour": np.array([["red"], [""], ["NA"], ["violet"]], dtype=object), "t1": np.zeros((4, 1))}
    label, p, _ = session_of(model.to_onnx()).run(None, feed)
    assert list(np.isnan(p).all(axis=1)) == [False, True, True, False]
    assert list(label == "") == [False, True, True, False]


def test_matrices_with_missing_values(three):
    X, y, X_target = three
    X, X_target = X.copy(), X_target.copy()
    X[::5, 1] = np.nan
    X_target[::4, 1] = X_target[1::6, 2] = np.nan
    for missing in ("indicator", "impute"):
        model = covshift.robust(lam=0.01, missing=missing).fit(X, y, X_target)
        assert_agrees(model, X_target)


def test_dates_follow_the_calendar():
    """Year, month and weekday of days around leap days, before 1970 and at the ends of years."""
    rng = np.random.default_rng(6)
    start = datetime.date(1600, 1, 1)
    days = [start + datetime.timedelta(days=int(n)) for n in rng.integers(0, 292000, 300)]
    y = np.array([day.month > 6 or day.weekday() > 4 for day in days])
    model = covshift.lr(lam=1e-3, dates=["day"], missing="error")
    model.fit(pd.DataFrame({"day": [day.isoformat() for day in days]}), y)
    days += [datetime.date(year, month, day) for year in (1600, 1700, 1900, 1969, 1972, 2000, 2100, 2400)
             for month, day in ((1, 1), (2, 28), (3, 1), (6, 30), (12, 31))]
    days += [datetime.date(year, 2, 29) for year in (1600, 1972, 2000, 2400)]
    since = np.array([(day - datetime.date(1970, 1, 1)).days for day in days], dtype=float)
    p = session_of(model.to_onnx()).run(["probabilities"], {"day": since[:, None]})[0]
    text = pd.DataFrame({"day": [day.isoformat() for day in days]})
    np.testing.assert_allclose(p, model.predict_proba(text), rtol=0, atol=TOLERANCE)
    assert np.ptp(p[:, 1]) > 0.5, "the model ignores the dates: the test tests nothing"


def test_densities_given_as_columns_are_inputs(table, program, tmp_path):
    train, y, target = table
    rng = np.random.default_rng(5)
    files = []
    for name, frame in (("train", train), ("target", target)):
        frame = frame[["size", "colour", "t1"]].assign(y=y[: len(frame)], r=np.exp(rng.normal(size=len(frame))))
        frame["g"] = 0.3 * rng.normal(size=len(frame))
        frame["own"] = np.exp(0.3 * rng.normal(size=len(frame)))
        files.append(tmp_path / f"{name}.csv")
        frame.to_csv(files[-1], index=False)
    by_view = ["--ratio", "column:r,t1=column:own", "--views", "each", "--generalize", "views", "--view-threshold", 50]
    for flags, density in (
        (["--ratio", "column:r", "--drop", "g,own"], {"r"}),
        (["--ratio", "column:r", "--generalize", "column:g", "--drop", "own"], {"r", "g"}),
        (["--ratio", "column:r", "--generalize", "column:g,t1=column:own", "--views", "each"], {"r", "g", "own"}),
        ([*by_view, "--drop", "g"], {"r", "own"}),
    ):
        program("fit", files[0], "--target", files[1], "--label", "y", "--method", "robust", "--lambda", 0.01,
                *flags, "-o", tmp_path / "m.json")
        program("export", tmp_path / "m.json", "-o", tmp_path / "m.onnx", "--quiet")
        session = session_of((tmp_path / "m.onnx").read_bytes())
        data = pd.read_csv(files[1])
        p, log_ratio = session.run(["probabilities", "log_ratio"], feed_of(session, data))
        program("predict", tmp_path / "m.json", files[1], "-o", tmp_path / "p.csv")
        expected = pd.read_csv(tmp_path / "p.csv")
        np.testing.assert_allclose(p, expected.filter(like="p:"), rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(log_ratio, np.log(data["r"]), rtol=0, atol=TOLERANCE)
        assert {i.name for i in session.get_inputs()} == {"size", "colour", "t1"} | density


def test_metadata(three):
    X, y, X_target = three
    model = covshift.robust01(lam=0.1).fit(X, y, X_target)
    meta = session_of(model.to_onnx()).get_modelmeta().custom_metadata_map
    assert json.loads(meta["classes"]) == ["0", "1", "2"]
    assert json.loads(meta["features"]) == ["c1", "c2", "c3"]
    assert (meta["method"], meta["loss"]) == ("robust01", "zero-one")


def test_no_rows_and_many(three):
    X, y, X_target = three
    model = covshift.robust(lam=0.1, loss="zero-one").fit(X, y, X_target)
    session = session_of(model.to_onnx())
    label, p, log_ratio = session.run(None, {"X": np.empty((0, 3))})
    assert (label.shape, p.shape, log_ratio.shape) == ((0,), (0, 3), (0,))
    many = np.tile(X_target, (100, 1))
    np.testing.assert_allclose(session.run(["probabilities"], {"X": many})[0], model.predict_proba(many),
                               rtol=0, atol=TOLERANCE)


def test_the_file_is_the_programs(three, program, tmp_path):
    X, y, X_target = three
    model = covshift.robust(lam=0.1).fit(X, y, X_target)
    model.save(tmp_path / "m.json")
    program("export", tmp_path / "m.json", "-o", tmp_path / "theirs.onnx")
    content = model.to_onnx(tmp_path / "ours.onnx")
    assert isinstance(content, bytes)
    assert (tmp_path / "ours.onnx").read_bytes() == content == (tmp_path / "theirs.onnx").read_bytes()


def test_what_has_no_closed_form_says_so(three):
    X, y, X_target = three
    model = covshift.robust(loss=[[0, 3, 1], [1, 0, 1], [2, 2, 0]], lam=0.1).fit(X, y, X_target)
    with pytest.raises(ValueError, match="linear program.*predict with covshift"):
        model.to_onnx()
    with pytest.raises(ValueError, match="this RobustClassifier instance is not fitted|not fitted"):
        covshift.robust().to_onnx()
