"""What is said of a law beside its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from iocast.model.report import Table
from iocast.report.result_tables import Headings, Words, filled, result_table

NS = 1e9


class LawText(Struct, frozen=True):
    """A law in words: `verdict` is the sentence that the tables prove, `source` where the law stands."""

    title: str
    verdict: str
    source: str
    tables: tuple[Table, ...]


def law_table(
    key: str,
    title: str,
    rows: Sequence[Struct],
    notes: Iterable[str] = (),
    *,
    headings: Headings | None = None,
    words: Words | None = None,
) -> Table:
    """The table of rows of one type; a column that no row fills is left out."""
    whole_table = result_table(
        type(rows[0]), rows, key=key, title=title, headings=headings, words=words, notes=tuple(notes)
    )
    return filled(whole_table)
