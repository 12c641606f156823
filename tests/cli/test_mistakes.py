"""What the program says of mistakes in calls and tables that people make, word for word."""

import json
import os
import subprocess
import unittest
import zipfile

from program import PROGRAM, MessageTest


class Mistakes(MessageTest):
    # --- lists of columns ---

    def test_remedies_can_be_pasted(self):
        rows = [[i, 3, f"{i % 12 + 1:02}/{i % 9 + 1:02}/2020", i * 7 % 11, "uv"[i % 2]] for i in range(30)]
        train = self.write_rows("u.csv", ["Unnamed: 0", "my, \"id\"", "d", "b", "y"], rows)
        said = self.fit(train, "--dates", "d")
        self.assertIn("column 'Unnamed: 0' numbers the rows; leave it out (--drop 'Unnamed: 0')\n", said)
        self.assertIn("leave it out (--drop '\"my, \"\"id\"\"\"') unless new data have other values\n", said)
        for given in ('Unnamed: 0,"my, ""id"""', '"my, ""id""","Unnamed: 0"'):
            self.assertNotIn("--drop", self.fit(train, "--dates", "d", "--drop", given))
        self.says(1, "covshift: u.csv: there is no column '\"my'; its columns are Unnamed: 0, my, \"id\", d, b, y\n",
                  "fit", train, "--label", "y", "--method", "lr", "--drop", '"my, id', "-o", self.model)

    def test_columns_copied_beside_predictions(self):
        rows = [[f"r{i}", i, i, i * 7 % 11, ["no", "yes"][i % 2]] for i in range(30)]
        train = self.write_rows("k.csv", ["id", "predicted", "p:no", "a", "y"], rows)
        for name in ("predicted", "p:no"):
            self.fit(train, "--keep", name)
            self.says(1, f"covshift: the column '{name}' cannot be copied beside the predictions (--keep): they have "
                      "one of that name; rename it\n", "predict", self.model, train)
        self.fit(train, "--keep", "id", "--drop", "predicted,p:no")
        done = self.run_ok("predict", self.model, self.write("n.csv", "a\n1\n"))
        self.assertEqual(done.stderr.replace(self.folder + "/", ""), "covshift: warning: n.csv: there is no column 'id', "
                         "which the model copies beside the predictions; it is left out\n")

    # --- what was assumed ---

    def test_dates_that_may_be_of_two_kinds(self):
        def said(day):
            rows = [[f"{i % 12 + 1:02}/{day:02}/2020", i, "uv"[i % 2]] for i in range(9)]
            return self.fit(self.write_rows("d.csv", ["d", "a", "y"], rows), "--dates", "d")
        self.assertEqual(said(13), "")
        self.assertEqual(said(2), "covshift: warning: d.csv: the dates of column 'd', such as '01/02/2020', may have the "
                         "day or the month first, and no row tells which; the day is taken to be first; write them as "
                         "2020-01-31 if it is not\n")

    def test_a_column_that_a_wrong_header_hides(self):
        words = self.write("w.csv", "".join(f"red{i},w{i % 5},{'uv'[i % 2]}\n" for i in range(30)))
        call = ("--method", "lr", "--lambda", "0.01", "-q", "-o", self.model)
        self.says(1, "covshift: w.csv: there is no column 'c3'; its columns are red0, w0, u; if the first line holds data, "
                  "not names, say --header no\n", "fit", words, "--label", "c3", *call)
        numbers = self.write("n.csv", "".join(f"{i * 1.5},{i % 5},{i % 2}\n" for i in range(30)))
        self.says(1, "covshift: n.csv: there is no column 'label'; its columns are c1, c2, c3; if the first line holds their "
                  "names, say --header yes\n", "fit", numbers, "--label", "label", *call)
        self.run_ok("fit", numbers, "--label", "c3", *call)
        self.says(1, "covshift: h.csv: the columns of the training file have no names, those of this file have (x, ...); "
                  "remove its first line, or call its columns c1, c2, ...\n",
                  "predict", self.model, self.write("h.csv", "x,y\n1.5,2\n3,4\n"))

    def test_formats_that_the_name_of_a_file_hides(self):
        call = ("--label", "y", "--method", "lr", "-o", self.model)
        for text in ("+1 1:0.7 3:1\n-1 2:1 # why\n", "1 3:1\n0 4:1\n", "# made by x\n1 30:10 40:20\n"):
            self.says(1, "covshift: d.txt: this looks like svmlight, which is read from files that are called .svm, "
                      ".svmlight or .libsvm; rename it\n", "fit", self.write("d.txt", text), *call)
        times = self.write("d.txt", "".join(f"{i % 2} 12:{i + 10}\n" for i in range(20)))
        self.fit(times, label="c1")
        with zipfile.ZipFile(self.path("a.npz"), "w") as archive:
            archive.writestr("x.npy", b"\x93NUMPY")
        self.says(1, "covshift: a.npz: this is NPZ, an archive of arrays, which the program does not read; save one of them "
                  "as NPY, for example with Python: numpy.save('data.npy', numpy.load('a.npz')['NAME'])\n",
                  "fit", self.path("a.npz"), *call)

    def test_more_than_one_array_in_a_file(self):
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }\n".encode()
        with open(self.path("a.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(range(8)) + b"\x93NUMPY")
        for more in ([], ["--memory", "1G"]):
            self.says(1, "covshift: a.npy: more follows the array; save one array in a file, with numpy.save\n", "fit",
                      self.path("a.npy"), "--label", "c2", "--method", "lr", "-q", "-o", self.model, *more)

    def test_more_folds_than_rows(self):
        train = self.write("f.csv", "a,y\n1,u\n2,v\n")
        self.says(1, "covshift: cross validation with 5 folds needs 2 folds or more and a row for each, but there are 2 rows; "
                  "use another number of folds (--folds), or fix --lambda\n",
                  "fit", train, "--label", "y", "--method", "lr", "-o", self.model)

    def test_sample_ignores_identifiers(self):
        train = self.write_rows("i.csv", ["id", *self.header], [[f"r{i}", *row] for i, row in enumerate(self.rows)])
        outputs = ("--train-output", self.path("st.csv"), "--target-output", self.path("sn.csv"))
        for seed in range(5):
            done = self.run_ok("sample", train, "--label", "y", *outputs, "--seed", seed, "-q")
            self.assertEqual(done.stderr.replace(self.folder + "/", ""),
                             "covshift: warning: i.csv: column 'id' holds identifiers; the samples do not depend on it\n")
        few = self.write("f.csv", "a,y\n1,u\n2,v\n2,u\n2,v\n")
        self.says(1, "covshift: the split leaves 1 of 4 rows for the training sample, too few to draw from; split by "
                  "another column (--feature)\n", "sample", few, "--label", "y", *outputs)

    def test_tables_as_other_programs_write_them(self):
        rows = "".join(f'"{i}",{i * 7 % 11},"{"uv"[i % 2]}"\n' for i in range(1, 20))
        self.says(1, "covshift: r.txt:1: the header has 2 names, the rows below have 3 fields; if the first field names the "
                  "row, as R writes it, put a name for it before the others\n",
                  "fit", self.write("r.txt", '"a","y"\n' + rows), "--label", "y", "-o", self.model)
        text = "a;b;y\r\n" + "".join(f"{i},5;{i * 7 % 11};{'uv'[i % 2]}\r\n" for i in range(20))
        self.fit(self.write("e.csv", "sep=;\r\n" + text), "--numeric", "a")
        with open(self.model, encoding="utf-8") as file:
            columns = json.load(file)["body"]["encoder"]["columns"]
        self.assertEqual([column["name"] for column in columns], ["a", "b"])
        for part_of_numbers in "2e.-":
            self.says(1, "covshift: s.csv:1: the delimiter that sep= names may be a part of fields; write the file with another, "
                      "such as sep=;\n", "fit", self.write("s.csv", f"sep={part_of_numbers}\n" + text), "--label", "y", "-o", self.model)
        self.says(1, "covshift: h.csv:2: there are no rows of data after the header; add rows, or say --header no if the first "
                  "line is data\n", "fit", self.write("h.csv", "a,y\n"), "--label", "y", "-o", self.model)

    def test_views_are_suggested(self):
        views = self.write("v.txt", "one = x11\n")
        self.says(1, "covshift: v.txt:1: there is no feature 'x11' in the training file; correct the name or remove it; did "
                  "you mean 'x1'?\n", "fit", self.train, "--label", "y", "--method", "lr", "--views", views, "-o", self.model)

    # --- options ---

    def test_costs_need_a_file(self):
        self.refuses("--loss must be log, zero-one, absolute, squared, abstain:A, hinge or cost:FILE, not 'cost:'; did you "
                     "mean 'cost:FILE'?", "fit", self.train, "--label", "y", "--loss", "cost:", "-o", self.model)

    def test_probabilities_of_promises_are_not_too_near_0_or_1(self):
        more = "must be a number from 1e-09 to 0.999999999, not "
        for value in ("1e-17", "0", "1"):
            self.refuses(f"--delta {more}'{value}'", "fit", self.train, "--label", "y", "--delta", value, "-o",
                         self.model)
        for value in ("0.9999999999999999", "1"):
            self.refuses(f"--level {more}'{value}'", "estimate", self.model, self.train, "--target", self.train,
                         "--level", value)
        self.run_ok("fit", self.train, "--target", self.train, "--label", "y", "--method", "robust", "--lambda", "0.01",
                    "--delta", "1e-9", "-q", "-o", self.model)
        for value in ("1e-9", "0.999999999"):
            self.run_ok("estimate", self.model, self.train, "--target", self.train, "--level", value)

    def test_help(self):
        overview = self.run_ok("--help").stdout
        self.assertEqual(self.run_ok("help").stdout, overview)
        self.assertEqual(self.run_ok("help", "fit").stdout, self.run_ok("fit", "--help").stdout)
        self.assertNotEqual(self.run_ok("help", "fit").stdout, overview)
        for words in (["help", "fti"], ["fti", "--help"], ["fti", "a.csv", "-h"]):
            self.refuses("there is no command 'fti'; did you mean 'fit'?", *words)
        self.refuses("there is no command 'train'; did you mean 'fit'?", "train", "--help")
        self.refuses("there is no command 'frobnicate'", "frobnicate", "--help")

    def test_values_that_end_in_a_name_or_number(self):
        fit = ("fit", self.train, "--target", self.train, "--label", "y", "-o", self.model)
        losses = "log, zero-one, absolute, squared, abstain:A, hinge or cost:FILE"
        ratios = "logistic, quadratic, gaussian, ulsif, rulsif, kliep, kmm, auto, none or column:NAME"
        trusts = "train, test, views[:D], overlap[:D], temper:G, none, temper:auto or column:NAME"
        for flag, value, text in (
            ("--loss", "zero_one", f"--loss must be {losses}, not 'zero_one'; did you mean 'zero-one'?"),
            ("--loss", "cost", f"--loss must be {losses}, not 'cost'; did you mean 'cost:FILE'?"),
            ("--loss", "abstian:0.2", f"--loss must be {losses}, not 'abstian:0.2'; did you mean 'abstain:A'?"),
            ("--ratio", "logistik", f"--ratio must be {ratios}, not 'logistik'; did you mean 'logistic'?"),
            ("--ratio", "colum:w", f"--ratio must be {ratios}, not 'colum:w'; did you mean 'column:NAME'?"),
            ("--generalize", "vews", f"--generalize must be {trusts}, not 'vews'; did you mean 'views'?"),
            ("--generalize", "tempr:0.5",
             f"--generalize must be {trusts}, not 'tempr:0.5'; did you mean 'temper:G'?"),
        ):
            with self.subTest(value):
                self.refuses(text, *fit, flag, value)

    def test_an_option_is_named_once(self):
        fit = ("fit", self.train, "--target", self.train, "--label", "y", "-o", self.model)
        maps = "linear, quadratic, splines, fourier, nystroem or auto"
        for flag, value, text in (
            ("--lambda", "-1", "--lambda must be a positive number, auto, cv or iwcv, not '-1'"),
            ("--ratio-lambda", "0", "--ratio-lambda must be a positive number, paper, cv or stable, not '0'"),
            ("--generalize", "temper:0,5", "--generalize: the assumption 'temper:0,5' needs a number in [0, 1], as in temper:0.5"),
            ("--generalize", "views:x", "--generalize: the assumption 'views:x' needs a positive number or inf, as in views:2"),
            ("--loss", "abstain:x", "--loss: the loss 'abstain:x' needs a number, as in abstain:0.3"),
            ("--features", "nystrom", f"--features: the map must be {maps}, not 'nystrom'; did you mean 'nystroem'?"),
        ):
            with self.subTest(value):
                self.refuses(text, *fit, flag, value)

    def test_intervals_of_samples(self):
        sample = ("sample", self.train, "--label", "y", "--train-output", self.path("a.csv"), "--target-output",
                  self.path("b.csv"))
        for flag in ("--a", "--b", "--target-a", "--target-b"):
            self.refuses(f"{flag} must be in order, low and high, not 4 and 2", *sample, flag, "4", "2")
            self.refuses(f"{flag} must be a number > 0, not '0'", *sample, flag, "0", "2")
        self.run_ok(*sample, "--a", "2", "2", "--target-b", "0.5", "1")

    def test_options_without_effect(self):
        both = ("fit", self.train, "--target", self.train, "--label", "y", "--lambda", "0.1", "-q", "-o", self.model)
        alone = ("fit", self.train, "--label", "y", "--method", "lr", "-q", "-o", self.model)
        views = ("--generalized-views", "auto", "--view-threshold", "0.2", "--caution", "1")
        shift = ["--caution", "--generalized-views", "--ratio", "--ratio-lambda", "--view-threshold"]
        for why, ignored, call in (
            ("with --ratio gaussian", shift[3:4], [*both, "--method", "robust", "--ratio", "gaussian", "--ratio-lambda", "3"]),
            ("with --lambda 0.1", ["--lambdas"], [*both, "--method", "robust", "--lambdas", "1,2"]),
            ("with --method lr", [*shift[:2], shift[4]], [*both, "--method", "lr", *views]),
            ("with --generalize none", shift[2:3], [*both, "--generalize", "none", "--ratio", "gaussian"]),
            ("without --target", [*shift[:2], shift[4]], [*alone, *views]),
            ("", [], [*both, "--method", "robust", "--ratio", "quadratic", "--ratio-lambda", "3", *views]),
            ("", [], [*both[:6], "--method", "lr", "--lambda", "iwcv", "--ratio-lambda", "1", "-q", "-o", self.model]),
        ):
            with self.subTest(why, ignored=ignored):
                self.assertEqual(self.run_ok(*call).stderr,
                                 "".join(f"covshift: warning: {flag} has no effect {why}\n" for flag in ignored))

    def test_misspelt_classes(self):
        self.says(1, "covshift: t.csv: --classes names 'birc', but column 'y' has the classes ash, birch, cedar; did you mean "
                  "'birch'?\n", "fit", self.train, "--label", "y", "--classes", "ash,birc,cedar", "-o", self.model)

    # --- files ---

    def test_models_that_are_not_there(self):
        for call in (("predict", "{}", self.train), ("evaluate", "{}", self.train), ("export", "{}", "-o", self.path("x.onnx"))):
            def named(name):
                return [word.replace("{}", name) for word in call]
            self.refuses("MODEL: a model cannot come from standard input; name its file", *named("-"))
            self.says(1, "covshift: m.jsn: there is no such file; check the path\n", *named(self.path("m.jsn")))
            result = self.assert_fails(1, *named(self.folder))
            self.assertEqual(result.stderr, f"covshift: {self.folder}: this is a directory; name a file in it\n")

    def test_links_that_lead_nowhere(self):
        os.symlink("loop", self.path("loop"))
        self.fit(self.train)
        text = "covshift: loop: this is a link that leads back to itself; name a file\n"
        self.says(1, text, "predict", self.model, self.path("loop"))
        self.says(1, text, "predict", self.path("loop"), self.train)
        self.says(1, text, "predict", self.model, self.path("loop"), "-o", self.path("p.csv"))

    def test_ratios_that_are_too_large(self):
        header = [*self.header, "w"]
        train = self.write_rows("w.csv", header, [[*row, "1e300" if i == 4 else "1"] for i, row in enumerate(self.rows)])
        self.says(1, "covshift: w.csv:6:5: the density ratio is 1e+300, which is too large; divide or cap the column 'w'\n",
                  "fit", train, "--target", train, "--label", "y", "--method", "iw", "--ratio", "column:w", "-o", self.model)

    def test_a_full_disk_is_one_line(self):
        self.fit(self.train)
        result = subprocess.run(["sh", "-c", f"{PROGRAM} predict {self.model} {self.train} > /dev/full"], check=False,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "covshift: cannot write to standard output: No space left on device\n"))

    def test_marks_that_turn_the_direction_of_writing(self):
        turned = "\u202egnp\u2066.exe"
        rows = [[*row[:3], row[3] + turned] for row in self.rows]
        train = self.write_rows("b.csv", ["x1", "x2" + turned, "x3", "y"], rows)
        self.fit(train)
        for more in ((), ("--json",)):
            out = self.run_ok("evaluate", self.model, train, *more).stdout
            self.assertIn("ash\\u202egnp\\u2066.exe", out)
            self.assertNotRegex(out, "[\u202a-\u202e\u2066-\u2069]")
        self.assertEqual(json.loads(out)["classes"][0], "ash" + turned)
        self.says(1, "covshift: b.csv: there is no column 'z'; its columns are x1, x2\\u202egnp\\u2066.exe, x3, y\n", "fit",
                  train, "--label", "z", "-o", self.model)

    # --- headers and encodings ---

    def test_years_as_names(self):
        rows = [[str(round(3 * float(x))) for x in row[:3]] + [str(int(row[3] == "ash"))] for row in self.rows]
        years = self.write_rows("y.csv", ["2018", "2019", "2020", "2021"], rows)
        note = ("covshift: warning: y.csv:1: the first line is taken as the names of the columns, because its numbers "
                "lie beyond those below them; if that is wrong, say --header no\n")
        result = self.run_ok("diagnose", years, years, "--json")
        self.assertEqual(result.stderr.replace(self.folder + "/", ""), note)  # the second has these names
        self.assertEqual(json.loads(result.stdout)["train"], len(rows))
        counted = self.write_rows("n.csv", ["1", "2", "3", "4"], rows)
        self.assertEqual(
            self.fit(counted, label="4"),
            "covshift: warning: n.csv:1: the first line is taken as the names of the columns, because its numbers count "
            "the columns: 1, 2, 3, ...; if that is wrong, say --header no\n")
        # Without names, and asked for by its place.
        self.assertEqual(self.fit(self.write_rows("d.csv", rows[0], rows[1:]), label="c4"), "")

    def test_infinity_as_a_name(self):
        rows = [[*row[:3], str(len(row[3]))] for row in self.rows]
        train = self.write_rows("i.csv", ["inf", "nan", "2020", "2021"], rows)
        result = self.run_ok("diagnose", train, train, "-q")
        self.assertIn("i.csv:1: the first line is taken as the names of the columns", result.stderr)

    def test_columns_that_are_really_called_c1(self):
        self.fit(self.write_rows("c.csv", ["c1", "c2", "c3", "y"], self.rows))
        rows = [row[:3] for row in self.rows[:9]]
        for names, missing, more in ((["C1", "C2", "C3"], "c1", "; did you mean 'C1'?"),
                                     (["c1", "c2", "zz"], "c3", "; did you mean 'c1'?")):
            self.says(1, f"covshift: n.csv: the column '{missing}' of the training file is missing; add it, or leave it "
                      f"out of training (--drop {missing}){more}\n", "predict", self.model,
                      self.write_rows("n.csv", names, rows))
        self.run_ok("predict", self.model, self.write_rows("n.csv", rows[0], rows[1:]))

    def test_a_target_without_a_header(self):
        self.fit(self.train)
        new = self.write_rows("n.csv", self.rows[0][:3], [row[:3] for row in self.rows[1:]])
        text = ("covshift: n.csv: this file has no header, but the columns of the training file have names; put the line "
                "x1,x2,x3 at its top, in the order of its columns")
        self.says(1, text + "; if its first line names them already, say --header yes\n", "predict", self.model, new)
        self.says(1, text + "\n", "predict", self.model, new, "--header", "no")

    def test_utf_16_without_a_mark(self):
        text = "\n".join(",".join(row) for row in [self.header, *self.rows]) + "\n"
        for encoding, byte in (("utf-16-le", 2), ("utf-16-be", 1)):
            with open(self.path("u.csv"), "wb") as file:
                file.write(text.encode(encoding))
            self.says(1, f"covshift: u.csv:1: byte {byte} of this line is 0, which no text holds; if this is UTF-16, say "
                      "--encoding utf-16, else remove it\n", "fit", self.path("u.csv"), "--label", "y", "-o", self.model)
            self.fit(self.path("u.csv"), "--encoding", "utf-16")

    def test_bytes_that_are_not_utf_16(self):
        more = ("; name the file's own encoding (--encoding latin1 or windows-1252), or none if it is UTF-8\n")
        for text, why in ((b"a,b\n1,x\n2,y\n", "no line would end in it"),
                          (b"a,b\n1,x\n2,yy\n", "it has an odd number of bytes"),
                          (b"a\0\n\0\0\xdcb\0", "byte 5 begins half a character")):
            with open(self.path("u.csv"), "wb") as file:
                file.write(text)
            self.says(1, f"covshift: u.csv: this is not UTF-16, because {why}{more}", "diagnose", self.path("u.csv"),
                      self.train, "--encoding", "utf-16")

    # --- columns ---

    def test_constants_that_the_target_varies(self):
        header = ["site", "v", "unit", *self.header]
        train = self.write_rows("c.csv", header, [["A", 0, "mm", *row] for row in self.rows])
        rows = [["B" if i % 2 else "A", i % 4 // 3, "mm", *row] for i, row in enumerate(self.target_rows)]
        new = self.write_rows("n.csv", header, rows)
        unseen = ("covshift: warning: n.csv:3: column 'site' has the category 'B', which training never saw (75 of 150 "
                  "rows, 50%, have such categories); it is treated as belonging to no known category\n")
        useless = ("covshift: warning: c.csv: one column has the same value in every row, also of the target ('unit') and "
                   "cannot help; leave it out (--drop unit)\n")
        varying = ("covshift: warning: n.csv: 2 columns have one value in training and others in 75 of 150 rows here "
                   "('site', 'v'): nothing can be learnt about them, and these rows are unlike the training rows\n")
        said = self.fit(train, "--target", new)
        self.assertEqual(said, useless + varying + unseen)
        result = self.run_ok("diagnose", train, new, "--label", "y", "-q")
        self.assertEqual(result.stderr.replace(self.folder + "/", ""), useless + varying + unseen)
        self.assertEqual(
            self.fit(train),
            "covshift: warning: c.csv: 3 columns have the same value in every row ('site', 'v', 'unit'): nothing can be "
            "learnt about them; leave them out (--drop site,v,unit) unless new data have other values\n")

    def test_columns_named_twice(self):
        for command, more in (("fit", ("-o", self.model)), ("diagnose", (self.train,)), ("compare", (self.train,))):
            call = (command, self.train, *more, "--label", "y")
            for flag in ("--drop", "--numeric", "--dates"):
                self.refuses(f"{flag}: 'y' is the column of the class (--label), not an input", *call, flag, "x1,y")
            for one, two in (("--numeric", "--categorical"), ("--numeric", "--dates"), ("--categorical", "--dates")):
                self.refuses(f"{two}: {one} names the column 'x2' as well; it can only be one of both", *call, one,
                             "x1,x2", two, "x2")
        # To keep a column is to leave it out, and the label may stand beside predictions.
        self.assertEqual(self.fit(self.train, "--drop", "x1", "--keep", "x1,y"), "")
        self.assertTrue(self.run_ok("predict", self.model, self.train).stdout.startswith("x1,y,predicted,"))

    def test_missing_numbers_in_quotes(self):
        rows = [[("NA", "?", "", row[0])[min(i % 9, 3)], *row[1:]] for i, row in enumerate(self.rows)]
        text = "\n".join(",".join(f'"{x}"' for x in row) for row in [self.header, *rows]) + "\n"
        report = self.run_json("fit", self.write("q.csv", text), "--label", "y", "--method", "lr", "--lambda", "0.01", "-o",
                               self.model)
        self.assertEqual(report["missing"]["columns"], {"x1": sum(not row[0][-1:].isdigit() for row in rows)})

    def test_dates_written_in_two_ways(self):
        dates = [f"2021-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(len(self.rows))]
        dates[7] = "31.01.2020"
        train = self.write_rows("d.csv", ["seen", *self.header], [[d, *row] for d, row in zip(dates, self.rows)])
        self.says(1, "covshift: d.csv:9:1: column 'seen' should hold dates, but '31.01.2020' is not one, or their days and "
                  "months are mixed; write them as 2020-01-31, 31.01.2020 or 01/31/2020, all in one way\n", "fit", train,
                  "--label", "y", "--method", "lr", "--dates", "seen", "-o", self.model)

    # --- outputs ---

    def test_two_names_of_one_output(self):
        os.symlink("one.csv", self.path("link.csv"))  # which dangles
        os.mkdir(self.path("folder"))
        os.symlink("folder", self.path("other"))
        for one, two in (("one.csv", "./one.csv"), ("one.csv", "link.csv"), ("link.csv", "one.csv"),
                         ("folder/one.csv", "other/one.csv"), ("folder/../one.csv", "one.csv")):
            with self.subTest(one=one, two=two):
                result = subprocess.run(
                    [os.path.abspath(PROGRAM), "sample", "t.csv", "--label", "y", "--train-output", one,
                     "--target-output", two], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stderr, f"covshift: --target-output: {two} would overwrite {one}, which this command uses; "
                                 "choose another name\nRun with --help for more information.\n")
                self.assertFalse(os.path.exists(self.path("one.csv")))

    def test_outputs_are_checked_before_the_work(self):
        self.fit(self.train)
        nowhere, missing = self.path("nowhere/x"), self.path("missing.csv")  # which would be found out while reading
        calls = (
            ["fit", missing, "--label", "y", "--method", "lr", "-o"],
            ["predict", self.model, missing, "-o"],
            ["export", missing, "-o"],
            ["sample", missing, "--label", "y", "--target-output", self.path("b.csv"), "--train-output"],
            ["sample", missing, "--label", "y", "--train-output", self.path("b.csv"), "--target-output"],
            ["diagnose", missing, missing, "--report"],
        )
        for call in calls:
            self.says(1, "covshift: nowhere/x: there is no folder nowhere; make it first\n", *call, nowhere)
            result = self.assert_fails(1, *call, self.folder)
            self.assertEqual(result.stderr, f"covshift: cannot write {self.folder}: it is a directory; nothing was written\n")
            if call[-1] != "--report":
                flag = "--output" if call[-1] == "-o" else call[-1]
                self.refuses(f"{flag} must be the name of a file", *call, "")
        self.assertEqual(sorted(os.listdir(self.folder)), ["model.json", "t.csv"])

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_that_is_not_writable(self):
        os.mkdir(self.path("shut"), 0o500)
        self.says(1, "covshift: shut/x: nothing can be written to the folder shut: Permission denied\n", "fit",
                  self.path("missing.csv"), "--label", "y", "-o", self.path("shut/x"))


if __name__ == "__main__":
    unittest.main()
