"""The report of a law: its tables, the notes where the document that it comes from is wrong, its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iocast.model.report import Cell, Column, Kind, Report, Row, Table
from iocast.report.wording import section

NS = 1e9  # of a second

# The figures that documents print, where they stand in the same table as ours.
PRINTED = "document"


def law_report(title: str, verdict: str, tables: Iterable[Table], source: str, steps: tuple[str, ...] = ()) -> Report:
    """A law as a report: `verdict` is the sentence that the tables prove, `source` where the law stands."""
    return Report(
        title=f"Model · {title}",
        verdict=verdict,
        sections=(section("law", (f"Source: {source}",), tuple(tables)),),
        next_steps=steps,
        kind="model",
    )


def table(
    title: str, key: str, columns: Iterable[Column], rows: Iterable[Mapping[str, Cell] | Row], notes: Iterable[str] = ()
) -> Table:
    """A table of rows; a column that no row fills is left out."""
    made = tuple(each if isinstance(each, Row) else Row(dict(each)) for each in rows)
    filled = tuple(each for each in columns if any(row.cells.get(each.key) not in (None, "") for row in made))
    return Table(title, filled, made, key=key, notes=tuple(notes))


def ms(key: str, title: str, spare: int = 0) -> Column:
    """A column of times, held in ns and shown in milliseconds; the highest `spare` goes first where room is short."""
    return Column(key, f"{title}\nms", "milliseconds", spare=spare)


def num(key: str, title: str, spare: int = 0) -> Column:
    """A column of plain numbers with five figures."""
    return Column(key, title, "figures", spare=spare)


def pct(key: str, title: str, spare: int = 0) -> Column:
    """A column of shares with two decimals."""
    return Column(key, title, "exact_share", spare=spare)


def col(key: str, title: str, kind: Kind = "text", spare: int = 0) -> Column:
    """Any other column."""
    return Column(key, title, kind, spare=spare)


def printed() -> Column:
    """The column of what the document prints."""
    return Column(PRINTED, "document\nprints", "text", spare=1)
