"""The picture of --caution in docs/choice.md: what it does to a prediction, and what it costs over the tasks.

    scripts/shiftbench.sh caution [--data FOLDER] [--picture FILE]
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from . import metrics, own
from .__main__ import ROOT
from .report import table
from .tasks import tasks

DIAL = (0, 0.25, 0.5, 0.75, 1)
COLOURS = ("#f0a35e", "#d9600f", "#0b62a4", "#5a8fbe", "#9ab7d3")  # from trusting to cautious; the default is blue
WIDTH, HEIGHT, TOP, BOTTOM = 900, 380, 60, 320


def example(program, seed=1):
    """P(y = 1|x) on a line, fitted at every setting: 300 rows around -1, a target around 2."""
    random = np.random.default_rng(seed)
    x, z = random.normal(-1, 0.8, 300), random.normal(2, 1, 600)
    truth = 1 / (1 + np.exp(-2 * (x + 1)))
    y = (random.random(300) < truth).astype(int).astype(str)
    grid = np.linspace(-4, 6, 201)
    curves = {}
    with tempfile.TemporaryDirectory() as name:
        train, target, at, model = (Path(name) / f for f in ("train.csv", "target.csv", "grid.csv", "model.json"))
        own.write(train, ["x"], [x], y)
        own.write(target, ["x"], [z])
        own.write(at, ["x"], [grid])
        for c in DIAL:
            program.call("fit", train, "--target", target, "--label", "label", "--caution", c, "-q", "-o", model)
            curves[c] = own.probabilities(program.call("predict", model, at), ["0", "1"])[:, 1]
    return x, z, grid, curves


def measured(program, every, jobs):
    """{caution: bits minus lr's on each shifted task}"""
    some = [t for t in every if t.shifted]

    def one(task, options):
        return metrics.log_loss(own.fit(program, task.given, options)[0], task.truth_codes())

    with ThreadPoolExecutor(jobs) as pool:
        lr = list(pool.map(lambda t: one(t, ("--method", "lr")), some))
        return {c: np.array(list(pool.map(lambda t: one(t, ("--caution", str(c))), some))) - lr for c in DIAL}


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}</text>'


def line(points, colour, width=2):
    return (f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')


def density(values, grid, left, right):
    """A grey hill of the rows, at most 40 pixels high."""
    width = (grid[1] - grid[0]) * 6
    height = np.exp(-((grid[:, None] - values[None]) ** 2) / (2 * width**2)).sum(1)
    xs = np.linspace(left, right, len(grid))
    return [(left, BOTTOM), *((x, BOTTOM - 40 * h / height.max()) for x, h in zip(xs, height, strict=True)), (right, BOTTOM)]


def left_panel(x, z, grid, curves):
    left, right = 45, 430
    out = [text(left, 20, "P(y = 1 | x), fitted at every setting", "start", 'font-size="14"')]
    for values, colour in ((x, "#dddddd"), (z, "#f3e0d0")):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in density(values, grid, left, right))
        out.append(f'<polygon points="{points}" fill="{colour}"/>')

    def at_x(v):
        return left + (v - grid[0]) / (grid[-1] - grid[0]) * (right - left)

    def at_y(p):
        return BOTTOM - p * (BOTTOM - TOP)

    for p in (0, 0.5, 1):
        out += [f'<line x1="{left}" x2="{right}" y1="{at_y(p):.1f}" y2="{at_y(p):.1f}" stroke="#ccc"/>',
                text(left - 6, at_y(p) + 4, f"{p:g}", "end")]
    edge = x.max()
    out += [f'<line x1="{at_x(edge):.1f}" x2="{at_x(edge):.1f}" y1="{TOP}" y2="{BOTTOM}" stroke="#444" stroke-dasharray="4 3"/>',
            text(at_x(edge) + 4, BOTTOM - 50, "the last training row", "start")]
    out += [line([(at_x(a), at_y(b)) for a, b in zip(grid, curves[c], strict=True)], colour)
            for c, colour in zip(DIAL, COLOURS, strict=True)]
    out += [text(at_x(-1), BOTTOM + 16, "training"), text(at_x(2.5), BOTTOM + 16, "target")]
    for k, (c, colour) in enumerate(zip(DIAL, COLOURS, strict=True)):
        x0 = left + 78 * k
        out += [line([(x0, 40), (x0 + 18, 40)], colour, 3), text(x0 + 22, 44, f"{c:g}" + (" (default)" if c == 0.5 else ""), "start")]
    return out


def right_panel(found):
    left, right = 520, 880
    out = [text(left - 20, 20, "Log loss minus lr's (bits) over the shifted tasks", "start", 'font-size="14"')]
    worst = {c: d.max() for c, d in found.items()}
    mean = {c: d.mean() for c, d in found.items()}
    low, high = min(mean.values()) - 0.05, max(0.1, *worst.values()) + 0.05

    def at(c, v):
        return left + c * (right - left), BOTTOM - (v - low) / (high - low) * (BOTTOM - TOP)

    step = 0.1 if high - low < 1 else 0.25
    for v in np.arange(np.ceil(low / step) * step, high, step):
        y = at(0, v)[1]
        out += [f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#444" if abs(v) < 1e-9 else "#ddd"}"/>',
                text(left - 6, y + 4, f"{v + 0:+.2f}".replace("-0.00", "+0.00"), "end")]
    for series, colour, name in ((worst, "#d9600f", "worst task"), (mean, "#0b62a4", "mean")):
        out.append(line([at(c, v) for c, v in series.items()], colour))
        out += [f'<circle cx="{at(c, v)[0]:.1f}" cy="{at(c, v)[1]:.1f}" r="3.5" fill="{colour}"/>' for c, v in series.items()]
        x, y = at(0.02, series[0])
        out.append(text(x, y - 8, name, "start", f'fill="{colour}"'))
    out += [text(at(c, low)[0], BOTTOM + 16, f"{c:g}") for c in DIAL]
    out.append(text((left + right) / 2, BOTTOM + 34, "--caution"))
    return out


def picture(drawn, found):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *left_panel(*drawn), *right_panel(found), "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="scripts/shiftbench.sh caution", description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "covshift"))
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--picture", default=str(ROOT / "docs" / "caution.svg"))
    options = parser.parse_args()
    program = own.Program(options.program)
    found = measured(program, tasks(str(ROOT / options.data)), options.jobs)
    Path(options.picture).write_text(picture(example(program), found), encoding="utf-8")
    print(table(["caution", "mean against lr", "median", "worse by > 0.02", "worst"],
                [[f"{c:g}", f"{d.mean():+.3f}", f"{np.median(d):+.3f}", int(np.sum(d > 0.02)), f"{d.max():+.3f}"]
                 for c, d in found.items()]))
    print(f"wrote {options.picture}")


if __name__ == "__main__":
    main()
