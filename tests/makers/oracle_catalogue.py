"""The catalogue of Oracle's views: each column that iocast asks for, and the version that had it first."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from iocast.tools.oracle.oracle_statements import Version, version_of


class Catalogued(Struct, frozen=True):
    """One column. `known` says from where: documentation that was read, or memory, which a server may correct."""

    view: str  # without v$ and gv$
    column: str
    first: Version
    known: Literal["documented", "remembered"]


@cache
def catalogue() -> tuple[Catalogued, ...]:
    """All that is shipped."""
    text = Path(__file__).with_name("oracle_views.csv").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines()[1:]:
        view, columns, first, known = line.split(",")
        found += [
            Catalogued(view, column, version_of(first), "documented" if known == "documented" else "remembered")
            for column in columns.split()
        ]
    return tuple(found)


def columns_of(view: str, version: Version) -> frozenset[str]:
    """The columns that a view has in a version, inst_id of gv$ among them; empty where it has no such view."""
    found = {each.column for each in catalogue() if each.view == view and each.first <= version}
    return frozenset(found | {"inst_id"} if found else ())
