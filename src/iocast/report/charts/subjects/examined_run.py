"""A run with what an examination says of it, as charts of a whole run are made of it."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.finding import Examination
from iocast.model.run import Run


class ExaminedRun(Struct, frozen=True):
    """A run and its examination."""

    run: Run
    examination: Examination
