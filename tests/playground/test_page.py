"""The playground's page, opened from a file in headless Chromium, against the program."""

import json
import os
import pathlib
import random
import shlex
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))

from browser import CHROMIUM, Browser  # noqa: E402
from program import ProgramTest  # noqa: E402

PAGE = ROOT / "build/playground/index.html"
LARGEST = 3e6  # bytes


@unittest.skipUnless(CHROMIUM, "Chromium is not installed (scripts/packages.sh browser)")
class Page(ProgramTest):
    def setUp(self):
        super().setUp()
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def open(self, **look):
        self.browser.open(PAGE, **look)
        self.settle()

    def settle(self):
        """Waits until nothing is left to compute; the page must not have complained."""
        for _ in range(1200):
            if self.browser.evaluate("document.documentElement.dataset.ready") == "yes":
                break
            self.browser.evaluate("new Promise(done => setTimeout(done, 50))")
        else:
            self.fail("the page does not come to rest")
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(self.browser.evaluate("document.getElementById('problem').hidden || "
                                               "document.getElementById('problem').textContent"), True)

    def do(self, script):
        self.browser.evaluate(f"{{ {script} }}")
        self.settle()

    def choose(self, **values):
        """Sets controls as a user does."""
        for name, value in values.items():
            self.browser.evaluate(
                f"{{ const e = document.getElementById({json.dumps(name.replace('_', '-'))});"
                f" e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
            )
        self.settle()

    def tile(self, name):
        return json.loads(self.browser.evaluate(f"document.getElementById('{name}').dataset.value"))

    def last(self, path):
        return self.browser.evaluate(f"last.{path}")

    def compare_with_program(self):
        """The commands that the page shows, on the files that it offers, give the same numbers."""
        for which in ("train", "target"):
            name = self.last(f"data.{which}.name")
            self.write(name, self.last(f"data.{which}.text"))
        *fit, evaluate = self.browser.evaluate(
            "document.getElementById('command').textContent.replaceAll('\\\\\\n', ' ')").splitlines()
        if not fit:  # a figure: with the model of the page
            self.write("model.json", self.model())
        old = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, old)
        report = self.run_json(*shlex.split(fit[0])[1:]) if fit else None
        scores = self.run_json(*shlex.split(evaluate)[1:])
        os.chdir(old)
        own = self.last("own")
        pairs = [(own["scores"][k], scores[k]) for k in ("log_loss", "expected_loss", "accuracy", "brier")]
        if report:
            certificate = report["certificate"]
            pairs += [
                (self.tile("game"), report["game_value"]),
                (self.tile("bound"), certificate["bound"]),
                (own["report"]["objective"], report["objective"]),
                (own["report"]["lambda"], report["lambda"]),
                (own["report"]["certificate"]["estimate"], certificate["estimate"]),
            ]
        for found, wanted in pairs:
            if wanted is None:
                self.assertIsNone(found, fit)
            else:
                self.assertAlmostEqual(found, wanted, delta=1e-9, msg=fit)

    def model(self):
        return self.browser.evaluate("ask({...last.request, cells: undefined, model: true}).then(a => a.model)")

    def test_is_small_and_loads_nothing(self):
        self.assertLess(os.path.getsize(PAGE), LARGEST)
        self.open()
        asked = [u for u in self.browser.requests if not u.startswith(("file:///", "blob:"))]
        self.assertEqual(asked, [])
        interactive = float(self.browser.evaluate("document.documentElement.dataset.interactive"))
        self.choose(train_rows=200)
        times = []
        for _ in range(10):
            self.do("document.getElementById('again').click()")
            times.append(self.tile("time"))
        print(f"\nplayground: {os.path.getsize(PAGE) / 1e6:.2f} MB, interactive after {interactive:.0f} ms, "
              f"fit of 200 points {sorted(times)[5]:.1f} ms (median; load {os.getloadavg()[0]:.1f})", file=sys.stderr)

    def test_numbers_are_those_of_the_program(self):
        self.open()
        self.compare_with_program()
        for choice in (
            {"assumption": "test"}, {"assumption": "overlap", "caution": "0.4"}, {"assumption": "temper", "grow": "0.3"},
            {"assumption": "none", "loss": "zero-one"}, {"assumption": "train", "loss": "absolute"},
            {"loss": "abstain:0.2"}, {"loss": "log", "features": "quadratic"}, {"features": "nystroem:40"},
            {"features": "linear", "ratio": "gaussian"}, {"assumption": "views"}, {"assumption": "auto", "ratio": "logistic"},
        ):
            with self.subTest(choice):
                self.choose(**choice)
                self.compare_with_program()

    def test_the_program_reads_the_model_of_the_page(self):
        self.open()
        model = self.write("model.json", self.model())
        target = self.write("target.csv", self.last("data.target.text"))
        scores = self.run_json("evaluate", model, target)
        for name in ("log_loss", "accuracy", "brier"):
            self.assertAlmostEqual(self.last(f"own.scores.{name}"), scores[name], delta=1e-9)

    def test_figures_are_those_of_the_program(self):
        self.open()
        for figure in ("figure1", "figure2", "figure3"):
            for panel in range(4):
                with self.subTest(figure=figure, panel=panel):
                    self.do(f"document.querySelector('[data-preset={figure}]').click()")
                    self.do(f"{{ const e = document.querySelector('[data-panel=\"{panel}\"]'); e.focus(); e.click(); }}")
                    self.assertEqual(self.browser.evaluate("document.activeElement.dataset.panel"), str(panel))
                    self.compare_with_program()

    def test_handles_move_by_pointer_and_by_keys(self):
        self.open()
        before = self.last("own.report.game_value")
        self.browser.evaluate("document.querySelector('.handle.mean.target').focus()")
        for _ in range(3):
            for kind in ("keyDown", "keyUp"):
                self.browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight",
                                  windowsVirtualKeyCode=39)
        self.settle()
        self.assertAlmostEqual(self.browser.evaluate("state.target.mean[0]"), 0.3)
        moved = self.last("own.report.game_value")
        self.assertNotEqual(before, moved)
        box = self.browser.evaluate(
            "(() => { const e = document.querySelector('.handle.along.train'); e.scrollIntoView({block: 'center'});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        spread = self.browser.evaluate("state.train.along")
        for kind, by in (("mousePressed", 0), ("mouseMoved", 20), ("mouseMoved", 40), ("mouseReleased", 40)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=box[0] + by, y=box[1], button="left",
                              buttons=1, clickCount=1)
        self.settle()
        self.assertGreater(self.browser.evaluate("state.train.along"), spread + 0.1)
        self.assertNotEqual(self.last("own.report.game_value"), moved)

    def give(self, which, path):
        document = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=document, selector=f"#{which}-file")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[path])
        for _ in range(200):
            if self.browser.evaluate(f"Boolean(state.file.{which})"):
                break
            self.browser.evaluate("new Promise(done => setTimeout(done, 25))")
        self.settle()

    def test_two_files(self):
        draw = random.Random(4)
        for name, middle in (("old.csv", 0), ("new.csv", 30)):
            self.write_rows(name, ["id", "height", "kind", "weight", "town"], [
                [i, round(draw.gauss(100 + middle, 20), 3), draw.choice("abc") if draw.random() < 0.3 else "abc"[i % 3],
                 round(draw.gauss(50, 5) + 4 * (i % 3), 3), draw.choice(["Ulm", "Bonn"])] for i in range(90)])
        self.open()
        self.do("document.querySelector('[data-preset=files]').click()")
        self.give("train", self.path("old.csv"))
        self.give("target", self.path("new.csv"))
        self.assertEqual(self.browser.evaluate("state.x + state.y"), "idheight")
        self.choose(label="kind", axis_x="height", axis_y="weight")
        self.assertEqual(self.last("own.classes"), ["a", "b", "c"])
        self.compare_with_program()
        low, high = self.last("area")[:2]
        self.assertTrue(low < min(self.last("own.train.x")) and high > max(self.last("own.target.x")))

    def test_says_what_is_wrong_with_a_file(self):
        self.open()
        self.do("document.querySelector('[data-preset=files]').click()")
        path = self.write("broken.csv", "a,b,label\n1,2,x\n3,4\n")
        document = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=document, selector="#train-file")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[path])
        for _ in range(200):
            if not self.browser.evaluate("document.getElementById('problem').hidden"):
                break
            self.browser.evaluate("new Promise(done => setTimeout(done, 25))")
        self.assertIn("broken.csv:3", self.browser.evaluate("document.getElementById('problem').textContent"))

    def test_fits_phone_and_desk_in_light_and_dark(self):
        colours = set()
        for width in (390, 1400):
            for dark in (False, True):
                self.open(width=width, dark=dark)
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                colours.add(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
                canvas = self.browser.evaluate("document.getElementById('canvas').getBoundingClientRect().width")
                self.assertGreater(canvas, 300)
                pixels = self.browser.evaluate(
                    "(() => { const c = document.getElementById('canvas'); const d = c.getContext('2d')"
                    ".getImageData(0, 0, c.width, c.height).data; return new Set(new Uint32Array(d.buffer)).size; })()")
                self.assertGreater(pixels, 500, "the map has no gradation")
        self.assertEqual(len(colours), 2)


if __name__ == "__main__":
    unittest.main()
