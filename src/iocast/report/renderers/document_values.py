"""What a field of a JSON document may hold: numbers, times between two edges, cells of any table."""

from __future__ import annotations

from iocast.model.results.shown import Number

# A percentile; two edges between which it lies where the source of an imported row knows no better,
# the second null where nothing bounds it.
Duration = Number | tuple[Number, Number | None] | None
# A cell of a chart, or of a table that a named experiment makes for its own question.
Value = str | bool | int | float | list[str | int | float | None] | None
