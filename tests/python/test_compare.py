"""covshift.compare: the program's numbers and page, in Python's words."""

import json
import pickle
import re

import duckdb
import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

matplotlib.use("Agg")
import covshift
import covshift.plot

METHODS = ["auto", "lr", "robust", "robust-view", "tempered", "robust01"]


@pytest.fixture(scope="module")
def tables(shifted):
    """Inputs with a category and missing values, classes in words; target rows with their classes."""
    X, y, X_target, y_target = shifted
    colour = np.array(["red", "green", "blue"])
    rng = np.random.default_rng(2)

    def table(X):
        frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=colour[rng.integers(0, 3, len(X))])
        frame.loc[::17, "c"] = np.nan
        return frame

    words = np.array(["no", "yes"])
    return table(X), pd.Series(words[y], name="y"), table(X_target), pd.Series(words[y_target], name="y")


@pytest.fixture(scope="module")
def found(tables):
    train, y, target, y_target = tables
    return covshift.compare(train, y, target, truth=(target, y_target), methods=METHODS)


@pytest.fixture(scope="module")
def files(tables, tmp_path_factory):
    train, y, target, y_target = tables
    folder = tmp_path_factory.mktemp("compare")
    train.assign(y=y).to_csv(folder / "train.csv", index=False)
    target.to_csv(folder / "target.csv", index=False)
    target.assign(y=y_target).to_csv(folder / "truth.csv", index=False)
    return folder / "train.csv", folder / "target.csv", folder / "truth.csv"


def strings(part):
    if isinstance(part, str):
        yield part
    elif isinstance(part, (dict, list)):
        for value in part.values() if isinstance(part, dict) else part:
            yield from strings(value)


