"""The table of a report card: one row a measured phase, with a part row for each operation of a mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.model.report import LATENCY_EDGES_NS, Table
from iocast.model.results.card import MeasuredRow
from iocast.model.run import PhaseRecord, Run
from iocast.report.card import device_rates
from iocast.report.result_tables import filled, result_table
from iocast.results.measured_rows import COMMIT

STRIP_NOTE = (
    "histogram: response times, one mark per range up to "
    + ", ".join(text.brief_time(edge) for edge in LATENCY_EDGES_NS)
    + " and above; a taller mark is a larger share of the I/Os."
)
BLANK_NOTE = "A percentile is blank where fewer than ten I/Os lie beyond it."
SINGLE_NOTE = "Single run, warm-up included: repeatability is not judged."
IMPORTED_NOTE = "Single run of another tool: steadiness and repeatability are not judged."
UNSTATED_NOTE = "A percentile is blank where the source does not state it, or fewer than ten I/Os lie beyond it."
COARSE_NOTE = (
    "A range gives the edges of the source's bucket that holds the percentile; in the histogram, a bucket that extends"
    " beyond a mark counts at the next one."
)
OPEN_NOTE = (
    "Response time counts from the moment an I/O was due; service time, in the service rows, from its submission."
)

COMMIT_NOTE = "commit: from the write to the end of the sync that makes it durable."
# A phase that ends this much before those that ran concurrently with it is worth a word. [J]
ENDED_EARLY = 0.95


def results(facts: Facts, rows: Sequence[MeasuredRow]) -> Table:
    """The table of all measured phases."""
    leave = () if any(map(device_rates.differs, rows)) else ("device_rate_per_s",)
    headings = {"rate_per_s": "ops/s"} if facts.run.plan.tree else {}
    notes = (*_notes(facts.run, rows), *device_rates.notes(facts, rows)) if rows else ()
    words: dict[str, Callable[[MeasuredRow], str]] = {"test": _name_by(rows), "": _asked_text(facts)}
    return filled(result_table(MeasuredRow, rows, key="rows", headings=headings, words=words, leave=leave, notes=notes))


def _name_by(rows: Sequence[MeasuredRow]) -> Callable[[MeasuredRow], str]:
    """The name that each row is shown by: its test, or all of its name where tests of one load are the same, or of a
    load that is not known: the files of a trace."""

    def key(row: MeasuredRow) -> tuple[object, ...]:
        return (row.test, row.users, row.depth, row.size_bytes) if row.users is not None else (row.test,)

    shown = Counter(key(row) for row in rows if not row.part)
    return lambda row: row.phase if shown[key(row)] > 1 and not row.part else row.test


def _asked_text(facts: Facts) -> Callable[[MeasuredRow], str]:
    """Below a row of an open loop: the rate that it was to have, and what that counts."""
    by_name = {row.name: row for row in facts.rows}

    def says(row: MeasuredRow) -> str:
        if not row.asked_rate_per_s:
            return ""
        of = by_name.get(row.phase)
        unit, came = "IOPS", row.rate_per_s
        if of is not None and of.paced_unit != unit:
            unit, came = of.paced_unit, of.paced_rate_per_s
        load = of.workload if of is not None else None
        syncs = f"; {load.fsync_op} after every {load.fsync_every} writes" if load and load.fsync_every > 1 else ""
        achieved = "" if came is None else f", {text.rate(came)} achieved"
        return f"{text.rate(row.asked_rate_per_s)} {unit} requested{achieved}{syncs}"

    return says


def _percentiles(row: MeasuredRow) -> tuple[object, ...]:
    return (row.response_p50_ns, row.response_p95_ns, row.response_p99_ns, row.response_p99_9_ns)


def _notes(run: Run, rows: Sequence[MeasuredRow]) -> Iterator[str]:
    if any(row.latency_shares for row in rows):
        yield STRIP_NOTE
    if any(isinstance(each, tuple) for row in rows for each in _percentiles(row)):
        yield COARSE_NOTE
    if any(row.response_max_ns is not None and None in _percentiles(row) for row in rows):
        yield UNSTATED_NOTE if run.source else BLANK_NOTE
    if any(row.clock == "service" for row in rows):
        yield OPEN_NOTE
    if any(row.test == COMMIT and row.part for row in rows):
        yield COMMIT_NOTE
    groups = {id(group[0]): group for group in map(run.beside, run.measured) if len(group) > 1}
    yield from dict.fromkeys(map(_together_note, groups.values()))
    yield from run.source.notes if run.source else ()
    if rows:
        yield IMPORTED_NOTE if run.source else SINGLE_NOTE


def _together_note(group: tuple[PhaseRecord, ...]) -> str:
    """Which rows ran concurrently, and which of them ended before the others."""
    longest_ns = max(each.measurement.elapsed_ns for each in group)
    early = [each for each in group if each.measurement.elapsed_ns < ENDED_EARLY * longest_ns]
    said = f"{', '.join(each.phase.name for each in group)} ran concurrently (combined: their sum)."
    for each in early:
        said += f" {each.phase.name} ended after {text.brief_time(each.measurement.elapsed_ns)}."
    return said
