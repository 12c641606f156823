#!/usr/bin/env python3
"""Pictures of the page, into docs/: of `covshift demo`, and of comparisons on real data.

    scripts/page_pictures.py build/covshift ../shared/data/shift

The data are folders TASK/{train,target}.csv.gz with the label in column `label`.
"""

import base64
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from browser import Browser  # noqa: E402

TASKS = {"weather": "weather-cold-to-warm", "phoneme": "phoneme-biased", "adult": "adult-low-to-high-education"}
OPEN = """new Promise(done => { const d = document.getElementById('PART');
          d.addEventListener('toggle', () => setTimeout(done, 500)); d.open = true; })"""


class Camera:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        self.browser = Browser()
        self.browser.call("Emulation.setScrollbarsHidden", hidden=True)

    def make(self, name, *command):
        """A page, by a command with short names: it runs beside the files."""
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}
        subprocess.run([self.program, *command, "--report", name + ".html", "-q"], check=True, env=environment, cwd=self.folder)

    def picture(self, name, part="summary", width=1000, dark=False):
        """One part of a page: the first screen, or a part that is opened for it."""
        self.browser.open(os.path.join(self.folder, name + ".html"), width=width, height=800, dark=dark)
        if part != "summary":
            self.browser.evaluate(OPEN.replace("PART", part))
        box = self.browser.evaluate(
            f"(r => ({{x: r.x - 8, y: r.y + scrollY - 8, width: r.width + 16, height: r.height + 16, scale: 1}}))"
            f"(document.getElementById('{part}').getBoundingClientRect())")
        shot = self.browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=box)
        suffix = ("" if part == "summary" else "-" + part) + ("-phone" if width < 600 else "") + ("-dark" if dark else "")
        path = os.path.join(ROOT, "docs", f"page-{name}{suffix}.png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
        print(f"{os.path.basename(path)}: {os.path.getsize(path) / 1024:.0f} KB", flush=True)


def main(program, data):
    with tempfile.TemporaryDirectory() as folder:
        camera = Camera(program, folder)
        camera.make("demo", "demo")
        camera.picture("demo")
        camera.picture("demo", "calibration")
        camera.picture("demo", "map", width=940)
        camera.picture("demo", width=390, dark=True)
        for name, task in TASKS.items():
            for file in ("train", "target"):
                os.symlink(os.path.join(os.path.abspath(data), task, file + ".csv.gz"),
                           os.path.join(folder, f"{name}-{file}.csv.gz"))
            camera.make(name, "compare", f"{name}-train.csv.gz", f"{name}-target.csv.gz", "--label", "label")
            camera.picture(name)
        camera.browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