def assert_same(ours, theirs, where=""):
    """Equal but for rounding, times, and what Python says in its own words: flags."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key in theirs:
            if key not in ("seconds", "command"):
                assert_same(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for k, (a, b) in enumerate(zip(ours, theirs)):
            assert_same(a, b, f"{where}[{k}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), where
    elif not (isinstance(theirs, str) and "--" in theirs):
        assert ours == theirs, where


@pytest.mark.parametrize("judged", [False, True])
def test_same_as_the_program(tables, files, program, found, judged):
    train, y, target, _ = tables
    data, other, truth = files
    options = ["--truth", truth] if judged else ["--views", "each", "--ratio", "ulsif", "--metric", "error"]
    theirs = json.loads(
        program("compare", data, other, "--label", "y", "--methods", ",".join(METHODS), *options, "--json")
    )
    ours = found if judged else covshift.compare(
        train, y, target, methods=[m.replace("-", "_") for m in METHODS], views="each", ratio="ulsif",
        metric="error")
    assert len(theirs["methods"]) == len(METHODS) and theirs["diagnosis"]["features"]
    assert_same(ours.to_dict(), theirs)


@pytest.mark.parametrize("method", [None, *METHODS])
def test_the_estimator_is_the_one_that_was_compared(tables, found, method):
    train, y, target, y_target = tables
    model = found.best_estimator(method).fit(train, y, target)
    p = model.predict_proba(target)
    brier = ((p - (np.asarray(y_target)[:, None] == model.classes_)) ** 2).sum(axis=1).mean()
    announced = found.to_frame().loc[method or found.recommended, "brier"]
    assert brier == pytest.approx(announced, rel=1e-9)


def test_speaks_python(tables, found):
    train, y, target, _ = tables
    assert found.command.startswith("RobustClassifier(")
    model = eval(found.command, {"X": train, "y": y, "X_target": target, **vars(covshift)})
    again = found.best_estimator().fit(train, y, target)
    np.testing.assert_array_equal(model.predict_proba(target), again.predict_proba(target))
    far = covshift.compare(train[["a", "b"]], y, target[["a", "b"]] + 50, methods=["lr", "auto"], scale="unit")
    for result in (found, far):
        assert not [text for text in strings(result.to_dict()) if re.search(r"(^|\s)--?[a-z]", text)]
    assert "caution=1" in far.diagnosis.recommendation["why"] or far.recommended
    assert far.command == f"{far.best_estimator()!r}.fit(X, y, X_target)"


def test_options_reach_every_part(tables):
    train, y, target, _ = tables
    numbers = train[["a", "b", "d"]], y, target[["a", "b", "d"]]
    views = {"left": ["a", "b"], "right": 2}
    found = covshift.compare(*numbers, methods=["robust_view"], views=views, ratio=covshift.KMM(bound=20),
                             scale="unit", view_threshold=0.3, random_state=3)
    assert [v["name"] for v in found.data["views"]] == ["left", "right"]
    model = found.best_estimator()
    assert model.get_params(deep=False) == {
        **covshift.robust_view().get_params(deep=False), "views": views, "ratio": model.ratio, "scale": "unit",
        "view_threshold": 0.3, "random_state": 3}
    assert found.command == (
        "RobustClassifier(generalize='views', views={'left': ['a', 'b'], 'right': 2}, "
        f"ratio={model.ratio!r}, view_threshold=0.3, scale='unit', random_state=3).fit(X, y, X_target)")


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, duckdb.from_df],
                         ids=["polars", "pyarrow", "duckdb"])
def test_tables_of_any_library(tables, convert):
    train, y, target, y_target = tables
    quick = {"methods": ["lr", "robust"]}
    expected = covshift.compare(train, y, target, truth=(target, y_target), **quick).to_dict()
    ours = covshift.compare(convert(train), y, convert(target), truth=(convert(target), y_target), **quick)
    assert_same(ours.to_dict(), expected)


def test_table(found):
    frame = found.to_frame()
    assert list(frame.index) == METHODS
    for name, method in zip(METHODS, found.methods):
        truth = method["truth"]
        assert frame.loc[name, "brier"] == truth["brier"]["value"]
        assert frame.loc[name, "error_se"] == truth["error"]["standard_error"]
        infinite = truth["log_loss"]["value"] is None  # a class had probability 0
        assert frame.loc[name, "log_loss"] == (np.inf if infinite else truth["log_loss"]["value"])
    shown = repr(found).splitlines()
    row = next(line for line in shown if line.split()[0] == found.recommended)
    best = frame.loc[found.recommended]
    assert f"{best['error']:.3f} ±{best['error_se']:.3f}" in row and "use this" in row
    assert shown[-1] == f"Next: {found.command}"
    assert shown[-2] == found.statement
    assert f"<td>{best['brier']:.3f} ±{best['brier_se']:.3f}</td>" in found._repr_html_()
    assert found.diagnosis.recommendation["command"] == found.command
    assert found.to_dict() == found.data and found.to_dict() is not found.data


def test_picture(found):
    frame = found.to_frame()
    for metric, column in (("brier", "brier"), ("log-loss", "log_loss")):
        ax = covshift.plot.scores(found, metric=metric)
        shown = {bars[0].get_ydata()[0]: bars[0].get_xdata()[0] for bars in ax.containers}
        assert shown == {name: value for name, value in frame[column].items() if np.isfinite(value)}
        assert list(shown.values()) == sorted(shown.values(), reverse=True)
        low, high = ax.containers[-1][2][0].get_segments()[0][:, 0]
        best = frame[column].idxmin()
        assert (high - low) / 2 == pytest.approx(1.96 * frame.loc[best, f"{column}_se"])
    assert len(found.plot().containers) == len(METHODS)


def page_data(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_report_is_the_program_s_page(files, program, found, tmp_path):
    data, other, truth = files
    program("compare", data, other, "--label", "y", "--methods", ",".join(METHODS), "--truth", truth,
            "--report", tmp_path / "theirs.html")
    found.report(tmp_path / "ours.html", title="ours")
    ours, theirs = page_data(tmp_path / "ours.html"), page_data(tmp_path / "theirs.html")
    assert (ours["kind"], ours["title"]) == ("compare", "ours")
    assert_same(ours["data"], theirs["data"])
    without = [re.sub(r'id="data">.*?</script>', "", (tmp_path / name).read_text(), flags=re.S)
               for name in ("ours.html", "theirs.html")]
    assert without[0] == without[1] and len(without[0]) > 100000


def test_report_of_a_diagnosis(tables, files, program, tmp_path):
    train, _, target, _ = tables
    program("diagnose", files[0], files[1], "--label", "y", "--report", tmp_path / "theirs.html")
    covshift.diagnose(train, target).report(tmp_path / "ours.html")
    ours, theirs = page_data(tmp_path / "ours.html"), page_data(tmp_path / "theirs.html")
    assert ours["kind"] == "diagnose"
    assert_same(ours["data"], theirs["data"])
    with pytest.raises(OSError, match="nowhere"):
        covshift.diagnose(train, target, permutations=19).report(tmp_path / "nowhere" / "page.html")


def test_few_rows_of_many_columns_are_no_evidence():
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(80, 200)), np.arange(80) % 2
    X[:, 0] += 3 * y
    X_target = draw.normal(size=(80, 200)) + 1.5 * np.eye(1, 200)
    alone = covshift.diagnose(X, X_target)
    both = covshift.compare(X, y, X_target, methods=["lr", "auto"])
    assert not alone.shift and alone.power == both.diagnosis.power and alone.power < 0.4
    for found in (alone, both.diagnosis):
        answer = found.recommendation["trust"]
        assert (answer["answer"], answer["code"]) == ("partly", "few-rows")
        assert answer["headline"] in str(alone) and answer["headline"] in str(both)
        assert answer["next"] in str(found if found is alone else both)
    few = covshift.diagnose(X[:, 1:3], X_target[:, 1:3])
    assert few.power > alone.power
    assert covshift.diagnose(X, X_target + 3).power is None


def test_progress_names_the_methods(shifted):
    X, y, X_target, _ = shifted
    told = []
    covshift.compare(X, y, X_target, methods=["lr", "robust"], progress=lambda stage, share: told.append(stage))
    assert told[-1] == "robust"  # earlier stages may be too short to be seen

    def stop(stage, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        covshift.compare(X, y, X_target, methods=["lr"], progress=stop)


def test_wrong_calls(shifted):
    X, y, X_target, y_target = shifted
    for match, kind, arguments in (
        ("X_target", ValueError, {"X_target": None}),
        ("lrr", ValueError, {"methods": ["lrr"]}),
        ("twice", ValueError, {"methods": ["robust-view", "robust_view"]}),
        ("one for each", ValueError, {"truth": (X_target, y_target[:-1])}),
        ("NaN", ValueError, {"X": np.where(X > 2, np.nan, X), "missing": "error"}),
        ("metric", ValueError, {"metric": "auc"}),
    ):
        with pytest.raises(kind, match=match):
            covshift.compare(**{"X": X, "y": y, "X_target": X_target, **arguments})
    with pytest.raises(ValueError, match="svm.*was not compared"):
        covshift.compare(X, y, X_target, methods=["lr"]).best_estimator("svm")
    with pytest.warns(UserWarning, match="never saw the classes 7"):
        found = covshift.compare(X, y, X_target, methods=["lr"], truth=(X_target, np.full(len(X_target), 7)))
    assert found.to_frame().loc["lr", "error"] == 1


def test_report_of_an_estimate(shifted, tmp_path):
    X, y, X_target, _ = shifted
    model = covshift.lr(lam=0.1).fit(X[:75], y[:75])
    found = covshift.estimate(model, X[75:], y[75:], X_target, scoring="roc_auc")
    found.report(tmp_path / "page.html", title="mine")
    page = page_data(tmp_path / "page.html")
    assert (page["kind"], page["title"]) == ("estimate", "mine")
    data = page["data"]
    diagnosis = data.pop("diagnosis")
    assert data == found.to_dict() and data["classes"] == ["0", "1"] and data["level"] == 0.95
    assert [v["name"] for v in diagnosis["views"]] == ["c1", "c2", "c3", "c4"]
    trust = diagnosis["recommendation"]["trust"]
    expected, accuracy = trust["expected"], found["accuracy"]
    assert [expected[k] for k in ("accuracy", "low", "high")] == [accuracy[k] for k in ("value", "low", "high")]
    assert expected["training"] == pytest.approx(model.score(X[75:], y[75:]))
    assert f"{accuracy['value']:.0%}" in trust["performance"]
    # It is fitted already: nothing on the page recommends another fit.
    assert "Fit" not in trust["next"] and "nothing was fitted" in diagnosis["recommendation"]["why"]
    assert diagnosis["recommendation"]["command"] is None
    assert 0 < expected["gain"] < 1
    guess = covshift.lr(lam=1e6).fit(X[:75], y[:75])  # knows no more than the classes' shares
    none = covshift.estimate(guess, X[75:], y[75:], X_target)
    none.report(tmp_path / "none.html")
    trust = page_data(tmp_path / "none.html")["data"]["diagnosis"]["recommendation"]["trust"]
    assert abs(trust["expected"]["gain"]) < 0.05
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    with pytest.raises(ValueError, match="estimate again"):
        again.report(tmp_path / "page.html")


def test_page_of_an_estimate_is_the_program_s(tables, program, tmp_path):
    train, y, target, _ = tables
    model = covshift.lr(lam=0.1).fit(train[:75], y[:75])
    labelled = train[75:].assign(y=y[75:])
    for name, table in (("labelled", labelled), ("target", target.copy())):
        p = model.predict_proba(table[train.columns])
        table["p:no"], table["p:yes"] = p.T
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    program("estimate", tmp_path / "labelled.csv", "--target", tmp_path / "target.csv", "--label", "y",
            "--level", "0.9", "--report", tmp_path / "theirs.html")
    found = covshift.estimate(model, train[75:], y[75:], target, level=0.9)
    found.report(tmp_path / "ours.html")
    ours, theirs = page_data(tmp_path / "ours.html"), page_data(tmp_path / "theirs.html")
    assert ours["kind"] == theirs["kind"] == "estimate"
    assert_same(ours["data"], theirs["data"])
    assert "90% interval" in ours["data"]["diagnosis"]["recommendation"]["trust"]["basis"]
