"""Tables of the HTML page: raw values beside the text, so that they sort; rows, parts and notes kept together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from markupsafe import Markup, escape

from iocast import text
from iocast.model.grading import LETTERS
from iocast.model.report import LATENCY_EDGES_NS, WORDS, Cell, Column, Kind, Row, Table
from iocast.report.cells import as_good, cell_text, numbers

FIGURES: frozenset[Kind] = frozenset(
    {
        "bytes_per_s",
        "rate",
        "duration",
        "milliseconds",
        "strip",
        "decimal",
        "figures",
        "ratio",
        "share",
        "exact_share",
        "relative",
    }
)
LONG_WORDS = 40  # characters from which a cell of words wraps
MANY = 12  # columns from which they stand closer together


TABLE = Markup(
    '<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table{kinds}>'
    "<caption><span{hidden}>{caption}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
)
NOTE = Markup('<tr class="note"><td colspan="{}">↳ {}</td></tr>')
GRADE = Markup('<span class="grade g-{}">{}</span>')
STRIP = Markup('<span class="strip" role="img" aria-label="{said}" title="{said}">{bars}</span>')


def table_html(table: Table, caption: str, *, sorts: bool = True, shown: bool = False) -> Markup:
    """A table in a box that scrolls by itself; the caption is for screen readers unless `shown`."""
    if not table.rows:
        return Markup()
    wraps = {column.key for column in table.columns if _wraps(column, table)}
    kinds = " ".join(name for name, on in (("sorts", sorts), ("many", len(table.columns) >= MANY)) if on)
    return TABLE.format(
        caption=caption,
        kinds=_class(kinds),
        hidden=_class("" if shown else "sr"),
        head=Markup().join(_head(column, sorts=sorts and len(table.rows) > 1) for column in table.columns),
        body=Markup("".join(line for row in table.rows for line in _row(table, row, wraps))),
    )


def _wraps(column: Column, table: Table) -> bool:
    if column.kind == "names":
        return True
    cells = (row.cells.get(column.key) for row in table.rows)
    return column.kind == "text" and any(isinstance(cell, str) and len(cell) > LONG_WORDS for cell in cells)


def _head(column: Column, *, sorts: bool) -> Markup:
    title = " ".join(column.title.split("\n"))
    explain = Markup(' title="{}"').format(column.explain) if column.explain else ""
    inside = Markup('<button type="button"{}>{}</button>').format(explain, title) if sorts else title
    return Markup('<th scope="col"{}>{}</th>').format(_class("l" if column.kind in WORDS else ""), inside)


def _row(table: Table, row: Row, wraps: set[str]) -> Iterator[str]:
    classes = " ".join(name for name, on in (("part", row.part), ("void", row.void)) if on)
    cells = "".join(_cell(column, row, at == 0, column.key in wraps) for at, column in enumerate(table.columns))
    yield f"<tr{_class(classes)}>{cells}</tr>"
    if row.note:
        yield NOTE.format(len(table.columns), f"{'void: ' if row.void else ''}{row.note}")


@cache  # a page has few of them, and thousands of cells
def _class(names: str) -> Markup:
    return Markup(' class="{}"').format(names) if names else Markup()


def _cell(column: Column, row: Row, first: bool, wraps: bool) -> str:
    # A page has ten thousand cells: all that is not ours is escaped here, without a template for each.
    cell = row.cells.get(column.key)
    classes = [name for name, on in (("l", column.kind in WORDS), ("figure", column.kind in FIGURES)) if on]
    if wraps:
        classes.append("names" if column.kind == "names" else "words")
    if as_good(column.kind, cell):
        classes.append("good")
    if column.key == "severity":
        classes.append(f"sev-{cell}")
    head, end = ('th scope="row"', "th") if first else ("td", "td")
    value, shown = escape(_sort_value(column.kind, cell)), cell_html(column.kind, cell)
    return f'<{head}{_class(" ".join(classes))} data-v="{value}">{shown}</{end}>'


def _sort_value(kind: Kind, cell: Cell) -> str:
    if kind == "grade":
        # The letters of the alphabet do not say that an A+ is better than an A, which is better than an A-.
        return next((str(rank) for rank, letter in enumerate(LETTERS) if letter == cell), "")
    if isinstance(cell, tuple):
        sort_values = numbers(cell) if all(isinstance(each, int | float) for each in cell) else ()
        # Users times depth sorts loads; the middle of a strip sorts strips.
        if len(sort_values) == 2:
            return f"{sort_values[0] * max(1.0, sort_values[1]):g}"
        return (
            f"{sum(at * share for at, share in enumerate(sort_values)):g}"
            if sort_values
            else str(cell[0])
            if cell
            else ""
        )
    return "" if cell is None else str(cell)


def cell_html(kind: Kind, cell: Cell) -> Markup:
    """What a cell shows."""
    shown = cell_text(kind, cell)
    if kind == "grade" and shown:
        return grade_html(shown)
    if kind == "strip" and shown:
        return _strip(numbers(cell))
    return escape(shown)


def grade_html(letter: str) -> Markup:
    """A letter on its colour."""
    return GRADE.format(letter[:1], letter)


def _strip(shares: tuple[float, ...]) -> Markup:
    """Bars as high as the shares; in words for who cannot see them."""
    most = max(shares, default=0.0) or 1.0
    bars = "".join(
        f'<i style="height:{max(9, round(100 * share / most))}%"></i>' if share else '<i class="z"></i>'
        for share in shares
    )
    said = ", ".join(_span(at, share) for at, share in enumerate(shares) if share >= 0.005)
    return STRIP.format(said=said, bars=Markup(bars))


def _span(at: int, share: float) -> str:
    if at < len(LATENCY_EDGES_NS):
        return f"{text.percent(share)} up to {text.brief_time(LATENCY_EDGES_NS[at])}"
    return f"{text.percent(share)} above {text.brief_time(LATENCY_EDGES_NS[-1])}"
