"""covshift.dask: the same model as one process, whatever the partitions and whatever happens to workers."""

import asyncio
import inspect
import json
import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

distributed = pytest.importorskip("distributed", reason="dask is not installed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import covshift  # noqa: E402
import covshift.dask  # noqa: E402
from covshift import _core, _parts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:fitted without X_target")


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    """X, y, X_target with a shift in the first column and three classes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 4))
    y = np.digitize(X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.normal(size=240), [-0.5, 0.7])
    return X, y, rng.normal(size=(130, 4)) + [0.7, 0, 0, 0]


def rows_in(n, parts):
    """Chunks of n rows: uneven, and from four parts on with empty ones."""
    if parts == 1:
        return (n,)
    sizes = [0] + [3 * (i + 1) for i in range(parts - 2)] if parts > 3 else [5 * (i + 1) for i in range(parts - 1)]
    if parts > 5:
        sizes[3] = 0
    return (*sizes, n - sum(sizes))


def as_array(X, parts):
    X = np.asarray(X) if not sp.issparse(X) else X
    if not sp.issparse(X):
        return da.from_array(X, chunks=(rows_in(len(X), parts), *X.shape[1:]))
    sizes = rows_in(X.shape[0], parts)
    edges = np.concatenate([[0], np.cumsum(sizes)])

    def block(block_id):
        return X[edges[block_id[0]] : edges[block_id[0] + 1]]

    return da.map_blocks(block, chunks=(sizes, (X.shape[1],)), dtype=float, meta=X[:0])


def as_frame(frame, parts):
    edges = np.concatenate([[0], np.cumsum(rows_in(len(frame), parts))])
    pieces = [covshift.dask.delayed(frame.iloc[low:high]) for low, high in zip(edges, edges[1:])]
    return dd.from_delayed(pieces, meta=frame.iloc[:0], verify_meta=False)


def expect_same(found, plain, X_target):
    assert found.lam_ == pytest.approx(plain.lam_, rel=1e-9)
    assert np.abs(found.model_.predict_proba(X_target) - plain.predict_proba(X_target)).max() < 1e-6
    ours, theirs = found.report_, json.loads(plain._model.report())
    assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-9)
    assert found.gap_ <= 1e-6 * max(1, abs(ours["objective"]))
    assert found.certificate_.game_value == pytest.approx(plain.certificate_.game_value, rel=1e-6)
    assert (found.classes_ == plain.classes_).all()


# Every loss with a closed form and every assumption occurs.
CASES = [
    ("log", "none", 1), ("log", "train", 2), ("log", "test", 4), ("log", "views", 7), ("log", "temper:0.5", 2),
    ("log", "overlap", 4), ("zero-one", "train", 7), ("absolute", "train", 2), ("squared", "test", 4),
    ("abstain:0.3", "train", 2), ("hinge", "none", 7), ("log", "auto", 2),
]


@pytest.mark.parametrize("loss, generalize, parts", CASES, ids=lambda v: str(v))
def test_same_model_as_one_process(client, data, loss, generalize, parts):
    X, y, X_target = data
    options = {"loss": loss, "generalize": generalize, "lam": "auto" if generalize == "auto" else 0.01}
    plain = covshift.RobustClassifier(**options).fit(X, y, X_target)
    found = covshift.dask.RobustClassifier(**options, client=client)
    found.fit(as_array(X, parts), as_array(y, parts), as_array(X_target, max(1, parts - 1)))
    expect_same(found, plain, X_target)
    told = found.parts_
    assert (told["name"], told["parts"], told["rows"]) == ("dask", parts + max(1, parts - 1), len(X))
    assert told["passes"] > 0 and told["losses"] == 0


@pytest.mark.parametrize("parts", [2, 7])
def test_sparse_rows(client, data, parts):
    X, y, X_target = data
    X, X_target = sp.csr_matrix(np.where(X > 0, X, 0)), sp.csr_matrix(np.where(X_target > 0, X_target, 0))
    plain = covshift.robust(lam=0.01).fit(X, y, X_target)
    found = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    found.fit(as_array(X, parts), as_array(y, parts), as_array(X_target, parts))
    expect_same(found, plain, X_target)
    assert np.allclose(found.predict_proba(as_array(X_target, parts)).compute(), plain.predict_proba(X_target), atol=1e-6)


@pytest.fixture(scope="module")
def frames(data):
    """Numbers with missing values, categories of which some are rare, and text classes."""
    X, y, X_target = data
    rng = np.random.default_rng(5)

    def frame(X):
        numbers = X[:, 0].copy()
        numbers[rng.integers(len(X), size=9)] = np.nan
        color = rng.choice(["red", "green", "blue"], size=len(X))
        color[-1] = "mauve"  # only in the last partition
        return pd.DataFrame({"size": numbers, "color": color, "count": rng.integers(9, size=len(X))})

    return frame(X), pd.Series(np.array(["no", "maybe", "yes"])[y], name="answer"), frame(X_target)


@pytest.mark.parametrize("parts", [1, 4, 7])
def test_categories_and_missing_values(client, frames, parts):
    X, y, X_target = frames
    options = {"generalize": "train", "lam": 0.01, "class_weight": "balanced"}
    plain = covshift.RobustClassifier(**options).fit(X, y, X_target)
    found = covshift.dask.RobustClassifier(**options, client=client)
    found.fit(as_frame(X, parts), as_frame(y, parts), as_frame(X_target, parts))
    expect_same(found, plain, X_target)
    assert found.feature_names_ == plain.feature_names_ and "color=mauve" in found.feature_names_
    assert list(found.feature_names_in_) == ["size", "color", "count"]


def test_weights_and_order_of_classes(client, data):
    X, y, X_target = data
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    options = {"loss": "absolute", "generalize": "train", "lam": 0.01, "classes": [2, 0, 1], "class_weight": {2: 3.0}}
    plain = covshift.RobustClassifier(**options).fit(X, y, X_target, sample_weight=weight)
    found = covshift.dask.RobustClassifier(**options, client=client)
    found.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2), sample_weight=as_array(weight, 4))
    expect_same(found, plain, X_target)
    assert found.classes_.tolist() == [2, 0, 1]


# --- the result is an ordinary model ---


@pytest.fixture(scope="module")
def fitted(client, frames):
    X, y, X_target = frames
    model = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    return model.fit(as_frame(X, 2), as_frame(y, 2), as_frame(X_target, 2))


def test_predicts_lazily(client, fitted, frames):
    X = frames[2]
    rows, plain = as_frame(X, 7), fitted.model_
    for lazy, now in (
        (fitted.predict(rows), plain.predict(X)),
        (fitted.predict_proba(rows), plain.predict_proba(X)),
        (fitted.log_ratio(rows), plain.log_ratio(X)),
        (fitted.predict_set(rows, 0.2), plain.predict_set(X, 0.2)),
    ):
        assert hasattr(lazy, "dask"), "nothing is computed yet"
        found = client.compute(lazy).result()
        assert (found.index == X.index).all() and (np.asarray(found) == now).all()
    assert list(fitted.predict_proba(rows).columns) == ["maybe", "no", "yes"]
    assert fitted.predict(rows).name == "answer"
    assert (fitted.predict(X) == plain.predict(X)).all(), "data in memory are predicted at once"


def test_predicts_arrays_lazily(client, data):
    X, y, X_target = data
    model = covshift.dask.RobustClassifier(loss="abstain:0.3", generalize="train", lam=0.01, client=client)
    model.fit(as_array(X, 2), as_array(y, 2), as_array(X_target, 2))
    for chunks in (as_array(X_target, 7), da.from_array(X_target, chunks=(50, 2))):
        p = model.predict_proba(chunks)
        assert p.shape == (130, 4)
        assert (client.compute(p).result() == model.model_.predict_proba(X_target)).all()
        assert (client.compute(model.predict(chunks)).result() == model.model_.predict(X_target)).all()
    unknown = as_array(X_target, 2)
    unknown = unknown[unknown[:, 0] > 0]
    assert (client.compute(model.predict(unknown)).result() == model.model_.predict(X_target[X_target[:, 0] > 0])).all()


def test_the_model_is_an_ordinary_one(fitted, frames, tmp_path):
    X = frames[2]
    plain = fitted.model_
    assert type(plain) is covshift.RobustClassifier and plain.certificate_ == fitted.certificate_
    fitted.save(tmp_path / "model.json")
    again = covshift.RobustClassifier.load(tmp_path / "model.json")
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    assert fitted.to_onnx() == plain.to_onnx()
    copied = pickle.loads(pickle.dumps(fitted))
    assert copied.client is None and (copied.predict(X) == plain.predict(X)).all()
    unfitted = clone(fitted)
    assert unfitted.client is fitted.client and not hasattr(unfitted, "_model")


def test_signature_is_that_of_the_ordinary_one():
    ours = dict(inspect.signature(covshift.dask.RobustClassifier).parameters)
    assert ours.pop("client").default is None
    assert ours == dict(inspect.signature(covshift.RobustClassifier).parameters)


# --- workers come and go ---


def parts_on(client):
    return sum(client.run(lambda: len(_parts._running)).values())


def eventually(what, seconds=20):
    end = time.time() + seconds
    while not what() and time.time() < end:
        time.sleep(0.05)
    return what()


def test_a_killed_worker_changes_nothing(client, data, monkeypatch):
    X, y, X_target = data
    options = {"generalize": "train", "lam": 0.01, "client": client}
    calm = covshift.dask.RobustClassifier(**options).fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    victim = client.run(os.getpid)
    step, killed = _parts.Fit._step, []

    def killing(self):
        if len(self._totals) == 12:
            address = next(iter(self._located()))  # one that has parts
            killed.append(address)
            os.kill(victim[address], signal.SIGKILL)
        return step(self)

    monkeypatch.setattr(_parts.Fit, "_step", killing)
    found = covshift.dask.RobustClassifier(**options).fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    assert killed and found.parts_["losses"] > 0
    assert found._model.to_text() == calm._model.to_text(), "to the last bit"
    client.wait_for_workers(2)


def test_a_worker_that_leaves_while_totals_are_handed_out(client, data, monkeypatch):
    X, y, X_target = data
    scatter, failed = client.scatter, []

    def failing(*args, **options):
        if len(failed) < 2:
            failed.append(True)
            raise distributed.TimeoutError if len(failed) == 1 else distributed.comm.CommClosedError("gone")
        return scatter(*args, **options)

    monkeypatch.setattr(_parts, "_SMALL", 1)
    monkeypatch.setattr(client, "scatter", failing)
    found = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    found.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    assert found.parts_["losses"] == 2
    expect_same(found, covshift.robust(lam=0.01).fit(X, y, X_target), X_target)


def test_nothing_is_left_on_workers(client, data):
    X, y, X_target = data
    model = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    model.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    assert eventually(lambda: parts_on(client) == 0)


def test_not_even_parts_whose_keepers_went_to_disk(client, data, monkeypatch):
    X, y, X_target = data
    step, spilled = _parts.Fit._step, []

    def spill(dask_worker):  # as under a limit of memory: the keeper is written, and not read again
        keepers = [value for value in dask_worker.data.values() if type(value).__name__ == "Keeper"]
        return len([pickle.dumps(keeper) for keeper in keepers])

    def spilling(self):
        if len(self._totals) == 5:
            spilled.extend(client.run(spill).values())
        return step(self)

    monkeypatch.setattr(_parts.Fit, "_step", spilling)
    model = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    model.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    assert sum(spilled) == 6
    assert eventually(lambda: parts_on(client) == 0)


class Cancellable:
    def __init__(self):
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


def test_keepers_end_only_their_own_part():
    first, second, third = Cancellable(), Cancellable(), Cancellable()
    keeper = _parts.Keeper.of("fit", 0, _parts.Running(first))
    back = pickle.loads(pickle.dumps(keeper))
    del keeper
    assert not first.cancelled, "its copy keeps the part"
    elsewhere = pickle.loads(pickle.dumps(back))
    del back
    replacement = _parts.Keeper.of("fit", 0, _parts.Running(second))
    del elsewhere
    assert not second.cancelled and ("fit", 0) in _parts._running
    del replacement
    assert second.cancelled and ("fit", 0) not in _parts._running

    keeper = _parts.Keeper.of("fit", 1, _parts.Running(third))
    pickle.dumps(keeper)
    del keeper
    asyncio.run(_parts.forget("another fit"))
    assert not third.cancelled and ("fit", 1) in _parts._running
    asyncio.run(_parts.forget("fit"))
    assert third.cancelled and not _parts._running


def test_a_paused_worker_is_named(data, monkeypatch):
    X, y, X_target = data
    monkeypatch.setattr(_parts, "_PAUSED", 1)
    step, paused = _parts.Fit._step, []

    def pause(dask_worker):
        dask_worker.status = distributed.core.Status.paused

    def pausing(self):
        if len(self._totals) == 5:
            paused.append(next(iter(self._located())))
            self._client.run(pause, workers=paused)
        return step(self)

    monkeypatch.setattr(_parts.Fit, "_step", pausing)
    # Without a limit nobody looks at the memory and lets the worker go on.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    ) as cluster, distributed.Client(cluster, set_as_default=False) as own:
        model = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=own)
        with pytest.raises(RuntimeError, match=r"worker tcp://\S+ has been paused for 1 s.*more memory") as raised:
            model.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
        assert paused[0] in str(raised.value)
        assert eventually(lambda: parts_on(own) == 0)


def test_ctrl_c_leaves_nothing_running(client, data):
    X, y, X_target = data
    seen = []

    def interrupt(stage, share):
        seen.append(stage)
        if len(seen) == 4:
            raise KeyboardInterrupt

    model = covshift.dask.RobustClassifier(generalize="train", progress=interrupt, client=client)
    with pytest.raises(KeyboardInterrupt):
        model.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    assert len(seen) == 4
    assert eventually(lambda: parts_on(client) == 0 and not any(client.processing().values()))


def test_errors_of_workers_arrive_in_words(client, data):
    X, y, X_target = data
    X = X.copy()
    X[200, 2] = np.inf
    model = covshift.dask.RobustClassifier(generalize="train", lam=0.01, client=client)
    with pytest.raises(ValueError, match="infinite|inf"):
        model.fit(as_array(X, 4), as_array(y, 4), as_array(X_target, 2))
    with pytest.raises(ValueError, match="nonsense"):
        covshift.dask.RobustClassifier(loss="nonsense", client=client).fit(
            as_array(X, 2), as_array(y, 2), as_array(X_target, 2))
    assert eventually(lambda: parts_on(client) == 0)


# --- wrong data ---


def test_partitions_must_agree(client, data, frames):
    X, y, X_target = data
    model = covshift.dask.RobustClassifier(generalize="none", lam=0.01, client=client)
    with pytest.raises(ValueError, match="X has 4 partitions, y has 2"):
        model.fit(as_array(X, 4), as_array(y, 2))
    with pytest.raises(ValueError, match="partition 1 of X has 120 rows, that of y 100"):
        model.fit(da.from_array(X, chunks=(120, 4)), da.from_array(y, chunks=((100, 140),)))
    with pytest.raises(TypeError, match="X must be a Dask array or data frame, not ndarray"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="X_target has the columns"):
        model.fit(as_array(X, 2), as_array(y, 2), as_array(X_target[:, :3], 2))

    frame, answer, _ = frames
    wrong = {
        "it lacks 'count'": frame.drop(columns="count"),
        "it adds 'more'": frame.assign(more=1),
        "column 'size' of partition 2 of X is of type (object|str)": frame.assign(size="big"),
        "column 'count' of partition 2 of X is of type": frame.assign(count="two"),
    }
    plain = covshift.lr(lam=0.1).fit(frame, answer)
    good = dd.from_delayed([covshift.dask.delayed(frame)] * 2, meta=frame.iloc[:0], verify_meta=False)
    for message, second in wrong.items():
        pieces = [covshift.dask.delayed(frame), covshift.dask.delayed(second)]
        X_two = dd.from_delayed(pieces, meta=frame.iloc[:0], verify_meta=False)
        y_two = dd.from_delayed([covshift.dask.delayed(answer)] * 2, meta=answer.iloc[:0], verify_meta=False)
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X_two, y_two)
        with pytest.raises((ValueError, TypeError), match=message):
            covshift.dask.diagnose(X_two, good, client=client)
        with pytest.raises((ValueError, TypeError), match=message.replace("of X ", "of X_target ")):
            covshift.dask.estimate(plain, good, y_two, X_two, client=client)
    short = dd.from_delayed(
        [covshift.dask.delayed(answer), covshift.dask.delayed(answer[:7])], meta=answer.iloc[:0], verify_meta=False)
    long = dd.from_delayed([covshift.dask.delayed(frame)] * 2, meta=frame.iloc[:0], verify_meta=False)
    with pytest.raises(ValueError, match="partition 2 of X has 240 rows, that of y has 7"):
        model.fit(long, short)
    with pytest.raises(ValueError, match="partition 2 of X has 240 rows, that of y 7; .* from one collection"):
        covshift.dask.estimate(plain, long, short, long, client=client)


def test_rows_must_have_columns(client, data):
    X, y, X_target = data
    flat, good = as_array(X, 2)[:, 0], as_array(X_target, 2)
    message = "X must have rows and columns; its number of dimensions is 1"
    model = covshift.dask.RobustClassifier(generalize="none", lam=0.01, client=client)
    for wrong in (flat, dd.from_pandas(pd.Series(X[:, 0]), npartitions=2)):
        with pytest.raises(ValueError, match=message):
            model.fit(wrong, as_array(y, 2))
        with pytest.raises(ValueError, match=message):
            covshift.dask.diagnose(wrong, good, client=client)
    with pytest.raises(ValueError, match="X_target must have rows and columns"):
        model.fit(as_array(X, 2), as_array(y, 2), flat)

    narrow = da.map_blocks(lambda x: x[:, :3], good, dtype=float, meta=X[:0])
    with pytest.raises(ValueError, match="partition [12] of X_target has 3 columns, others have 4"):
        covshift.dask.diagnose(as_array(X, 2), narrow, client=client)


@pytest.mark.parametrize("sample", [-5, 0, 100.5, True, "9"])
def test_sample_is_a_number_of_rows(client, data, sample):
    X, y, X_target = data
    message = f"sample must be a whole number, 1 or more, not {sample!r}"
    given = as_array(X, 2), as_array(y, 2), as_array(X_target, 2)
    with pytest.raises(ValueError, match=message):
        covshift.dask.diagnose(given[0], given[2], sample=sample, client=client)
    with pytest.raises(ValueError, match=message):
        covshift.dask.estimate(covshift.lr(lam=0.1), *given, sample=sample, client=client)


def test_only_frames_name_the_label(client, data):
    X, y, _ = data
    model = covshift.dask.RobustClassifier(generalize="none", lam=0.01, client=client)
    rows = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(answer=y), npartitions=2)
    features = rows[list("abcd")]
    assert model.fit(features, rows["answer"])._model.label == "answer"
    assert model.fit(features, rows[["answer"]])._model.label == "answer"
    assert model.fit(as_array(X, 2), as_array(y, 2))._model.label == "label", "not the key of a graph"


def test_classes_are_the_union(client, data):
    X, y, _ = data
    order = np.argsort(y, kind="stable")  # each partition lacks classes
    plain = covshift.lr(lam=0.01).fit(X[order], y[order])
    found = covshift.dask.RobustClassifier(generalize="none", lam=0.01, client=client)
    found.fit(da.from_array(X[order], chunks=(60, 4)), da.from_array(y[order], chunks=60))
    assert found.classes_.tolist() == [0, 1, 2]
    expect_same(found, plain, X)
    with pytest.raises(ValueError, match="only one class"):
        found.fit(as_array(X, 2), as_array(np.zeros(len(X), int), 2))
    pieces = [covshift.dask.delayed(np.array([0, 1])), covshift.dask.delayed(np.array(["a", "b"]))]
    mixed = da.concatenate([da.from_delayed(p, (2,), dtype=object) for p in pieces])
    with pytest.raises(TypeError, match="numbers in partition 1 and text in partition 2"):
        found.fit(as_array(X[:4], 1).rechunk((2, 4)), mixed)


def test_versions_are_compared(client, data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(_core, "__version__", "9.9.9")
    model = covshift.dask.RobustClassifier(generalize="none", client=client)
    with pytest.raises(RuntimeError, match=r"this worker has covshift .*, the client has 9\.9\.9"):
        model.fit(as_array(X, 2), as_array(y, 2))

    def unreadable(block):
        raise OSError("the first task reads no rows")

    X_bad = as_array(X, 2).map_blocks(unreadable, dtype=float, meta=X[:0])
    with pytest.raises(RuntimeError, match=r"the client has 9\.9\.9"):
        model.fit(X_bad, as_array(y, 2))


# --- clients ---


def test_without_a_client_threads_of_this_process_do(data):
    X, y, X_target = data
    before = threading.active_count()
    plain = covshift.robust(lam=0.01).fit(X, y, X_target)
    found = covshift.dask.RobustClassifier(generalize="train", lam=0.01)
    expect_same(found.fit(as_array(X, 2), as_array(y, 2), as_array(X_target, 2)), plain, X_target)
    with pytest.raises(ValueError):
        distributed.Client.current()
    assert eventually(lambda: threading.active_count() <= before + 2) and not _parts._running


def test_persisted_data_stay_with_their_cluster(client, data):
    X, y, _ = data
    X_there, y_there = client.persist([as_array(X, 2), as_array(y, 2)])
    model = covshift.dask.RobustClassifier(generalize="none", lam=0.01).fit(X_there, y_there)
    assert model.parts_["parts"] == 2
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as other, \
            distributed.Client(other, set_as_default=False) as elsewhere:
        with pytest.raises(ValueError, match="persisted on another cluster"):
            covshift.dask.RobustClassifier(generalize="none", client=elsewhere).fit(X_there, y_there)


# --- diagnosis and estimates ---


def test_diagnose_and_estimate(client, data):
    X, y, X_target = data
    ours = covshift.dask.diagnose(as_array(X, 4), as_array(X_target, 2), client=client, permutations=19)
    theirs = covshift.diagnose(X, X_target, permutations=19)
    assert ours.data.pop("sampled") == {"train": 240, "target": 130} and ours.data == theirs.data
    model = covshift.lr(lam=0.1).fit(X[:120], y[:120])
    ours = covshift.dask.estimate(model, as_array(X, 4), as_array(y, 4), as_array(X_target, 2), client=client)
    assert ours["accuracy"] == covshift.estimate(model, X, y, X_target)["accuracy"]

    some = covshift.dask.diagnose(as_array(X, 7), as_array(X_target, 4), client=client, permutations=19, sample=60)
    assert (some.train, some.target, some.data["sampled"]["target"]) == (60, 60, 130)
    for item in some.recommendation["label_first"]:
        shown = np.array([float(v) for v in item["values"].values()])
        assert np.allclose(X_target[item["row"] - 1], shown, rtol=1e-2), "rows have their numbers in the collection"


def test_what_is_missing_is_named(monkeypatch):
    import builtins
    import importlib
    import sys

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "distributed":
            raise ImportError("No module named 'distributed'")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "covshift.dask")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'covshift\[dask\]'"):
        importlib.import_module("covshift.dask")
