"""Tables as people have them, each with its exact message."""

import csv
import io
import json
import os
import signal
import subprocess
import time
import unittest

from program import PROGRAM, MessageTest


class Tables(MessageTest):
    def classes(self):
        with open(self.model, encoding="utf-8") as file:
            return json.load(file)["body"]["classes"]

    def columns(self):
        with open(self.model, encoding="utf-8") as file:
            return [c["name"] for c in json.load(file)["body"]["encoder"]["columns"]]

    def table(self, name, header, extra):
        """The rows with more columns: extra(i) gives the additional fields of row i."""
        rows = [[*extra(i), *row] for i, row in enumerate(self.rows)]
        return self.write_rows(name, [*header, *self.header], rows)

    # --- headers ---

    def test_names_that_are_numbers(self):
        for names in (["0", "1", "2"], ["2020", "x", "inf"], ["nan", "NA", "?"]):
            train = self.write_rows("t.csv", [*names, "label"], self.rows)
            self.assertEqual(self.fit(train, label="label"), "")
            self.assertEqual(self.columns(), names)
            self.assertEqual(self.classes(), ["ash", "birch", "cedar"])
            # A file without the label has numbers alone in its first line.
            new = self.write_rows("n.csv", names, [row[:3] for row in self.rows[:4]])
            self.assertEqual(len(self.run_ok("predict", self.model, new).stdout.splitlines()), 5)

    def test_what_was_assumed_is_said(self):
        train = self.write_rows("t.csv", ["0", "1", "x", "4"], [
            [*row[:3], str(len(row[3]))] for row in self.rows])
        self.assertEqual(
            self.fit(train, label="4"),
            "covshift: warning: t.csv:1: the first line is taken as the names of the columns, because "
            "its field 3, 'x', is text above numbers; if that is wrong, say --header no\n",
        )
        counted = self.write_rows("u.csv", ["0", "1", "2", "3"], [
            [*row[:3], str(len(row[3]))] for row in self.rows])
        self.assertEqual(
            self.fit(counted, label="3"),
            "covshift: warning: u.csv:1: the first line is taken as the names of the columns, because "
            "its numbers count the columns: 0, 1, 2, ...; if that is wrong, say --header no\n",
        )
        self.assertEqual(self.columns(), ["0", "1", "2"])
        words = self.write_rows("w.csv", ["a", "b"], [["a", "b"], ["c", "d"]] * 10)
        self.assertEqual(
            self.fit(words, label="c2"),
            "covshift: warning: w.csv:1: the first line is taken as data (columns c1, c2, ...), because "
            "each of its values occurs again below; if that is wrong, say --header yes\n",
        )

    def test_header_yes_and_no(self):
        train = self.write_rows("t.csv", self.rows[0], self.rows[1:])
        self.fit(train, "--header", "no", label="c4")
        self.assertEqual(self.columns(), ["c1", "c2", "c3"])
        self.fit(train, "--header", "yes", label=self.rows[0][3])
        self.assertEqual(self.columns(), self.rows[0][:3])

    # --- columns ---

    def test_identifiers_are_pointed_out_dropped_and_kept(self):
        train = self.table("t.csv", ["id"], lambda i: [f"p{i:04}"])
        self.assertEqual(
            self.fit(train),
            "covshift: warning: t.csv: column 'id' has 120 categories in 120 rows, as identifiers do; "
            "leave it out (--drop id), or copy it beside the predictions (--keep id); density ratios ignore it\n",
        )
        self.assertEqual(self.fit(train, "--drop", "id"), "")
        self.assertEqual(self.columns(), ["x1", "x2", "x3"])
        self.assertEqual(self.fit(train, "--keep", "id"), "")
        out = self.run_ok("predict", self.model, train).stdout
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([r["id"] for r in rows], [f"p{i:04}" for i in range(120)])
        out = self.run_ok("predict", self.model, train, "--keep", "x2,id").stdout
        self.assertTrue(out.startswith("x2,id,predicted,"), out[:40])
        self.assertIn(f"\n{self.rows[0][1]},p0000,", out)
        self.assert_fails(
            1, "predict", self.model, train, "--keep", "di",
            says=["there is no column 'di'", "did you mean 'id'?"],
        )

    def test_row_numbers_and_constant_columns(self):
        train = self.table("t.csv", ["", "unit", "site"], lambda i: [i, "mm", 7])
        self.assertEqual(
            self.fit(train),
            "covshift: warning: t.csv: column 'c1' numbers the rows; leave it out (--drop c1)\n"
            "covshift: warning: t.csv: 2 columns have the same value in every row ('unit', 'site'): nothing can be "
            "learnt about them; leave them out (--drop unit,site) unless new data have other values\n",
        )

    def test_dates(self):
        train = self.table("t.csv", ["seen"], lambda i: [f"2021-{1 + i % 12:02}-{1 + i % 28:02}"])
        self.assertEqual(
            self.fit(train),
            "covshift: warning: t.csv: column 'seen' holds dates such as '2021-01-01', each taken as a "
            "category; expand them to numbers (--dates seen) or leave the column out (--drop seen); density ratios ignore it\n",
        )
        self.assertEqual(self.fit(train, "--dates", "seen"), "")
        new = self.write_rows("n.csv", ["seen", *self.header[:3]], [["2025-07-01 10:30", 0, 0, 0]])
        self.assertEqual(len(self.run_ok("predict", self.model, new).stdout.splitlines()), 2)
        bad = self.write_rows("b.csv", ["seen", *self.header[:3]], [["soon", 0, 0, 0]])
        self.assert_fails(1, "predict", self.model, bad, says=["b.csv:2:1: 'soon' is not a date"])

    def test_numbers_with_commas(self):
        decimal = self.table("t.csv", ["price"], lambda i: [f"{i},{i % 10}5"])
        self.assertEqual(
            self.fit(decimal),
            "covshift: warning: t.csv: column 'price' holds numbers with decimal commas such as '0,05', "
            "each taken as a category; read them as numbers (--numeric price)\n",
        )
        self.assertEqual(self.fit(decimal, "--numeric", "price"), "")
        new = self.write_rows("n.csv", ["price", *self.header[:3]], [["3,5", 0, 0, 0], ["4.0,1", 0, 0, 0]])
        self.assert_fails(1, "predict", self.model, new, says=["n.csv:3:1: '4.0,1' is not a number"])
        thousands = self.table("u.csv", ["price"], lambda i: [f"{i + 1},{i:03}"])
        self.assertIn("numbers with commas between thousands such as '1,000'", self.fit(thousands))

    def test_categories_that_look_like_numbers(self):
        train = self.table("t.csv", ["zip"], lambda i: [f"0{i % 3}"])
        self.fit(train, "--categorical", "zip")
        with open(self.model, encoding="utf-8") as file:
            columns = json.load(file)["body"]["encoder"]["columns"]
        self.assertEqual(columns[0]["levels"], ["00", "01", "02"])

    def test_a_label_that_is_a_quantity(self):
        rows = [[*row[:3], i * 1.5] for i, row in enumerate(self.rows[:40])]
        train = self.write_rows("t.csv", self.header, rows)
        self.assertIn(
            "covshift: warning: t.csv: the label 'y' has 40 different numbers: that is a quantity",
            self.fit(train),
        )

    def test_misspelt_columns_and_classes(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        for flags, says in (
            (["--label", "yy"], "there is no column 'yy'; its columns are x1, x2, x3, y; did you mean 'y'?"),
            (["--label", "y", "--drop", "x33"], "did you mean 'x3'?"),
            (["--label", "y", "--classes", "ahs,birch,cedar"], "did you mean 'ash'?"),
        ):
            self.assert_fails(1, "fit", train, "--method", "lr", "-o", self.model, *flags, says=[says])
        self.assert_fails(2, "fti", says=["did you mean 'fit'?"])
        self.assert_fails(
            2, "fit", train, "-o", self.model, "--labell", "y", says=["did you mean '--label'?"])

    def test_encodings(self):
        rows = [[("café", "thé")[i % 2], *row] for i, row in enumerate(self.rows)]
        text = "\n".join(",".join(r) for r in [["drink", *self.header], *rows]) + "\n"
        for encoding, name in (("latin-1", "latin1"), ("cp1252", "windows-1252"), ("utf-16", "auto")):
            with open(self.path("t.csv"), "wb") as file:
                file.write(text.encode(encoding))
            if encoding != "utf-16":
                result = self.assert_fails(
                    1, "fit", self.path("t.csv"), "--label", "y", "--method", "lr", "-o", self.model
                )
                self.assertEqual(
                    result.stderr.replace(self.folder + "/", ""),
                    "covshift: t.csv:2:1: byte 4 of the value 'caf\\xe9' is 0xe9, which is not UTF-8; "
                    "name the file's encoding (--encoding latin1, windows-1252 or utf-16), or save it "
                    "as UTF-8\n",
                )
            self.fit(self.path("t.csv"), "--encoding", name)
            with open(self.model, encoding="utf-8") as file:
                levels = json.load(file)["body"]["encoder"]["columns"][0]["levels"]
            self.assertEqual(levels, ["café", "thé"])

    # --- missing values ---

    def test_missing_values_are_indicated_and_reported(self):
        rows = [list(row) for row in self.rows]
        for i, word in enumerate(["", "NA", "?", "NaN"]):
            rows[3 * i][1] = word
        train = self.write_rows("t.csv", self.header, rows)
        report = self.run_json(
            "fit", train, "--label", "y", "--method", "lr", "--lambda", "0.01", "-o", self.model)
        self.assertEqual(report["missing"], {"rule": "indicator", "columns": {"x2": 4}})
        text = self.run_ok(
            "fit", train, "--label", "y", "--method", "lr", "--lambda", "0.01", "-o", self.model).stdout
        self.assertIn(
            "missing values in x2 (4): replaced by the median or most frequent value, with an "
            "indicator (a category of their own)\n", text)
        new = self.write_rows("n.csv", self.header[:3], [["1", "", "0"], ["", "1", "0"]])
        result = self.run_ok("predict", self.model, new)
        self.assertEqual(
            result.stderr.replace(self.folder + "/", ""),
            "covshift: warning: n.csv: column 'x1' has missing values (1 of 2 rows, 50%), but had none "
            "in training; the median or most frequent value of training takes their place\n",
        )
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.fit(train, "--missing", "impute")
        self.assert_fails(
            1, "fit", train, "--label", "y", "--method", "lr", "-o", self.model, "--missing", "error",
            says=["t.csv:2:2: the value of column 'x2' is missing"],
        )

    # --- formats and files ---

    def test_formats_of_others_say_what_they_are(self):
        for name, content, says in (
            ("t.parquet", b"PAR1\x15\x04", "this is Parquet, which the program does not read; convert it"),
            ("t.jsonl", b'{"x": 1, "y": "a"}\n', "this is JSON lines, which the program does not read"),
            ("t.json", b'[{"x": 1}]', "pandas.read_json("),
            ("t.xlsx", b"PK\x03\x04....", "this is Excel"),
        ):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.assert_fails(1, "fit", self.path(name), "--label", "y", "--method", "lr", "-o",
                              self.model, says=[says, ".to_csv("])

    def test_bars_separate_fields(self):
        text = "\n".join("|".join(r) for r in [self.header, *self.rows]) + "\n"
        self.assertEqual(self.fit(self.write("t.txt", text)), "")
        self.assertEqual(self.columns(), ["x1", "x2", "x3"])

    def test_standard_input_and_output(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        self.fit(train)
        with open(train, encoding="utf-8") as file:
            text = file.read()
        by_name = self.run_ok("predict", self.model, train).stdout

        def piped(*arguments):
            return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True,
                                  timeout=100, check=False)
        self.assertEqual(piped("predict", self.model, "-").stdout, by_name)
        with open(self.model, encoding="utf-8") as file:
            saved = file.read()
        for output in ("-", "/dev/stdout"):
            result = piped("fit", "-", "--label", "y", "--method", "lr", "--lambda", "0.01", "-o", output)
            self.assertEqual(result.stdout.split('"body"')[0], saved.split('"body"')[0], result.stderr)
            json.loads(result.stdout)  # and nothing else
        result = piped("compare", "-", "-", "--label", "y")
        self.assertEqual(result.returncode, 2)
        self.assertIn("standard input can be read only once", result.stderr)

    def test_no_input_is_overwritten(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        views = self.write("views.txt", "a = x1\n")
        costs = self.write("costs.csv", "0,1,1\n1,0,1\n1,1,0\n")
        for flags, output in ((["--views", views], views), (["--loss", f"cost:{costs}"], costs)):
            with open(output, encoding="utf-8") as file:
                before = file.read()
            self.assert_fails(2, "fit", train, "--label", "y", "--method", "lr", *flags, "-o", output,
                              says=["would overwrite"])
            with open(output, encoding="utf-8") as file:
                self.assertEqual(file.read(), before)

    def test_output_that_cannot_be_written_is_an_error(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        self.fit(train)
        for redirect in ("> /dev/full", ">&-"):
            for command in (f"predict {self.model} {train}", "--help", "options", ""):
                result = subprocess.run(["sh", "-c", f"{PROGRAM} {command} {redirect}"], check=False,
                                        capture_output=True, text=True, timeout=100)
                self.assertEqual(result.returncode, 1, (command, redirect, result.stderr))
                self.assertIn("cannot write to standard output", result.stderr)

    def test_links(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        os.symlink("real.json", self.path("dangling.json"))
        self.model = self.path("dangling.json")
        self.fit(train)
        self.assertTrue(os.path.islink(self.model))
        self.assertTrue(os.path.isfile(self.path("real.json")))
        os.symlink("loop.json", self.path("loop.json"))
        self.assert_fails(1, "fit", train, "--label", "y", "--method", "lr", "-o",
                          self.path("loop.json"), says=["symbolic links"])

    def test_files_of_killed_runs_are_removed(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        left = self.write(".covshift-draft-a1B2c3", "half")
        os.chmod(left, 0o600)
        self.fit(train)
        self.assertFalse(os.path.exists(left))

    def test_files_that_the_program_did_not_make_stay(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        mine = [self.write(name, "mine") for name in (
            "model.json.covshift-backup", "mine.covshift-notes", ".covshift-draft-backup", ".covshift-draft-a1B2c34",
            ".covshift-draft-linked", "other-name")]
        os.remove(mine[4])
        os.link(mine[5], mine[4])
        for path in mine[4:]:
            os.chmod(path, 0o600)
        self.fit(train)
        for path in mine:
            self.assertTrue(os.path.exists(path), path)

    def test_open_files_are_written_to(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        self.fit(train)
        predicted = self.run_ok("predict", self.model, train).stdout
        call = f"{PROGRAM} predict {self.model} {train} -q -o"
        file = self.path("f")
        os.symlink("/dev/stdout", self.path("link"))
        for output in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", self.path("link"), "/dev/fd/3"):
            self.write("f", "old\n")
            done = subprocess.run(["sh", "-c", f"exec 3>&1; {{ echo H; {call} {output}; echo T; }} >> {file} 3>&1"],
                                  check=False, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, encoding="utf-8") as written:
                self.assertEqual(written.read(), f"old\nH\n{predicted}T\n", output)
        for output, redirect, why in (("/dev/fd/7", "", "Bad file descriptor"),
                                      ("/dev/stdin", f"< {file}", "it is open for reading only"),
                                      ("/dev/stdout", ">&-", "it is open for reading only"),
                                      ("/dev/stdout", "> /dev/full", "No space left on device")):
            done = subprocess.run(["sh", "-c", f"{call} {output} {redirect}"], check=False, capture_output=True,
                                  text=True, timeout=100)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"covshift: cannot write {output}: {why}; nothing was written\n"))

    def test_interrupts_end_with_130(self):
        os.mkfifo(self.path("pipe.csv"))  # nobody writes to it, so reading waits
        for command in (["fit"], ["diagnose", self.path("pipe.csv")]):
            process = subprocess.Popen(
                [PROGRAM, *command, self.path("pipe.csv"), "--label", "y",
                 *(["--method", "lr", "-o", self.model] if command == ["fit"] else [])],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(20), 130)

    # --- evaluation, terminals and spreadsheets ---

    def test_a_model_that_abstains_has_a_coverage(self):
        train = self.write_rows("t.csv", self.header, self.rows)
        self.run_ok("fit", train, "--label", "y", "--method", "lr", "--loss", "abstain:0.05",
                    "--lambda", "10", "-q", "-o", self.model)
        result = self.run_ok("evaluate", self.model, train)
        self.assertIn(
            "120 rows: decided on 0.0% of them (coverage), abstained on all: there is no accuracy\n",
            result.stdout)
        self.assertNotIn("inf", result.stdout)
        scores = self.run_json("evaluate", self.model, train)
        self.assertEqual((scores["coverage"], scores["log_loss"]), (0, None))
        self.assertIsNone(scores["accuracy_of_decided"])
        self.assertIsNone(scores["accuracy"])

    def test_escape_sequences_are_shown_escaped(self):
        train = self.table("t.csv", ["a\x1b[31mb"], lambda i: [f"\x1b]0;p{i}\x07"])
        result = self.run_ok("diagnose", train, train, "--label", "y")
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertIn("column 'a\\x1b[31mb' has 120 categories", result.stderr)
        self.assertNotIn("\x1b", self.run_ok("diagnose", train, train, "--label", "y", "--json").stdout)

    def test_safe_csv(self):
        rows = [[*row[:3], "=cmd|' /C calc'!A0" if row[3] == "ash" else row[3]] for row in self.rows]
        train = self.write_rows("t.csv", self.header, rows)
        self.fit(train)
        plain = self.run_ok("predict", self.model, train).stdout
        self.assertIn("\n=cmd|", plain)
        safe = self.run_ok("predict", self.model, train, "--safe-csv", "--keep", "x1").stdout
        self.assertNotIn(",=cmd|", safe)
        self.assertIn(",'=cmd|", safe)
        negative = next(row[0] for row in self.rows if row[0].startswith("-"))
        self.assertIn(f"\n{negative},", safe)


if __name__ == "__main__":
    unittest.main()
