"""Tables of the HTML page: raw values beside the text, so that they sort; rows, parts and notes kept together."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from iocast import text
from iocast.model.grading import LETTERS
from iocast.model.report import LATENCY_EDGES_NS, Cell, Column, Kind, Row, Table
from iocast.report.cells import as_good, cell_text, numbers

WORDS: frozenset[Kind] = frozenset({"text", "code", "names", "strip", "grade"})
FIGURES: frozenset[Kind] = frozenset({"bytes_per_s", "rate", "duration", "strip", "decimal", "share", "relative"})
LONG_WORDS = 40  # characters from which a cell of words wraps
MANY = 12  # columns from which they stand closer together


def table_html(table: Table, caption: str, *, sorts: bool = True, shown: bool = False) -> str:
    """A table in a box that scrolls by itself; the caption is for screen readers unless `shown`."""
    if not table.rows:
        return ""
    wraps = {column.key for column in table.columns if _wraps(column, table)}
    head = "".join(_head(column, sorts=sorts and len(table.rows) > 1) for column in table.columns)
    body = "".join(line for row in table.rows for line in _row(table, row, wraps))
    hidden = "" if shown else ' class="sr"'
    kinds = " ".join(name for name, on in (("sorts", sorts), ("many", len(table.columns) >= MANY)) if on)
    kind = f' class="{kinds}"' if kinds else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table{kind}>'
        f"<caption><span{hidden}>{escape(caption)}</span></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _wraps(column: Column, table: Table) -> bool:
    if column.kind == "names":
        return True
    cells = (row.cells.get(column.key) for row in table.rows)
    return column.kind == "text" and any(isinstance(cell, str) and len(cell) > LONG_WORDS for cell in cells)


def _head(column: Column, *, sorts: bool) -> str:
    title = escape(" ".join(column.title.split("\n")))
    explain = f' title="{escape(column.explain)}"' if column.explain else ""
    side = ' class="l"' if column.kind in WORDS else ""
    inside = f'<button type="button"{explain}>{title}</button>' if sorts else title
    return f'<th scope="col"{side}>{inside}</th>'


def _row(table: Table, row: Row, wraps: set[str]) -> Iterator[str]:
    classes = " ".join(name for name, on in (("part", row.part), ("void", row.void)) if on)
    cells = "".join(_cell(column, row, at == 0, column.key in wraps) for at, column in enumerate(table.columns))
    yield f'<tr class="{classes}">{cells}</tr>' if classes else f"<tr>{cells}</tr>"
    if row.note:
        mark = "void: " if row.void else ""
        yield f'<tr class="note"><td colspan="{len(table.columns)}">↳ {escape(mark + row.note)}</td></tr>'


def _cell(column: Column, row: Row, first: bool, wraps: bool) -> str:
    cell = row.cells.get(column.key)
    classes = [name for name, on in (("l", column.kind in WORDS), ("figure", column.kind in FIGURES)) if on]
    if wraps:
        classes.append("names" if column.kind == "names" else "words")
    if as_good(column.kind, cell):
        classes.append("good")
    if column.key == "severity":
        classes.append(f"sev-{cell}")
    about = f' class="{" ".join(classes)}"' if classes else ""
    tag, scope = ("th", ' scope="row"') if first else ("td", "")
    return (
        f'<{tag}{scope}{about} data-v="{escape(_sort_value(column.kind, cell))}">{cell_html(column.kind, cell)}</{tag}>'
    )


def _sort_value(kind: Kind, cell: Cell) -> str:
    if kind == "grade":
        # The letters of the alphabet do not say that an A+ is better than an A, which is better than an A-.
        return next((str(rank) for rank, letter in enumerate(LETTERS) if letter == cell), "")
    if isinstance(cell, tuple):
        found = numbers(cell) if all(isinstance(each, int | float) for each in cell) else ()
        # Users times depth sorts loads; the middle of a strip sorts strips.
        if len(found) == 2:
            return f"{found[0] * max(1.0, found[1]):g}"
        return f"{sum(at * share for at, share in enumerate(found)):g}" if found else str(cell[0]) if cell else ""
    return "" if cell is None else str(cell)


def cell_html(kind: Kind, cell: Cell) -> str:
    """What a cell shows."""
    shown = escape(cell_text(kind, cell))
    if kind == "grade" and shown:
        return grade_html(shown)
    if kind == "strip" and shown:
        return _strip(numbers(cell))
    return shown


def grade_html(letter: str) -> str:
    """A letter on its colour."""
    return f'<span class="grade g-{escape(letter[:1])}">{escape(letter)}</span>'


def _strip(shares: tuple[float, ...]) -> str:
    """Bars as high as the shares; in words for who cannot see them."""
    most = max(shares, default=0.0) or 1.0
    bars = "".join(
        f'<i style="height:{max(9, round(100 * share / most))}%"></i>' if share else '<i class="z"></i>'
        for share in shares
    )
    said = ", ".join(_span(at, share) for at, share in enumerate(shares) if share >= 0.005)
    return f'<span class="strip" role="img" aria-label="{escape(said)}" title="{escape(said)}">{bars}</span>'


def _span(at: int, share: float) -> str:
    if at < len(LATENCY_EDGES_NS):
        return f"{text.percent(share)} up to {text.duration_in_words(LATENCY_EDGES_NS[at])}"
    return f"{text.percent(share)} above {text.duration_in_words(LATENCY_EDGES_NS[-1])}"
