"""What tests of the page share: it is opened from a file in headless Chromium."""

import functools
import json
import os
import time
import unittest

from browser import CHROMIUM, Browser, Hung
from program import ProgramTest

TABLE = """(id => [...document.querySelectorAll('#' + id + ' tbody tr')].map(row =>
    [...row.cells].map(c => 'value' in c.dataset ? JSON.parse(c.dataset.value) : c.textContent)))"""


def once_more(test):
    """A test that Chromium itself broke off, not the page, runs again with a fresh one."""

    @functools.wraps(test)
    def run(self):
        for last in (False, True):
            try:
                self.browser = Browser()
                return test(self)
            except Hung:
                if last:
                    raise
                self.close()

    return run


@unittest.skipUnless(CHROMIUM, "Chromium is not installed (scripts/packages.sh browser)")
class PageTest(ProgramTest):
    browser = None

    def setUp(self):
        super().setUp()
        if "built without the plotting library" in self.call("demo", "--report", self.path("x")).stderr:
            self.skipTest("built without the plotting library (scripts/report_library.sh)")
        self.addCleanup(self.close)

    def close(self):
        if self.browser:
            self.browser.close()
        self.browser = None

    def make(self, *command):
        """The page that a command writes, and the JSON that it prints."""
        path = self.path("report.html")
        data = json.loads(self.run_ok(*command, "--report", path, "--json").stdout)
        self.assertLess(os.path.getsize(path), 3e6)
        return path, data

    def open(self, path, unfold=True, **look):
        """`unfold`: with all parts open, and their charts drawn."""
        self.browser.open(path, **look)
        if unfold:
            self.browser.evaluate("document.getElementById('unfold').click()")
            self.wait("[...document.querySelectorAll('.chart')].every(c => c.querySelector('svg'))")
        self.assertEqual(self.browser.problems, [])
        self.assertEqual([u for u in self.browser.requests if not u.startswith("file:///")], [])
        self.assertEqual(len(self.browser.requests), 1)
        self.assertIsNone(self.browser.evaluate("window.pwned"))

    def table(self, name):
        return self.browser.evaluate(f"{TABLE}({json.dumps(name)})")

    def check_charts(self, least):
        """Charts that have drawn something, each within its box."""
        drawn = self.browser.evaluate(
            "[...document.querySelectorAll('.chart')].map(c => [c.querySelectorAll('svg path').length,"
            " c.getBoundingClientRect().width])"
        )
        self.assertGreaterEqual(len(drawn), least)
        for shapes, width in drawn:
            self.assertGreater(shapes, 3)
            self.assertGreater(width, 200)

    def wait(self, expression):
        deadline = time.time() + self.browser.patience
        while not self.browser.evaluate(expression):
            self.assertLess(time.time(), deadline, expression)
            time.sleep(0.05)

    def text(self, name):
        return self.browser.evaluate(f"document.getElementById({json.dumps(name)}).textContent")
