"""A run with what an examination says of it, as charts of a whole run are made of it."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.model.finding import Examination


class ExaminedRun(Struct, frozen=True):
    """The facts of a run and its examination."""

    facts: Facts
    examination: Examination
