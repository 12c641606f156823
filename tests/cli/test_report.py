"""The page's content, opened from a file in headless Chromium."""

import json
import os
import random
import signal
import unittest

from page import PageTest, once_more

EVIL = "<img src=x onerror=window.pwned=1>"
EVIL_SCRIPT = "</script><script>window.pwned=2</script><!--"


class Report(PageTest):
    def check_diagnosis(self, d):
        by_kl = lambda v: -max(v["kl"], v["kl_binned"])
        self.assertEqual(
            self.table("views-table"),
            [[v["name"], v["kl"], v["kl_binned"], "yes" if v["stable"] else "no"]
             for v in sorted(d["views"], key=by_kl)],
        )
        self.assertEqual(
            self.table("distributions-table"),
            [[f["name"], f["kl"], f["kl_binned"], f["kl_binned_error"]]
             for f in sorted(d["distributions"], key=by_kl)],
        )
        self.assertEqual(
            self.table("means-table"),
            [[m[k] for k in ("name", "train", "weighted", "target", "before", "after")]
             for m in sorted(d["features"], key=lambda m: -abs(m["before"]))],
        )
        self.assertEqual(
            self.table("weights-table"), [[w["row"], w["share"]] for w in d["largest_weights"]]
        )
        for name, rows, key in (
            ("unsupported-table", d["support"]["examples"], "distance"),
            ("label-table", d["recommendation"]["label_first"], "represents"),
        ):
            self.assertEqual(
                self.table(name), [[r["row"], r[key], *(v["value"] for v in r["values"])] for r in rows]
            )
        advice = d["recommendation"]
        trust = advice["trust"]
        first = self.text("summary")
        # The demo has no files, so no command.
        for part in ("headline", "performance", "basis", "next"):
            self.assertEqual(self.text(part), trust[part])
        self.assertIn({"yes": "Yes", "partly": "Partly", "no": "No"}[trust["answer"]], self.text("answer"))
        for part in (*trust["evidence"], advice["command"] or ""):
            self.assertIn(part, first)
        why = self.text("why")
        for part in (advice["summary"], advice["why"], *(reason["text"] for reason in advice["reasons"])):
            self.assertIn(part, why)

    def check_comparison(self, c):
        judged = (["truth"] if c["judged_by"] == "truth" else []) + ["estimated"]
        # The recommended method stands first, and is marked.
        methods = sorted(c["methods"], key=lambda m: m["method"] != c["recommended"])
        for table in ("methods-table", "calibration-table", "certificates-table"):
            self.assertEqual(
                self.browser.evaluate(f"[...document.querySelectorAll('#{table} tr.best th')].map(c => c.textContent)"),
                [c["recommended"]],
            )
        self.assertEqual(
            self.table("methods-table"),
            [[m["method"], "best" if m["method"] == c["best"] else "tied" if m["tied"] else "", m["behind"],
              *(m[j][k] for j in judged for k in ("error", "log_loss_bits", "brier")),
              m["training_error"], m["loss"], m["generalize"], m["lambda"]]
             for m in methods],
        )
        for m in c["methods"]:
            if m["choice"]:
                self.assertEqual(
                    self.table("tried-" + m["method"]),
                    [[t[k] for k in ("features", "generalize", "lambda", "lambda_choice", "loss", "standard_error",
                                     "share")] for t in m["selection"]],
                )
        self.assertEqual(
            self.table("certificates-table"),
            [[m["method"], *(m["certificate"][k] for k in
              ("bound", "game_value", "gap", "target_value", "target_risk", "mean_weight")),
              m["effective_sample_size"], "yes" if m["certificate"]["reliable"] else "no"]
             for m in methods],
        )
        self.assertEqual(
            self.table("calibration-table"),
            [[m["method"], *(m[judged[0]][k] for k in ("confidence", "accuracy", "calibration_error"))]
             for m in methods],
        )
        self.assertEqual(self.text("statement"), c["statement"])

    @once_more
    def test_demo_page_at_desktop_and_phone_width_light_and_dark(self):
        path, data = self.make("demo")
        colours = set()
        for width in (1280, 390):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.open(path, width=width, dark=dark)
                    self.check_charts(9)
                    self.check_diagnosis(data["diagnosis"])
                    self.check_comparison(data["comparison"])
                    # Nothing sticks out: wide tables scroll within themselves.
                    self.assertLessEqual(
                        self.browser.evaluate("document.documentElement.scrollWidth"), width
                    )
                    colours.add(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
                    shot = self.path(f"shot{width}{dark}.png")
                    self.browser.screenshot(shot)
                    self.assertGreater(os.path.getsize(shot), 50000)
        self.assertEqual(len(colours), 2)

    @once_more
    def test_controls_and_printing(self):
        path, data = self.make("demo")
        self.open(path)
        before = self.browser.evaluate("document.querySelector('#methods .chart').innerHTML")
        self.browser.evaluate(
            "(s => { s.value = 'error'; s.dispatchEvent(new Event('change')); })"
            "(document.getElementById('metric'))"
        )
        self.assertNotEqual(
            before, self.browser.evaluate("document.querySelector('#methods .chart').innerHTML")
        )
        self.assertEqual(
            self.browser.evaluate("document.querySelectorAll('#map select')[1].options.length"),
            len(data["comparison"]["methods"]),
        )
        self.browser.evaluate("document.getElementById('theme').click()")
        self.assertEqual(self.browser.evaluate("document.documentElement.dataset.theme"), "dark")
        self.browser.print_to(self.path("page.pdf"))
        self.assertGreater(os.path.getsize(self.path("page.pdf")), 20000)
        self.assertEqual(self.browser.problems, [])

    @once_more
    def test_hovering_shows_details(self):
        path, _ = self.make("demo")
        self.open(path)
        spot = self.browser.evaluate(
            "(c => { c.scrollIntoView(); const r = c.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })"
            "(document.querySelector('#map .chart'))"
        )
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0], y=spot[1])
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0] + 1, y=spot[1])
        self.assertRegex(
            self.browser.evaluate("document.querySelector('#map .tip')?.textContent || ''"), r"x1 .*x2 "
        )

    @once_more
    def test_names_that_look_like_html_stay_names(self):
        source = random.Random(3)

        def rows(n, shift):
            out = []
            for _ in range(n):
                a, b = source.gauss(shift, 1), source.gauss(0, 1)
                label = EVIL_SCRIPT if a + b > 0 else EVIL
                out.append([f"{a:.5f}", f"{b:.5f}", source.choice([EVIL, "plain"]), label])
            return out

        header = [EVIL, EVIL_SCRIPT, "{{script}} __proto__", "y"]
        train = self.write_rows("train.csv", header, rows(80, 0))
        target = self.write_rows("target.csv", header, rows(80, 2))
        for command in (("diagnose",), ("compare", "--truth", target, "--methods", "lr,robust")):
            path, data = self.make(command[0], train, target, "--label", "y", *command[1:])
            self.open(path)
            self.check_charts(5)
            self.check_diagnosis(data if command[0] == "diagnose" else data["diagnosis"])
            self.assertEqual(
                self.browser.evaluate("document.querySelectorAll('img, main script').length"), 0
            )
            names = [r[0] for r in self.table("distributions-table")]
            self.assertEqual(set(names), set(header[:3]))
        # Also when texts come up on hovering.
        for chart in range(self.browser.evaluate("document.querySelectorAll('.chart').length")):
            spot = self.browser.evaluate(
                f"(c => {{ c.scrollIntoView(); const r = c.getBoundingClientRect();"
                f" return [r.x + r.width / 2, r.y + r.height / 2]; }})"
                f"(document.querySelectorAll('.chart')[{chart}])"
            )
            for step in (0, 5):
                self.browser.call(
                    "Input.dispatchMouseEvent", type="mouseMoved", x=spot[0] + step, y=spot[1]
                )
        self.assertIsNone(self.browser.evaluate("window.pwned"))
        self.assertEqual(self.browser.problems, [])

    @once_more
    def test_many_features_and_classes(self):
        source = random.Random(4)
        header = [f"x{j}" for j in range(60)] + ["y"]

        def rows(n, shift):
            return [
                [f"{source.gauss(shift if j == 5 else 0, 1):.4f}" for j in range(60)]
                + [source.choice("abcd")] for _ in range(n)
            ]

        train = self.write_rows("train.csv", header, rows(150, 0))
        target = self.write_rows("target.csv", header, rows(150, 2))
        path, data = self.make(
            "compare", train, target, "--label", "y", "--methods", "lr,adv01", "--map", "x3,x5"
        )
        self.open(path, width=390)
        self.check_diagnosis(data["diagnosis"])
        self.check_comparison(data)
        self.assertEqual(data["map"]["x"]["name"], "x3")
        few = self.browser.evaluate("document.querySelectorAll('#distributions .chart').length")
        self.browser.evaluate("document.getElementById('more').click()")
        self.assertGreater(
            self.browser.evaluate("document.querySelectorAll('#distributions .chart').length"), few
        )
        self.assertEqual(self.browser.problems, [])

    @once_more
    def test_long_names_do_not_stick_out_on_a_phone(self):
        source = random.Random(6)
        header = ["a_name_without_a_single_place_where_it_could_be_broken_" + c for c in "abc"]

        def rows(shift):
            return [[f"{source.gauss(shift, 1):.4f}", f"{source.gauss(0, 1):.4f}", f"{source.gauss(0, 1):.4f}"]
                    for _ in range(100)]

        path, _ = self.make(
            "diagnose", self.write_rows("a.csv", header, rows(0)), self.write_rows("b.csv", header, rows(3))
        )
        self.open(path, width=390)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 390)

    @once_more
    def test_no_shift_and_a_single_row(self):
        train = self.write_rows("a.csv", ["x"], [[f"{i % 17}"] for i in range(90)])
        same = self.write_rows("b.csv", ["x"], [[f"{i % 17}"] for i in range(80)])
        one = self.write_rows("c.csv", ["x"], [["3"]])
        for target in (same, one):
            path, data = self.make("diagnose", train, target)
            self.open(path)
            self.assertFalse(data["shift"])
            self.check_diagnosis(data)

    @once_more
    def test_a_browser_that_hangs_is_replaced(self):
        page = self.write("page.html", "<html data-ready='yes'></html>")
        tries = []

        def open_page(test):
            tries.append(test.browser)
            if len(tries) == 1:
                os.killpg(test.browser.process.pid, signal.SIGSTOP)
                test.browser.patience = 1
                try:
                    test.browser.open(page)
                finally:
                    os.killpg(test.browser.process.pid, signal.SIGCONT)
            test.browser.open(page)

        self.close()
        once_more(open_page)(self)
        self.assertEqual(len(tries), 2)
        self.assertIsNot(tries[0], tries[1])

    @once_more
    def test_what_was_folded_is_folded_again_after_printing(self):
        path, _ = self.make("demo")
        self.open(path, unfold=False)
        open_tables = "document.querySelectorAll('details[open]').length"
        self.browser.evaluate("document.querySelector('details').open = true")
        self.browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.assertGreater(self.browser.evaluate(open_tables), 3)
        self.browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.browser.evaluate(open_tables), 1)

    @once_more
    def test_the_ratio_and_a_comparison_without_a_winner_are_called_what_they_are(self):
        source = random.Random(5)

        def rows(n, shift):
            x = [[source.gauss(shift, 1), source.gauss(0, 1)] for _ in range(n)]
            return [[f"{a:.5f}", f"{b:.5f}", "+" if a + b > 0 else "-"] for a, b in x]

        train = self.write_rows("train.csv", ["a", "b", "y"], rows(60, 0))
        target = self.write_rows("target.csv", ["a", "b", "y"], rows(20, 1))
        path, data = self.make(
            "compare", train, target, "--label", "y", "--truth", target, "--methods", "lr,svm",
            "--ratio", "ulsif",
        )
        self.assertIsNone(data["winner"])  # 20 labelled rows are too few
        self.open(path)
        self.assertIn("No winner can be named", self.text("statement"))
        self.assertEqual(self.text("performance"), "Unknown")
        where = self.browser.evaluate("document.getElementById('where').textContent")
        self.assertIn("ulsif ratio", where)
        self.assertNotIn("logistic", where)


if __name__ == "__main__":
    unittest.main()
