"""The notebooks of examples/ run from top to bottom and end with what they announce."""

import pathlib

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.ipynb"))
# What the hidden labels must say in the end; the numbers above it come with fixed seeds.
SAID = {"tutorial.ipynb": "The promise holds.", "promises.ipynb": "of the sets hold the true class"}


def test_each_notebook_is_known():
    assert {path.name for path in NOTEBOOKS} == set(SAID)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(path, tmp_path, monkeypatch):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    codes = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in codes), "stored without outputs"
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in codes for output in cell.outputs]
    shown = "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)
    assert SAID[path.name] in shown
    assert not [o.text for o in outputs if o.get("name") == "stderr"], "a warning"
    assert sum("image/png" in o.get("data", {}) for o in outputs) >= 1  # plot()
    assert any("<table" in o.get("data", {}).get("text/html", "") for o in outputs)
