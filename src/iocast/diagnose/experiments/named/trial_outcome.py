"""Ruling: what a named experiment found, as a sentence and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from iocast.diagnose.experiments.design import judge
from iocast.diagnose.experiments.named.trial_rows import figures, tests
from iocast.errors import AnalysisError
from iocast.model.codes import VerdictCode
from iocast.model.experiment import Decision, Experiment, Outcome
from iocast.model.report import Column, Row, Table
from iocast.model.run import Run
from iocast.text import number


class Ruling(Struct, frozen=True, kw_only=True):
    """The verdict on the question of an experiment: `says` is its sentence with figures."""

    verdict: VerdictCode
    says: str
    table: Table


USUAL = (
    Column("test", "row"),
    Column("rounds", "rounds", "count", spare=2),
    Column("rate", "IOPS", "rate"),
    Column("moved", "MB/s", "bytes_per_s"),
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration", spare=1),
    Column("p95", "p95", "duration"),
    Column("p99", "p99", "duration"),
)

AT_THE_DEVICE = Column("device", "at the device", "share", "bytes moved by the device over bytes requested")


def usual_row(run: Run, test: str) -> Row | None:
    """The row of the usual table, None when the test has no result."""
    found = figures(run, test)
    if found is None:
        return None
    return Row(
        {
            "test": test,
            "rounds": found.rounds,
            "rate": found.rate_per_s,
            "moved": found.bytes_per_s,
            "mean": found.mean_ns,
            "p50": found.p50_ns,
            "p95": found.p95_ns,
            "p99": found.p99_ns,
        }
    )


def usual_table(run: Run, *notes: str) -> Table:
    """All tests of a run with their usual figures."""
    rows = [row for test in tests(run) if (row := usual_row(run, test)) is not None]
    return table_of(USUAL, rows, *notes)


def table_with_device(run: Run, shares: Mapping[str, float | None]) -> Table:
    """The same, with the share of each test's bytes that the device moved."""
    found = [(test, usual_row(run, test)) for test in tests(run)]
    rows = [with_cells(each, device=shares[test]) for test, each in found if each is not None]
    return table_of((*USUAL, AT_THE_DEVICE), rows)


def table_of(columns: tuple[Column, ...], rows: Iterable[Row], *notes: str) -> Table:
    """The table of an experiment."""
    return Table("", columns, tuple(rows), key="experiment", notes=notes)


def with_cells(row: Row, **cells: object) -> Row:
    """A row with more in it."""
    return replace(row, cells={**row.cells, **cells})


def times_as_fast(outcome: Outcome) -> str:
    """How many times as fast the other arm is, of an outcome about times: "275 times as fast"."""
    return f"{number(1 / outcome.ratio)} times as fast" if outcome.ratio else "faster"


def decided(run: Run, decision: Decision, if_confirmed: str = "", if_rejected: str = "") -> Outcome:
    """The outcome of a decision; undecided, with the reason, where an arm has no result."""
    experiment = Experiment(question="", arms=(), decision=decision, if_confirmed=if_confirmed, if_rejected=if_rejected)
    try:
        return judge(experiment, run)
    except AnalysisError as error:
        return Outcome(verdict="undecided", says=f"{error.message[:1].upper()}{error.message[1:]}.")
