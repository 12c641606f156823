"""Every snippet of README and docs/ runs as it stands: fenced blocks marked python or sh, page by page, in order.

Pages of the guide go on where the tutorial's first section ends: with its data, in memory and as files.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


PAGES = [page for page in DOCUMENTS if blocks(page)]
TUTORIAL = PROJECT / "docs/tutorial.md"


def name_of(page):
    return str(page.relative_to(PROJECT))


def program(blocks_of_page):
    """One Python program of all blocks; those of the shell are run by it, where they stand."""
    parts = []
    for language, text in blocks_of_page:
        shell = f"import subprocess\nsubprocess.run(['bash', '-euo', 'pipefail', '-c', {text!r}], check=True)\n"
        parts.append(text if language == "python" else shell)
    return "\n".join(parts)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_snippets(page, tmp_path):
    setting = [] if page == TUTORIAL else blocks(TUTORIAL)[:2]
    (tmp_path / "page.py").write_text(program([*setting, *blocks(page)]), encoding="utf-8")
    command = Path(os.environ["COVSHIFT"])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/covshift").symlink_to(command)
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_snippets_on_the_pages_for_beginners():
    pages = {name_of(page) for page in PAGES}
    assert {"README.md", "docs/index.md", "docs/tutorial.md", "docs/python.md"} <= pages
    assert {f"docs/guide/{task}.md" for task in ("diagnose", "choose", "promise", "views", "costs", "large-data")} <= pages


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_no_command_hides_in_a_block_that_is_not_run(page):
    if page.name in ("options.md", "architecture.md"):  # a generated table; a drawing
        return
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    hidden = re.findall(r"^ {4}(covshift (?:fit|predict|evaluate|diagnose|compare|estimate) .*)$", text, re.MULTILINE)
    assert not hidden, "put these into a block ```sh, which the tests run"


def test_the_program_is_there():
    assert shutil.which(os.environ["COVSHIFT"])
