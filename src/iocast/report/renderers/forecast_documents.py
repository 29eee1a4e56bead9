"""The tables of JSON documents about laws."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.results.shown import Value


class ModelTable(Struct, kw_only=True, forbid_unknown_fields=True):
    """A table of a law. `cells` are its rows: each law has columns of its own, their units at the ends of the keys.
    `document` is what the source prints where that is known.
    """

    key: str
    title: str
    cells: list[dict[str, Value]]
    notes: list[str] = []
