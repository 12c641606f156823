"""What the program says of ordinary mistakes, word for word, and that names cannot command a terminal."""

import bz2
import csv
import io
import json
import lzma
import os
import pickle
import shutil
import subprocess
import unittest

from program import PROGRAM, MessageTest


class Messages(MessageTest):
    def predictions(self):
        return self.run_ok("predict", self.model, self.train).stdout

    def test_several_processes_without_mpi(self):
        alone = shutil.copy(PROGRAM, self.path("covshift"))  # no covshift-mpi beside it
        started = ("OMPI_", "PMI", "MPI_", "SLURM_")  # where the tests run, perhaps
        plain = {name: value for name, value in os.environ.items() if not name.startswith(started)}
        pmix = {"PMIX_RANK": "0"}  # of srun --mpi=pmix
        for environment, said in (
            ({"PMI_SIZE": "2"}, True),
            ({"PMI_SIZE": "1"}, False),
            ({"OMPI_COMM_WORLD_SIZE": "2"}, True),
            ({**pmix, "SLURM_STEP_NUM_TASKS": "2"}, True),
            ({**pmix, "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, False),
            ({**pmix, "SLURM_NTASKS": "2"}, True),
            (pmix, False),
            ({"SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "8"}, False),  # alone in a job
        ):
            done = subprocess.run([alone, "--version"], env={**plain, **environment}, capture_output=True,
                                  text=True, timeout=60, check=True)
            self.assertEqual("built without MPI" in done.stderr, said, (environment, done.stderr))

    # --- misspelt ---

    def test_commands_and_flags(self):
        fit = ("fit", self.train, "--label", "y", "-o", self.model)
        for text, arguments in (
            ("there is no command 'fti'; did you mean 'fit'?", ["fti", "a.csv"]),
            ("there is no option '--versio'; did you mean '--version'?", ["--versio"]),
            ("there is no option '--lable'; did you mean '--label'?", ["fit", self.train, "--lable", "y"]),
            ("--method is given more than once", [*fit, "--method", "lr", "--method", "iw"]),
            ("--output is required", ["fit", self.train, "--label", "y"]),
            ("--method must be lr, iw, robust, robust-view, overlap, adv01, robust01, robust01-view, overlap01, svm, "
             "iw-svm or auto, not 'rboust'; did you mean 'robust'?", [*fit, "--method", "rboust"]),
            ("--missing must be error, impute or indicator, not 'Imput'; did you mean 'impute'?",
             [*fit, "--missing", "Imput"]),
            ("--header must be auto, yes or no, not 'maybe'", [*fit, "--header", "maybe"]),
        ):
            with self.subTest(text):
                self.refuses(text, *arguments)

    def test_columns_classes_and_views(self):
        fit = ("fit", self.train, "--method", "lr", "-o", self.model)
        for text, arguments in (
            ("t.csv: there is no column 'Y'; its columns are x1, x2, x3, y; did you mean 'y'?", ["--label", "Y"]),
            ("t.csv: there is no column 'w'; its columns are x1, x2, x3, y", ["--label", "y", "--drop", "w"]),
            ("t.csv: --classes names 'ahs', but column 'y' has the classes ash, birch, cedar; did you mean 'ash'?",
             ["--label", "y", "--classes", "ahs,birch,cedar"]),
            ("ech: there is no such file; check the path; did you mean 'each'?", ["--label", "y", "--views", "ech"]),
        ):
            with self.subTest(text):
                self.says(1, f"covshift: {text}\n", *fit, *arguments)
        self.fit(self.train)
        short = self.write_rows("s.csv", ["x1", "X2"], [row[:2] for row in self.rows])
        self.says(1, "covshift: s.csv: the column 'x2' of the training file is missing; add it, or leave it out "
                  "of training (--drop x2); did you mean 'X2'?\n", "predict", self.model, short)

    # --- tables ---

    def test_a_label_that_is_a_year(self):
        rows = [[*row[:3], str(len(row[3]))] for row in self.rows]
        train = self.write_rows("y.csv", ["2018", "2019", "2020", "2021"], rows)
        self.assertEqual(
            self.fit(train, label="2021"),
            "covshift: warning: y.csv:1: the first line is taken as the names of the columns, because it has the column "
            "'2021'; if that is wrong, say --header no\n")
        # A number that is also a value is data.
        self.says(1, "covshift: n.csv: there is no column '3'; its columns are c1, c2, c3, c4; did you mean "
                  "'c3'?\n", "fit",
                  self.write_rows("n.csv", rows[0], rows[1:]), "--label", "3", "--method", "lr", "-o", self.model)

    def test_several_columns_share_a_warning(self):
        rows = [[x.replace(".", ",") for x in row[:3]] + [f"{1000 + 7 * i:,}", row[3]] for i, row in enumerate(self.rows)]
        with open(self.path("s.csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(";".join(row) for row in [[*self.header[:3], "pay", "y"], *rows]) + "\n")
        first = rows[0][0]
        self.assertEqual(
            self.fit(self.path("s.csv")),
            f"covshift: warning: s.csv: 3 columns ('x1', 'x2', 'x3') hold numbers with decimal commas such as '{first}', "
            "each taken as a category; read them as numbers (--numeric x1,x2,x3)\n"
            "covshift: warning: s.csv: column 'pay' holds numbers with commas between thousands such as '1,000', each "
            "taken as a category; read them as numbers (--numeric pay)\n")
        self.assertEqual(self.fit(self.path("s.csv"), "--numeric", "x1,x2,x3,pay"), "")

    def test_decimal_commas_with_three_decimals(self):
        # 0,518 is no number of thousands, so neither is 1,204 beside it.
        rows = [[f"{i % 3},{518 + i}", row[3]] for i, row in enumerate(self.rows)]
        with open(self.path("d.csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(";".join(row) for row in [["x1", "y"], *rows]) + "\n")
        self.assertEqual(
            self.fit(self.path("d.csv")),
            "covshift: warning: d.csv: column 'x1' holds numbers with decimal commas such as '0,518', each taken as a "
            "category; read them as numbers (--numeric x1)\n")
        self.fit(self.path("d.csv"), "--numeric", "x1")
        with open(self.path("n.csv"), "w", encoding="utf-8") as file:
            file.write("x1;z\n0,518;0\n1,204;0\n")
        self.assertEqual(len(self.run_ok("predict", self.model, self.path("n.csv")).stdout.splitlines()), 3)

    def test_numbers_with_a_sign(self):
        for sign, text in (("%", "{}%"), ("$", "${}"), ("€", "{} €")):
            rows = [[text.format(i % 9), *row] for i, row in enumerate(self.rows)]
            example = text.format(0)
            with self.subTest(sign):
                self.assertEqual(
                    self.fit(self.write_rows("p.csv", ["rate", *self.header], rows)),
                    f"covshift: warning: p.csv: column 'rate' holds numbers with a {sign} such as '{example}', each taken "
                    "as a category; write the numbers alone\n")

    def test_classes_in_capitals(self):
        rows = [[*row[:3], "Birch" if row[3] == "birch" and i % 2 else row[3]] for i, row in enumerate(self.rows)]
        one, other = dict.fromkeys(row[3] for row in rows if row[3].lower() == "birch")
        self.assertEqual(
            self.fit(self.write_rows("k.csv", self.header, rows)),
            f"covshift: warning: k.csv: the label 'y' has the classes '{one}' and '{other}', which differ only in capitals "
            "or blanks; write them alike if they are the same\n")

    def test_files_of_other_programs(self):
        unpack = "unpack it first, or pack it with gzip, which is read as it is"
        page = "it may be an error message: open it in a browser, and download the data again"
        csv_of = "convert it to CSV, for example with Python: pandas.{}('{}').to_csv('data.csv', index=False)"
        with open(self.train, "rb") as file:
            table = file.read()
        for name, content, what, remedy in (
            ("a.csv", bz2.compress(table), "packed with bzip2", unpack),
            ("b.csv", lzma.compress(table), "packed with xz", unpack),
            ("c.csv", b"\x28\xb5\x2f\xfd" + table, "packed with zstd", unpack),
            ("d.csv", b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "a web page (HTML)", page),
            ("e.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
             "a pointer of Git LFS in place of the data", "fetch the data: git lfs pull"),
            ("f.csv", pickle.dumps(self.rows, protocol=4), "a Python pickle", csv_of.format("read_pickle", "f.csv")),
            ("g.csv", b"\x89HDF\r\n\x1a\n", "HDF5", csv_of.format("read_hdf", "g.csv")),
            ("h.csv", b"SQLite format 3\0", "an SQLite database",
             "export a table of it: sqlite3 -header -csv FILE 'select * from TABLE' > data.csv"),
        ):
            with open(self.path(name), "wb") as file:
                file.write(content)
            with self.subTest(what):
                self.says(1, f"covshift: {name}: this is {what}, which the program does not read; {remedy}\n",
                          "fit", self.path(name), "--label", "y", "-o", self.model)

    def test_a_byte_of_zero(self):
        with open(self.train, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        lines[4] = lines[4].rstrip() + b"\0\n"
        with open(self.path("z.csv"), "wb") as file:
            file.write(b"".join(lines))
        label = self.rows[3][3]
        self.says(1, f"covshift: z.csv:5:4: byte {len(label) + 1} of the value '{label}\\x00' is 0, which no text holds; "
                  "if this is UTF-16, say --encoding utf-16, else remove it\n",
                  "fit", self.path("z.csv"), "--label", "y", "-o", self.model)

    def test_a_mark_of_utf_16_alone(self):
        with open(self.path("b.csv"), "wb") as file:
            file.write(b"\xff\xfe")
        self.says(1, "covshift: b.csv: the file is empty; it needs at least one row of data\n",
                  "fit", self.path("b.csv"), "--label", "y", "--method", "lr", "-o", self.model)
        self.says(1, "covshift: b.csv: the file holds no view; write lines such as name = column, other*\n", "fit", self.train,
                  "--label", "y", "--method", "lr", "--views", self.path("b.csv"), "-o", self.model)

    def test_identifiers_that_are_numbers(self):
        rows = [[i * 7919 % 100003, *row] for i, row in enumerate(self.rows)]
        train = self.write_rows("i.csv", ["user_id", *self.header], rows)
        self.assertEqual(
            self.fit(train),
            "covshift: warning: i.csv: column 'user_id' holds a different whole number in each row, as identifiers do; "
            "leave it out (--drop user_id), or copy it beside the predictions (--keep user_id)\n")
        self.assertEqual(self.fit(train, "--keep", "user_id"), "")
        self.assertEqual(self.fit(self.write_rows("a.csv", ["amount", *self.header], rows)), "")

    def test_quantities_and_unseen_categories(self):
        rows = [[*row[:3], i % 110] for i, row in enumerate(self.rows * 4)]
        self.assertEqual(
            self.fit(self.write_rows("q.csv", self.header, rows)),
            "covshift: warning: q.csv: the label 'y' has 110 different numbers: that is a quantity, and each value is taken "
            "as a class; this program classifies, so cut it into a few ranges\n")
        colours = [[("red", "blue")[i % 2], *row] for i, row in enumerate(self.rows)]
        self.fit(self.write_rows("c.csv", ["colour", *self.header], colours))
        new = self.write_rows("n.csv", ["colour", *self.header],
                              [["mauve" if i % 4 == 1 else "red", *row] for i, row in enumerate(self.rows)])
        self.assertEqual(
            self.run_ok("predict", self.model, new).stderr.replace(self.folder + "/", ""),
            "covshift: warning: n.csv:3: column 'colour' has the category 'mauve', which training never saw (30 of 120 rows, "
            "25%, have such categories); it is treated as belonging to no known category\n")
        new = self.write_rows("all.csv", ["colour", *self.header], [["mauve", *row] for row in self.rows])
        self.assertIn("(120 of 120 rows, 100%, have", self.run_ok("predict", self.model, new).stderr)

    def test_encoding_of_names(self):
        with open(self.path("l.csv"), "wb") as file:
            file.write("größe,y\n1,a\n2,b\n".encode("latin-1"))
        self.says(1, "covshift: l.csv: byte 3 of the name of column 1, 'gr\\xf6\\xdfe' is 0xf6, which is not UTF-8; name the "
                  "file's encoding (--encoding latin1, windows-1252 or utf-16), or save it as UTF-8\n",
                  "fit", self.path("l.csv"), "--label", "y", "--method", "lr", "-o", self.model)

    def test_missing_is_the_same_in_csv_and_arff(self):
        rows = [list(row) for row in self.rows]
        for i, word in enumerate(["?", "NA", "", "NaN", "nan"]):
            rows[3 * i][1] = word
        colour = [("red", "blue", "NA", "?")[i % 4] for i in range(len(rows))]
        rows = [[c, *row] for c, row in zip(colour, rows)]
        self.fit(self.write_rows("m.csv", ["colour", *self.header], rows))
        with open(self.model, encoding="utf-8") as file:
            by_csv = json.load(file)["body"]["encoder"]
        head = "@relation r\n@attribute colour {red,blue}\n" + "".join(
            f"@attribute {name} numeric\n" for name in self.header[:3]) + "@attribute y {ash,birch,cedar}\n@data\n"
        self.fit(self.write("m.arff", head + "".join(",".join(row) + "\n" for row in rows)))
        with open(self.model, encoding="utf-8") as file:
            by_arff = json.load(file)["body"]["encoder"]
        self.assertEqual(by_csv, by_arff)
        self.assertEqual([c.get("missing", 0) for c in by_csv["columns"]], [60, 0, 5, 0])
        rows[2][4] = "?"
        self.says(1, "covshift: b.csv:4:5: the label (column 'y') is missing; fill it in or drop the row\n", "fit",
                  self.write_rows("b.csv", ["colour", *self.header], rows), "--label", "y", "--method", "lr", "-o",
                  self.model)

    def test_features_of_1e150(self):
        rows = [[f"{float(x) * 1e150!r}" for x in row[:3]] + row[3:] for row in self.rows]
        train = self.write_rows("big.csv", self.header, rows)
        for loss in ("log", "zero-one", "squared"):
            for scale in ("unit", "standard"):
                self.assertEqual(self.fit(train, "--loss", loss, "--scale", scale), "")
            self.says(1, f"covshift: the training data: feature 1 of row 1 is {float(rows[0][0])}; features beyond 1e+100 must be "
                      "scaled (unit or standard)\n", "fit", train, "--label", "y", "--method", "lr", "--loss", loss, "--scale",
                      "none", "-o", self.model)

    # --- formats and outputs ---

    def test_formats_of_others(self):
        convert = "convert it to CSV, for example with Python: pandas.{}('f'{}).to_csv('data.csv', index=False)\n"
        for content, what, reader, more in (
            (b"PAR1\x15\x04", "Parquet", "read_parquet", ""),
            (b"ARROW1\0\0", "Arrow", "read_feather", ""),
            (b'{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n', "JSON lines", "read_json", ", lines=True"),
            (b'[{"x": 1, "y": "a"}]', "JSON", "read_json", ""),
            (b"PK\x03\x04....", "Excel (or another zip file)", "read_excel", ""),
        ):
            with open(self.path("f"), "wb") as file:
                file.write(content)
            result = self.assert_fails(1, "fit", self.path("f"), "--label", "y", "--method", "lr", "-o", self.model)
            self.assertEqual(
                result.stderr.replace(self.folder + "/", ""),
                f"covshift: f: this is {what}, which the program does not read; " + convert.format(reader, more))

    def test_a_json_object_is_not_json_lines(self):
        self.says(1, "covshift: o.json: this is JSON, which the program does not read; convert it to CSV, for example with Python: "
                  "pandas.read_json('o.json').to_csv('data.csv', index=False)\n",
                  "fit", self.write("o.json", '{\n  "x": [1, 2],\n  "y": ["a", "b"]\n}\n'), "--label", "y", "-o", self.model)

    def test_models_and_data_in_each_others_place(self):
        self.fit(self.train)
        for call in (["predict", self.model, self.model], ["evaluate", self.model, self.model],
                     ["diagnose", self.model, self.train, "--label", "y"],
                     ["diagnose", self.train, self.model, "--label", "y"],
                     ["fit", self.model, "--label", "y", "--method", "lr", "-o", self.path("z.json")]):
            self.says(1, "covshift: model.json: this is a model file of covshift, not a table; name the data here\n", *call)
        for command in ("predict", "evaluate"):
            self.says(1, "covshift: t.csv: this is not a model file, which starts with '{', or it is damaged; check the order of "
                      "the files\n", command, self.train, self.model)

    # --- five more tables ---

    def test_a_title_above_the_header(self):
        with open(self.train, encoding="utf-8") as file:
            text = file.read()
        self.says(1, "covshift: title.csv:2:2: this line has 4 fields, those above have 1; remove titles and comments from the top "
                  "of the file\n",
                  "fit", self.write("title.csv", "# exported by a colleague\n" + text), "--label", "y", "-o", self.model)

    def test_two_columns_of_one_name(self):
        self.says(1, "covshift: two.csv:1:2: the column name 'x1' is used twice (fields 1 and 2); rename one\n",
                  "fit", self.write_rows("two.csv", ["x1", "x1", "x3", "y"], self.rows), "--label", "y", "-o", self.model)

    def test_delimiters_at_the_ends_of_lines(self):
        train = self.write_rows("ends.csv", [*self.header, ""], [[*row, ""] for row in self.rows])
        self.assertEqual(self.fit(train), "covshift: warning: ends.csv: one column has no value in any row ('c5') and cannot help; "
                         "leave it out (--drop c5)\n")
        self.assertEqual(self.fit(train, "--drop", "c5"), "")

    def test_blank_lines_quotes_and_line_ends_of_windows(self):
        plain = self.fit(self.train), self.predictions()
        quoted = "\r\n\r\n".join(",".join(f'"{x}"' for x in row) for row in [self.header, *self.rows]) + "\r\n"
        with open(self.path("w.csv"), "w", encoding="utf-8", newline="") as file:
            file.write("\ufeff" + quoted)
        self.assertEqual((self.fit(self.path("w.csv")), self.predictions()), plain)

    def test_nothing_but_the_label(self):
        self.says(1, "covshift: only.csv: there are no columns to learn from, only those left out; add features\n",
                  "fit", self.write_rows("only.csv", ["y"], [[row[3]] for row in self.rows]), "--label", "y", "--method", "lr", "-o",
                  self.model)

    def test_outputs_that_are_inputs(self):
        self.fit(self.train)
        more = ", which this command uses; choose another name"
        views = self.write("v.txt", "a = x1\n")
        costs = self.write("c.csv", "0,1,1\n1,0,1\n1,1,0\n")
        os.link(costs, self.path("d.csv"))
        fit = ("fit", self.train, "--label", "y", "--method", "lr")
        for flag, output, used, arguments in (
            ("--output", "v.txt", "v.txt", [*fit, "--views", views, "-o", views]),
            ("--output", "d.csv", "c.csv", [*fit, "--loss", f"cost:{costs}", "-o", self.path("d.csv")]),
            ("--output", "t.csv", "t.csv", ["predict", self.model, self.train, "-o", self.train]),
            ("--report", "t.csv", "t.csv", ["diagnose", self.train, self.train, "--label", "y", "--report", self.train]),
            ("--train-output", "t.csv", "t.csv", ["sample", self.train, "--label", "y", "--train-output", self.train,
                                                   "--target-output", self.path("z.csv")]),
        ):
            with self.subTest(output=output, used=used):
                self.refuses(f"{flag}: {output} would overwrite {used}{more}", *arguments)

    def test_a_page_on_standard_output_is_alone(self):
        for path in ("-", "/dev/stdout"):
            page = self.run_ok("diagnose", self.train, self.train, "--label", "y", "--report", path).stdout
            self.assertTrue(page.startswith("<!") and page.rstrip().endswith("</html>"), page[:50] + page[-50:])
        self.assertFalse(os.path.exists("-"))
        self.refuses("-: sample writes two files; name both", "sample", self.train, "--label", "y", "--train-output", "-",
                     "--target-output", self.path("z.csv"))

    # --- terminals and spreadsheets ---

    def test_no_name_reaches_the_terminal_raw(self):
        bad = "\x1b[31mred\x1b]0;title\x07\x9b2J"
        rows = [[("mild" + bad, "hot" + bad)[i % 2], *row[:3], row[3] + bad] for i, row in enumerate(self.rows)]
        header = ["c" + bad, "x1" + bad, "x2", "x3", "y" + bad]
        train = self.write_rows("t" + bad + ".csv", header, rows)
        views = self.write("v" + bad, f'"view{bad}" = x2, x3\n')
        costs = self.write("cost" + bad, "0,1,1\n1,0,1\n1,1,0\n")
        model, page = self.path("m" + bad + ".json"), self.path("page" + bad + ".html")
        label = ("--label", "y" + bad)
        calls = [
            ("fit", train, "--target", train, *label, "--method", "robust-view", "--views", views, "--lambda", "0.1", "-o", model),
            ("fit", train, *label, "--method", "lr", "--loss", f"cost:{costs}", "--lambda", "0.1", "-o", model),
            ("fit", train, *label, "--method", "lr", "--lambda", "0.1", "-o", model),
            ("predict", model, train, "-o", self.path("p" + bad)),
            ("evaluate", model, train),
            ("diagnose", train, train, *label, "--report", page),
            ("compare", train, train, *label, "--methods", "lr", "--report", page),
            ("estimate", model, train, "--target", train),
            ("sample", train, *label, "--train-output", self.path("a" + bad), "--target-output", self.path("b" + bad)),
        ]
        for call in calls:
            for more in ((), ("--json",)):
                with self.subTest(call[0], json=bool(more)):
                    result = self.run_ok(*call, *more)
                    for text in (result.stdout, result.stderr):
                        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        for call in (["fit" + bad], ["fit", train, "--" + bad], ["fit", train, "--method", bad, "-o", model],
                     ["fit", "no" + bad, *label, "--method", "lr", "-o", self.path("z")],
                     ["fit", train, "--label", bad, "--method", "lr", "-o", self.path("z")],
                     ["predict", "no" + bad, train], ["predict", model, views],
                     ["fit", train, *label, "--views", "no" + bad, "--method", "lr", "-o", self.path("z")]):
            result = self.call(*call)
            self.assertIn(result.returncode, (1, 2))
            self.assertIn("\\x1b[31m", result.stderr)
            self.assertNotRegex(result.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        with open(page, encoding="utf-8") as file:
            content = file.read()
        self.assertNotIn("\x1b", content)

    def test_a_page_shows_names_as_text(self):
        tag = "</script><img src=x onerror=alert(1)>"
        rows = [[*row[:3], row[3] + tag] for row in self.rows]
        train = self.write_rows("t.csv", [f"x{tag}", "x2", "x3", "y"], rows)
        self.run_ok("compare", train, train, "--label", "y", "--methods", "lr", "-q", "--report", self.path("p.html"))
        with open(self.path("p.html"), encoding="utf-8") as file:
            self.assertNotIn("<img src=x", file.read())

    def test_safe_csv_covers_every_cell(self):
        bad = ["=1+1", "+cmd", "-2+3", "@SUM(1)", "\rx"]
        rows = [[bad[i % 5], *row[:3], "=" + row[3]] for i, row in enumerate(self.rows)]
        train = self.write_rows("s.csv", ["@note", *self.header], rows)
        self.fit(train, "--keep", "@note")
        out = self.run_ok("predict", self.model, train, "--safe-csv").stdout
        table = list(csv.reader(io.StringIO(out)))
        self.assertEqual(table[0][:2], ["'@note", "predicted"])
        for row, given in zip(table[1:], rows):
            self.assertEqual(row[0].replace("\n", "\r"), "'" + given[0])
            self.assertTrue(row[1].startswith("'="), row)
            for cell in row:
                self.assertNotRegex(cell, r"^[=+@\t\r]|^-(?![0-9.]+(e-?[0-9]+)?$)")


if __name__ == "__main__":
    unittest.main()
