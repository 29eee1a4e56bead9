"""How a card names the rows that something is true of."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.run import Run


def labels(run: Run, phases: Sequence[str]) -> tuple[str, ...]:
    """The names of these phases in the order of the run, or that they are all."""
    measured = [record.phase.name for record in run.measured]
    known = tuple(each for each in measured if each in phases)
    return ("all rows",) if not known or len(known) == len(measured) > 1 else known
