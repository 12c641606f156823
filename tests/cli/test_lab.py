"""The lab: reproduce and datasets."""

import json
import os
import unittest

from program import ProgramTest

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "data")


class Reproduce(ProgramTest):
    def test_figure(self):
        out = self.call(
            "reproduce", "figure3", "-o", self.path("lab"), "--draws", "2", "--json"
        )
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(json.loads(out.stdout)["figure3"]["draws"], 2)
        out = self.call("reproduce", "figure3", "-o", self.path("lab"), "--seeds", "2")
        self.assertEqual(out.returncode, 1)
        self.assertIn("figures have one seed", out.stderr)
        for ending in ("md", "csv", "svg", "json"):
            self.assertTrue(os.path.getsize(self.path(f"lab/figure3.{ending}")) > 100)

    @unittest.skipUnless(os.path.isdir(DATA), "there is no shared/data beside the checkout")
    def test_table(self):
        call = ["reproduce", "table2", "--data", DATA, "--draws", "2", "--json", "--seed", "3", "--seeds", "2"]
        one = self.call(*call, "-o", self.path("one"))
        self.assertEqual(one.returncode, 0, one.stderr)
        table = json.loads(one.stdout)["table2"]
        self.assertEqual([row["name"] for row in table["rows"]],
                         ["Seed", "Vertebral", "Vehicle", "Spam"])
        self.assertEqual(table["draws"], 4)
        two = self.call(*call, "-o", self.path("two"), "--threads", "1")
        self.assertEqual(one.stdout, two.stdout, "reproducible from its seed")
        for ending in ("md", "csv", "svg", "json"):
            with open(self.path(f"one/table2.{ending}"), encoding="utf-8") as a:
                with open(self.path(f"two/table2.{ending}"), encoding="utf-8") as b:
                    self.assertEqual(a.read(), b.read())

    @unittest.skipUnless(os.path.isdir(DATA), "there is no shared/data beside the checkout")
    def test_documents(self):
        out = self.call("reproduce", "table3", "--data", DATA, "--draws", "2", "--seeds", "1", "--components", "2",
                        "--rows", "60", "--json", "-o", self.path("three"))
        self.assertEqual(out.returncode, 0, out.stderr)
        rows = json.loads(out.stdout)["table3"]["rows"]
        self.assertEqual([row["name"] for row in rows],
                         ["EN FR - GR FR", "EN GR - FR GR", "IT GR - FR GR", "EN IT - GR IT"])
        for row in rows:
            views = {m["method"]: m["mean_generalized_views"] for m in row["methods"]}
            self.assertEqual(views, {"robust-view": 1, "robust": 0, "lr": 0, "iw": 0}, "one of the two languages")

    @unittest.skipUnless(os.path.isdir(DATA), "there is no shared/data beside the checkout")
    def test_an_interval_the_wrong_way_round_is_named(self):
        out = self.call("reproduce", "table2", "--data", DATA, "-o", self.path("lab"), "--a", "4", "2")
        self.assertEqual(out.returncode, 2)
        self.assertIn("--a must be in order, low and high, not 4 and 2", out.stderr)

    @unittest.skipUnless(os.path.isdir(DATA), "there is no shared/data beside the checkout")
    def test_the_target_portion_may_have_its_own_intervals(self):
        call = ["reproduce", "table1", "--data", DATA, "--draws", "2", "--seeds", "1", "--json"]
        own = self.call(*call, "-o", self.path("own"), "--target-a", "6", "8")
        self.assertEqual(own.returncode, 0, own.stderr)
        table = json.loads(own.stdout)["table1"]
        self.assertEqual(table["reading"]["target_a"], [6, 8])
        self.assertNotEqual(table["rows"], json.loads(self.call(*call, "-o", self.path("same")).stdout)["table1"]["rows"])

    def test_wrong_calls(self):
        self.assertEqual(self.call("reproduce", "table9", "-o", "x").returncode, 2)
        out = self.call("reproduce", "table1", "-o", self.path("lab"))
        self.assertEqual(out.returncode, 2)
        self.assertIn("--data", out.stderr)
        out = self.call(
            "reproduce", "table1", "-o", self.path("lab"), "--data", self.path("none")
        )
        self.assertEqual(out.returncode, 1)
        self.assertIn("seeds_dataset.txt", out.stderr)
        self.assertIn("archive.ics.uci.edu", out.stderr)
        self.assertFalse(os.path.exists(self.path("lab")), "an empty folder is left behind")
        for wrong in (["--draws", "1"], ["--crossing", "1.5"], ["--ratio-lambda", "x"]):
            out = self.call(
                "reproduce", "figure1", "-o", self.path("lab"), *wrong
            )
            self.assertEqual(out.returncode, 2, wrong)

    def test_output_that_is_no_folder(self):
        self.write("file", "")
        out = self.call("reproduce", "figure1", "-o", self.path("file"), "--draws", "2")
        self.assertEqual(out.returncode, 1)
        self.assertIn("cannot create this folder", out.stderr)


class Datasets(ProgramTest):
    def test_lists_addresses(self):
        out = self.call("datasets")
        self.assertEqual(out.returncode, 0)
        for word in ("seeds", "vertebral", "vehicle", "spam", "documents", "https://"):
            self.assertIn(word, out.stdout)

    def test_says_what_is_missing(self):
        out = self.call("datasets", "--data", self.folder, "--json")
        self.assertEqual(out.returncode, 1)
        states = [f["state"] for s in json.loads(out.stdout).values() for f in s["files"]]
        self.assertEqual(set(states), {"missing"})
        self.assertIn("missing or different", out.stderr)

    @unittest.skipUnless(os.path.isdir(DATA), "there is no shared/data beside the checkout")
    def test_checks_what_is_there(self):
        out = self.call("datasets", "--data", DATA, "--json")
        self.assertEqual(out.returncode, 0, out.stderr)


if __name__ == "__main__":
    unittest.main()
