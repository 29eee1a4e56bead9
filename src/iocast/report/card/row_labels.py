"""How a card names the rows that something is true of."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.run import Run

_MANY = 4  # rows: fewer are named, even where they are most


def labels(run: Run, phases: Sequence[str]) -> tuple[str, ...]:
    """The names of these phases in the order of the run; that they are all, or all but a few."""
    return labels_among([record.phase.name for record in run.measured], phases)


def labels_among(rows: Sequence[str], some: Sequence[str]) -> tuple[str, ...]:
    """The names of some of these rows, in their order; that they are all, or all but a few."""
    known = tuple(each for each in rows if each in some)
    others = tuple(each for each in rows if each not in some)
    if not known or len(known) == len(rows) > 1:
        return ("all rows",)
    if len(known) >= _MANY and 2 * len(others) <= len(known):
        return (f"all but {others[0]}", *others[1:])
    return known
