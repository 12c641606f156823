"""What the results of diagnose, estimate and compare share: ways to show and to convert them."""

from __future__ import annotations

import copy
import html
import json
import os
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import pandas


class Result:
    """Numbers of the library: attributes, a table in the terminal and in a notebook."""

    data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    if not TYPE_CHECKING:  # a subclass declares the attributes

        def __getattr__(self, name: str):
            if name == "data" or name not in self.data:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self.data[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.data})

    def to_dict(self) -> dict[str, Any]:
        """A copy of every number, as the program's --json prints them.

        Returns
        -------
        data : dict
            Ready for ``json.dumps``.
        """
        return copy.deepcopy(self.data)

    def _opening(self) -> list[str]:
        """Lines above the table."""
        return []

    def _rows(self) -> list[list[str]]:
        """The table as text, its header first; empty: there is none."""
        return []

    def _closing(self) -> list[str]:
        """Lines below the table."""
        return []

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows)]
        table = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in rows
        ]
        return "\n".join([*self._opening(), *table, *self._closing()])

    def _repr_html_(self) -> str:
        def lines(texts: list[str]) -> str:
            return f"<p>{'<br>'.join(map(html.escape, texts))}</p>" if texts else ""

        def cells(row: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row) + "</tr>"

        rows = self._rows()
        table = "".join([cells(rows[0], "th"), *(cells(row, "td") for row in rows[1:])]) if rows else ""
        return f"<div>{lines(self._opening())}<table>{table}</table>{lines(self._closing())}</div>"


def trust_lines(diagnosis: dict[str, Any]) -> list[str]:
    """Can a model be trusted on the target, how good will it be there, why, and what to do."""
    trust = diagnosis["recommendation"]["trust"]
    return [
        f"Can a model of these data be trusted on the new rows? {trust['answer'].title()}. {trust['headline']}",
        f"How good: {trust['performance']}. {trust['basis']}",
        *trust["evidence"],
        trust["next"],
    ]


class Reported(Result):
    """A result that the program shows as a page, too."""

    _kind: str

    def report(self, path: str | os.PathLike[str], *, title: str = "training → target") -> None:
        """Writes the page that the program's --report writes: one file, which loads nothing.

        Parameters
        ----------
        path : str or path
            The file, usually ``report.html``; written whole or not at all.
        title : str, default="training → target"
            What was compared.
        """
        _core.write_report(os.fspath(path), self._kind, title, json.dumps(self._page()))

    def _page(self) -> dict[str, Any]:
        """The numbers of the page."""
        return self.data


def frame(rows: Any, index: str | None = None) -> pandas.DataFrame:
    """A pandas DataFrame of a list of dicts."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install covshift[frames]") from error
    table = pandas.DataFrame(rows)
    return table if index is None else table.set_index(index)
