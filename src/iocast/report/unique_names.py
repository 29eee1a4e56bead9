"""Names that must differ, because files and marks in a page are called by them: what comes again gets a number."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count


def numbered(names: Iterable[str]) -> tuple[str, ...]:
    """The same names in their order; one that is taken becomes "name-2", "name-3"."""
    unique = list[str]()
    for name in names:
        unique.append(next(each for each in chain((name,), (f"{name}-{at}" for at in count(2))) if each not in unique))
    return tuple(unique)
