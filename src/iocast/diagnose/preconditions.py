"""Preconditions of opinions: what a run and its rows must be before a detector may say anything of them.

A detector declares ONLY, of these, and takes the rows that meet them all; what a part of it asks for beyond that stands
in a tuple of its own. None of them is spelled elsewhere among the detectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve
from iocast.analyse.load_kind import is_synced
from iocast.analyse.standstills import stood_still
from iocast.analyse.states import apart
from iocast.diagnose.evidence import waited_for_a_processor
from iocast.diagnose.limits.own_group import limits_reached
from iocast.model.workload import Closed


class Precondition(NamedTuple):
    """One of them, as it is said of rows; that of a whole run is asked of the run as well."""

    says: str
    of_row: Callable[[RowFacts], bool]
    of_run: Callable[[Facts], bool] | None = None


Only = tuple[Precondition, ...]


def _of_runs(says: str, of_run: Callable[[Facts], bool]) -> Precondition:
    return Precondition(says, lambda row: of_run(row.facts), of_run)


MEASURED_HERE = _of_runs("measured by iocast", lambda facts: not facts.imported)
REAL_DEVICE = _of_runs("of real devices", lambda facts: not facts.simulated)
NEW_FILES = _of_runs("of files that were not written in full before", lambda facts: not facts.run.files_whole)
CLOSED_LOOP = Precondition("in a closed loop", lambda row: not row.is_open_loop)
NO_PAUSES = Precondition("in a closed loop without pauses", lambda row: row.workload.arrival == Closed())
ALONE = Precondition("that ran alone", lambda row: not row.record.phase.together)
PAST_THE_HOST = Precondition("past the page cache", lambda row: row.is_past_the_host)
DIRECT = Precondition("with direct I/O", lambda row: row.is_really_direct)
NOT_SHORT_OF_CPU = Precondition("not short of CPU", lambda row: not waited_for_a_processor(row))
NEVER_STILL = Precondition("without a stall", lambda row: not stood_still(row))
ONE_STATE = Precondition("of one state of the storage", lambda row: row.name not in apart(row.facts))
ONLY_READS = Precondition("of reads", lambda row: row.only_reads)
ONLY_WRITES = Precondition("of writes", lambda row: row.only_writes)
NOT_DURABLE = Precondition("whose writes do not wait until they are durable", lambda row: not is_synced(row.record))
NO_DATABASE = Precondition("of no database", lambda row: row.record.phase.database is None)
UNDER_NO_LIMIT = Precondition(
    "that reached no I/O limit of the test's control group", lambda row: not limits_reached(row)
)


def at_least(ios: int) -> Precondition:
    """So many I/Os completed."""
    return Precondition(f"of at least {ios} I/Os", lambda row: row.measurement.ios >= ios)


SOME_IOS = Precondition("with I/Os", lambda row: row.measurement.ios > 0)
ENOUGH_TO_COMPARE = at_least(50)  # of which a mean and a median are known well enough [J]


def meets(row: RowFacts, *only: Precondition) -> bool:
    """Whether a row meets all of these."""
    return all(each.of_row(row) for each in only)


def applies(facts: Facts, only: Only) -> bool:
    """Whether a run meets those of these that are of whole runs."""
    return all(each.of_run is None or each.of_run(facts) for each in only)


def rows_for(facts: Facts, only: Only) -> tuple[RowFacts, ...]:
    """The measured rows that meet all of these."""
    return tuple(row for row in facts.rows if meets(row, *only))


def pairs_for(facts: Facts, only: Only, but: str = "") -> Iterator[tuple[RowFacts, RowFacts]]:
    """Rows that meet all of these and are alike in all but the field `but`, the earlier first."""
    return (pair for pair in facts.pairs(but) if all(meets(row, *only) for row in pair))


def curve_for(facts: Facts, curve: Curve, only: Only) -> Curve | None:
    """What is left of a curve of the rows that meet all of these; None where none does."""
    return curve.only(lambda record: meets(facts.row(record), *only))
