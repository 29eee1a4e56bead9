"""How people are shown a field of a result: a column's heading, the form of its values, what has no column of its own.

A field without this is for programs only: in JSON and CSV, under its name.
"""

from __future__ import annotations

from msgspec import Meta, Struct

from iocast.model.report import Kind

Number = int | float
# A percentile; two edges between which it lies where the source of an imported row knows no better,
# the second null where nothing bounds it.
Duration = Number | tuple[Number, Number | None] | None
# A cell of a chart.
Value = str | bool | int | float | list[str | int | float | None] | None


class Shown(Struct, frozen=True):
    """The column of a field.

    Fields of one `column` are alternatives: it shows the one that is known, with its unit. Of fields that are `once`,
    rows that follow each other with the same first one show only the first row's. `interval` names two fields: the
    95% interval around a ratio. `pair` names the field that stands in the same cell, as the depth in users x depth.
    `below` has no column: it is a sentence under the row. A field that is a list, or is keyed, has one column for
    each value.
    """

    heading: str
    kind: Kind
    explain: str
    spare: int
    column: str
    once: bool
    interval: tuple[str, str] | None
    pair: str
    below: bool


def shown(
    heading: str,
    kind: Kind = "text",
    *,
    explain: str = "",
    spare: int = 0,
    column: str = "",
    once: bool = False,
    interval: tuple[str, str] | None = None,
    pair: str = "",
) -> Meta:
    """For Annotated: how the field is shown. `explain` says what it is, in the page and in the schema."""
    column_of = Shown(heading, kind, explain, spare, column, once, interval, pair, below=False)
    return Meta(description=explain or None, extra={"shown": column_of})


def shown_below() -> Meta:
    """For Annotated: the field is a sentence under its row."""
    return Meta(extra={"shown": Shown("", "text", "", 0, "", once=False, interval=None, pair="", below=True)})
