"""Size and speed of exported models beside `predict`: the table of docs/export.md.

    build/python/venv/bin/python bench/export.py

Processor seconds of one thread, the median of seven rounds in which both predict the same rows by turns.
"""

import os
import pathlib
import statistics
import tempfile
import time

import numpy as np
import onnxruntime

import covshift

ROWS = 20000
MODELS = [
    ("lr, 20 columns", covshift.lr(lam=0.01), 20),
    ("robust, 20 columns", covshift.robust(lam=0.01), 20),
    ("robust01-view, 20 views, 4 classes", covshift.robust01_view(lam=0.01, views="each", view_threshold=1), 20),
    ("robust, nystroem:200", covshift.robust(lam=0.01, features="nystroem:200"), 20),
    ("robust, KMM of 1,000 rows", covshift.robust(lam=0.01, ratio=covshift.KMM(kernel_width=3, lam=0.1)), 20),
]


def draw(rng, n, columns, mean, classes):
    X = rng.normal(size=(n, columns)) + mean
    scores = X[:, :classes] + rng.normal(size=(n, classes))
    return X, scores.argmax(axis=1)


def seconds(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def row(name, model, columns):
    rng = np.random.default_rng(0)
    X, y = draw(rng, 500, columns, 0.0, 4 if "4 classes" in name else 2)
    target = draw(rng, 500, columns, 0.3, 2)[0]
    model.set_params(threads=1).fit(X, y, target)
    with tempfile.TemporaryDirectory() as folder:
        model.save(pathlib.Path(folder) / "m.json")
        stored = os.path.getsize(pathlib.Path(folder) / "m.json")
    start = time.process_time()
    file = model.to_onnx()
    exported = time.process_time() - start
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    rows = draw(rng, ROWS, columns, 0.3, 2)[0]
    one = rows[:1]
    feed, ask = {"X": rows}, ["probabilities"]
    error = np.abs(session.run(ask, feed)[0] - model.predict_proba(rows)).max()
    times = {"ours": [], "onnx": [], "one": [], "onnx one": []}
    for _ in range(7):
        times["ours"].append(seconds(lambda: model.predict_proba(rows)))
        times["onnx"].append(seconds(lambda: session.run(ask, feed)))
        times["one"].append(seconds(lambda: [model.predict_proba(one) for _ in range(200)]) / 200)
        times["onnx one"].append(seconds(lambda: [session.run(ask, {"X": one}) for _ in range(200)]) / 200)
    t = {key: statistics.median(values) for key, values in times.items()}
    return (
        f"| {name} | {stored / 1e3:.0f} | {len(file) / 1e3:.0f} | {1e3 * exported:.1f} | {1e3 * t['ours']:.1f} | "
        f"{1e3 * t['onnx']:.1f} | {1e6 * t['one']:.0f} | {1e6 * t['onnx one']:.0f} | {error:.0e} |"
    )


def main():
    page = pathlib.Path(__file__).parents[1] / "docs" / "export.md"
    mark = "<!-- Written by bench/export.py. -->\n"
    table = [
        "",
        f"Processor time of one thread, median of seven rounds, both called from Python: {ROWS:,} rows at once, and a row "
        "alone.",
        f"onnxruntime {onnxruntime.__version__}; load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.",
        "",
        "| model | model file, kB | ONNX, kB | export, ms | predict_proba, ms | onnxruntime, ms | a row, µs | a row, "
        "onnxruntime, µs | largest difference |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(*model) for model in MODELS),
        "",
    ]
    text = page.read_text(encoding="utf-8")
    page.write_text(text[: text.index(mark)] + mark + "\n".join(table), encoding="utf-8")


if __name__ == "__main__":
    main()
