"""The page as people meet it: on a phone, in the dark, on paper, by keyboard, by ear; and that it never
contradicts itself."""

import csv
import io
import json
import os
import random
import re
import subprocess
import time
import unittest

from page import PageTest, once_more
from program import PROGRAM, ProgramTest

# Text whose contrast with its background is too small (WCAG AA), as "ratio text".
CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                       return .2126 * r + .7152 * g + .0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
                        if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, css = getComputedStyle(e);
    if (!walk.currentNode.textContent.trim() || e.closest('svg, script, noscript, option') || !e.getClientRects().length) continue;
    const [a, b] = [light(parse(css.color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05), size = parseFloat(css.fontSize);
    const large = size >= 24 || size >= 18.66 && css.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) bad.push(ratio.toFixed(2) + ' ' + walk.currentNode.textContent.slice(0, 40));
  }
  return bad;
})()"""

# Texts with digits that are neither a number with its value nor the page's own words, as [text, values above it].
DIGITS = """(() => {
  const out = [];
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.textContent;
    if (!/\\d/.test(text) || e.closest('svg, #glossary, .tip')) continue;
    const of = e.closest('[data-value]'), whole = e.closest('p, li, td, th, summary, option, code, dd, h3');
    out.push([whole ? whole.textContent : text, text, of ? of.dataset.value : null]);
  }
  return out;
})()"""
# What the page says itself.
OWN = ("95% interval", "1.96 standard errors", "distance (1: the usual limit)", "Weights far from 1",
       "counted from 1", "at most 5,000")


def canonical(value):
    """As JSON in which 1 and 1.0 are the same."""
    return json.dumps(json.loads(json.dumps(value), parse_int=float), sort_keys=True)


def numbers(data):
    """Every number, text and estimate of a JSON object."""
    if isinstance(data, dict):
        yield data
        for value in data.values():
            yield from numbers(value)
    elif isinstance(data, list):
        for value in data:
            yield from numbers(value)
    else:
        yield data


def two_samples(source, columns, classes, shift, rows):
    """Header, training and target rows: the first columns move, all columns tell the classes apart a little."""
    header = [f"x{j}" for j in range(columns)] + ["id", "y"]

    def sample(mean):
        out = []
        for i in range(rows):
            x = [source.gauss(mean if j < 2 else 0, 1) for j in range(columns)]
            score = x[-1] + 0.5 * x[0] + source.gauss(0, 0.4)
            label = min(classes - 1, max(0, int(classes / 2 + classes / 3 * score)))
            out.append([*(f"{v:.3f}" for v in x), f"{7 * i:04d}", f"c{label}"])
        return out

    return header, sample(0), sample(shift)


class Page(PageTest):
    def two_files(self, columns=3, classes=2, shift=1.0, rows=80, seed=1):
        header, train, target = two_samples(random.Random(seed), columns, classes, shift, rows)
        return self.write_rows("train.csv", header, train), self.write_rows("new.csv", header, target)

    def no_overflow(self, width):
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)

    @once_more
    def test_first_screen_contrast_and_width_at_three_widths_light_and_dark(self):
        train, new = self.two_files()
        path, data = self.make("compare", train, new, "--label", "y", "--methods", "lr,robust", "--keep", "id")
        for width, height in ((390, 844), (1000, 800), (1400, 900)):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.open(path, width=width, height=height, dark=dark)
                    self.assertEqual(self.browser.evaluate(CONTRAST), [])
                    self.no_overflow(width)
                    for part in ("answer", "headline", "performance"):
                        bottom = self.browser.evaluate(f"document.getElementById('{part}').getBoundingClientRect().bottom")
                        self.assertLess(bottom, height, part)
        self.assertEqual(self.text("command"), data["command"])
        self.assertIn("--keep id", data["command"])

    @once_more
    def test_pages_of_many_columns_and_classes_of_no_and_total_shift_fit_a_phone(self):
        cases = (
            ("compare", dict(columns=2, classes=12, shift=0.5, rows=150), "--methods", "lr,auto"),
            ("compare", dict(columns=30, classes=2, shift=9, rows=60), "--methods", "lr,robust"),
            ("diagnose", dict(columns=500, classes=2, shift=1, rows=60), "--permutations", "19"),
            ("diagnose", dict(columns=2, classes=2, shift=0, rows=90)),
        )
        answers = set()
        for command, data, *options in cases:
            with self.subTest(**data):
                train, new = self.two_files(**data)
                path, found = self.make(command, train, new, "--label", "y", "--drop", "id", *options)
                answers.add((found.get("diagnosis") or found)["recommendation"]["trust"]["answer"])
                for width in (390, 1400):
                    self.open(path, width=width)
                    self.no_overflow(width)
                self.assertEqual(self.browser.evaluate(CONTRAST), [])
        self.assertGreaterEqual(answers, {"yes", "no"})

    @once_more
    def test_everything_has_a_name_and_tables_have_headings(self):
        train, new = self.two_files()
        path, _ = self.make("compare", train, new, "--label", "y", "--methods", "lr,robust", "--keep", "id")
        self.open(path)
        self.assertEqual(
            self.browser.evaluate(
                "[...document.querySelectorAll('table')].filter(t => !t.caption || [...t.rows].some(r => r.cells[0].tagName !== 'TH'"
                " || !r.cells[0].scope)).map(t => t.id)"
            ),
            [],
        )
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {"button", "combobox", "img", "image", "table", "region", "link", "DisclosureTriangle"}
        seen = set()
        for node in nodes:
            role = node.get("role", {}).get("value")
            if role in named and not node.get("ignored"):
                seen.add(role)
                self.assertTrue(node.get("name", {}).get("value", "").strip(), node)
        self.assertGreaterEqual(seen, {"button", "combobox", "table", "region"})
        self.assertTrue(seen & {"img", "image"})
        levels = self.browser.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
        self.assertEqual((levels[0], levels.count(1)), (1, 1))

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    @once_more
    def test_by_keyboard_parts_open_and_terms_explain_themselves(self):
        train, new = self.two_files()
        path, _ = self.make("compare", train, new, "--label", "y", "--methods", "lr,robust")
        self.open(path, unfold=False)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"])').length"), 0)
        visited, wanted = [], self.browser.evaluate("document.querySelectorAll('details.part > summary').length")
        for _ in range(60):
            self.press("Tab", 9)
            visited.append(self.browser.evaluate(
                "[document.activeElement.tagName, document.activeElement.className, document.activeElement.parentElement.id,"
                " document.getElementById('tooltip').hidden]"))
            tag, kind, part, hidden = visited[-1]
            if kind == "term":
                self.assertFalse(hidden)
                self.press("Escape", 27)
                self.assertTrue(self.browser.evaluate("document.getElementById('tooltip').hidden"))
            if (tag, part) == ("SUMMARY", "glossary"):
                break
            if (tag, part) == ("SUMMARY", "why"):
                self.press("Enter", 13, "\r")
                self.assertTrue(self.browser.evaluate("document.getElementById('why').open"))
        self.assertEqual(len({v[2] for v in visited if v[0] == "SUMMARY"}), wanted)
        self.assertTrue(any(v[1] == "term" for v in visited))
        # The same by the mouse, and within the window.
        spot = self.browser.evaluate("(t => { t.scrollIntoView({block: 'center'}); const r = t.getBoundingClientRect();"
                                     " return [r.x + 2, r.y + 2]; })(document.querySelector('.term'))")
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0], y=spot[1])
        self.assertFalse(self.browser.evaluate("document.getElementById('tooltip').hidden"))

    @once_more
    def test_every_number_on_the_page_is_in_the_json(self):
        train, new = self.two_files(columns=4)
        for command in (("compare", "--methods", "lr,robust,auto", "--truth", new), ("diagnose",)):
            path, data = self.make(command[0], train, new, "--label", "y", "--drop", "id", *command[1:])
            self.open(path)
            known = list(numbers(data))
            values = {canonical(v) for v in known}
            texts = "\n".join(v for v in known if isinstance(v, str))
            diagnosis = data.get("diagnosis") or data
            views = diagnosis["views"]
            derived = {  # counts of what the JSON lists, and a pair that it has as two numbers
                canonical(len(views)), canonical(sum(not v["stable"] for v in views)),
                canonical({"value": diagnosis["domain_auc"], "standard_error": diagnosis["domain_auc_standard_error"]}),
            }
            checked = 0
            for whole, text, value in self.browser.evaluate(DIGITS):
                if value is not None:
                    self.assertTrue(canonical(json.loads(value)) in values | derived, (whole, value))
                    checked += 1
                    continue
                for own in OWN:
                    text = text.replace(own, "")
                for name in sorted(re.findall(r"\b[xc]\d\b|covshift_\S+|/\S+", text), key=len, reverse=True):
                    text = text.replace(name, "")  # names of columns and files
                if re.search(r"\d", text):
                    self.assertTrue(whole.strip().rstrip(".") in texts or text.strip() in texts, (whole, text))
            self.assertGreater(checked, 50)

    @once_more
    def test_rows_as_files_with_their_ids(self):
        train, new = self.two_files(shift=4.0, rows=70)
        path, data = self.make("diagnose", train, new, "--label", "y", "--keep", "id")
        self.open(path)
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder)
        support, first = data["support"], data["recommendation"]["label_first"]
        self.assertGreater(support["rows"], 10)
        self.assertEqual(len(support["listed"]["row"]), support["rows"])
        for button, name in (("download-unsupported", "rows-without-support.csv"), ("download-label", "rows-to-label-first.csv")):
            self.browser.evaluate(f"document.getElementById('{button}').click()")
            deadline = time.time() + 30
            while not os.path.exists(self.path(name)):
                self.assertLess(time.time(), deadline)
                time.sleep(0.05)
            time.sleep(0.2)
            with open(self.path(name), encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(io.StringIO(file.read())))
            listed = support["listed"]["row"] if "without" in name else [r["row"] for r in first]
            self.assertEqual([int(r["row"]) for r in rows], listed)
            # The ids of the file, as written there: 0007 is not 7.
            self.assertEqual([r["id"] for r in rows], [f"{7 * (row - 1):04d}" for row in listed])
        self.assertEqual(self.browser.problems, [])

    @once_more
    def test_paper_is_the_same_whatever_the_window(self):
        train, new = self.two_files()
        path, _ = self.make("compare", train, new, "--label", "y", "--methods", "lr,robust")
        pages = []
        for width in (390, 1400):
            self.open(path, unfold=False, width=width)
            self.browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            widths = self.browser.evaluate(
                "[...document.querySelectorAll('.chart')].map(c => [c.clientWidth, c.querySelector('svg')?.clientWidth])")
            self.assertTrue(all(box == drawn and 0 < box <= 700 for box, drawn in widths), widths)
            self.browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
            self.browser.print_to(self.path("page.pdf"))
            with open(self.path("page.pdf"), "rb") as file:
                pages.append(len(re.findall(rb"/Type\s*/Page\b", file.read())))
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(self.browser.problems, [])

    @once_more
    def test_the_foot_says_how_the_page_came_about_and_the_same_command_writes_it_again(self):
        train, new = self.two_files(rows=40)
        pages = []
        for _ in range(2):
            done = subprocess.run(
                [PROGRAM, "diagnose", train, new, "--label", "y", "--seed", "3", "--report", self.path("p.html"), "-q"],
                env={**os.environ, "SOURCE_DATE_EPOCH": "86400"}, check=False, capture_output=True, text=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path("p.html"), encoding="utf-8") as file:
                pages.append(file.read())
        self.assertEqual(*pages)
        self.open(self.path("p.html"))
        foot = self.text("made")
        for part in ("1970-01-02", "covshift ", train, new, "y", "Seed3", "covshift diagnose", "--seed 3"):
            self.assertIn(part, foot)


class OneAnswer(ProgramTest):
    """Headline, winner and Next never contradict each other."""

    def test_fifty_random_comparisons(self):
        source = random.Random(7)
        answers = set()
        for k in range(50):
            header, train, target = two_samples(
                source, columns=source.choice([1, 2, 4]), classes=source.choice([2, 3]),
                shift=source.choice([0, 0.3, 1, 3]), rows=source.choice([25, 45, 70]))
            files = self.write_rows("train.csv", header, train), self.write_rows("new.csv", header, target)
            call = ["compare", *files, "--label", "y", "--drop", "id", "--methods",
                    source.choice(["lr,robust", "lr,iw,robust-view", "robust,auto"])]
            if source.random() < 0.5:
                call += ["--truth", files[1]]
            with self.subTest(k=k):
                answers.add(self.check(self.run_json(*call)))
        self.assertEqual(answers, {"yes", "partly", "no"})

    def test_the_terminal_says_the_same(self):
        header, train, target = two_samples(random.Random(5), columns=2, classes=2, shift=1, rows=60)
        files = self.write_rows("train.csv", header, train), self.write_rows("new.csv", header, target)
        for command in (["diagnose"], ["compare", "--methods", "lr,robust"]):
            call = [command[0], *files, "--label", "y", "--drop", "id", *command[1:]]
            found = self.run_json(*call)
            advice = (found.get("diagnosis") or found)["recommendation"]
            trust, shown = advice["trust"], self.run_ok(*call).stdout
            self.assertIn(f"? {trust['answer'].capitalize()}. {trust['headline']}", shown.splitlines()[0])
            for part in (trust["performance"], trust["basis"], *trust["evidence"], trust["next"], f"Next: {advice['command']}"):
                self.assertIn(part, shown)

    def check(self, c):
        advice = c["diagnosis"]["recommendation"]
        trust, use = advice["trust"], c["recommended"]
        expected = trust["expected"]
        # One method, in every place that names one.
        self.assertIn(c["winner"], (None, use))
        self.assertEqual((advice["method"], expected["model"]), (use, use))
        self.assertRegex(c["statement"], rf"Use {use}[.,]")
        self.assertEqual(advice["why"], c["statement"])
        self.assertIn(f"it {use} with the new rows", trust["next"])
        self.assertEqual(advice["command"], c["command"])
        said = re.search(r"--method (\S+)", c["command"])
        self.assertEqual(said.group(1) if said else "auto", use)
        # The number of the headline is that of the table, unless it means nothing.
        (row,) = (m for m in c["methods"] if m["method"] == use)
        judged = row["truth"] if c["judged_by"] == "truth" else row["estimated"]
        self.assertAlmostEqual(expected["accuracy"], judged["accuracy"])
        self.assertEqual(expected["reliable"], judged["reliable"])
        self.assertEqual(trust["performance"] == "Unknown", not judged["reliable"])
        # Yes is never said of what is expected to be bad, no never of what is known to be as good.
        measured = judged["reliable"] and c["judged_by"] == "truth"
        share = c["diagnosis"]["support"]["share"]
        if trust["answer"] == "yes":
            self.assertGreater(expected["gain"], 0)
            self.assertTrue(measured or share < 0.5)
            self.assertTrue(expected["largest_drop"] <= 0.05 or not measured and not c["diagnosis"]["shift"])
            self.assertNotIn("Label", trust["next"])
        if trust["answer"] == "no":
            self.assertTrue(expected["gain"] <= 0 or share >= 0.5 and not measured)
            self.assertIn("Label", trust["next"])
        return trust["answer"]


if __name__ == "__main__":
    unittest.main()
