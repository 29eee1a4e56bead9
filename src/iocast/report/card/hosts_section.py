"""The section of a card that sets the hosts of a run beside each other: who did how much, who was slow, how fair."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from iocast.analyse.fairness import jain_index
from iocast.diagnose.thresholds import DOUBLING_GAINS
from iocast.model.hosts import HostRow
from iocast.model.report import Section
from iocast.model.results.card import HostShareRow
from iocast.model.run import Run
from iocast.model.workload import Closed, Workload
from iocast.report import wording
from iocast.report.result_tables import result_table
from iocast.text import brief_percent, brief_time, counted, rate

SLOWER = 0.10  # [J] than the median host: below it hosts differ as disks of one kind do
SLOWER_ONCE = 0.25  # [J] in the only row of several hosts: storage that they share does not serve all alike


def section(run: Run, rows: Sequence[HostShareRow]) -> Section | None:
    """None for a run of one host."""
    if not run.hosts:
        return None
    nowhere = () if any(row.outside_ios for row in rows) else ("outside_ios",)
    table = result_table(HostShareRow, rows, key="hosts", leave=nowhere)
    return wording.section("hosts", tuple(_says(run)), (table,))


def _says(run: Run) -> Iterator[str]:
    names, lost = len(run.hosts), [part for part in run.hosts if part.lost]
    for part in lost:
        yield f"{part.name} was lost: {part.lost.rstrip('.')}. Rows that it did not end are those of the other hosts."
    fair = [(record.phase.name, index) for record in run.measured if (index := _fairness(run, record.phase.name))]
    if fair:
        name, least = min(fair, key=lambda each: each[1])
        where = "" if len(fair) == 1 else f" at least, in {name}"
        yield f"{counted(names, 'host')} shared the load with a fairness (Jain) of {least:.2f}{where}."
    yield from _slow_hosts(run)
    yield from _ramps(run)
    apart = [row.started_ns for part in run.hosts for row in part.rows]
    if apart:
        known = max(part.clock_error_ns for part in run.hosts)
        clocks = f"; their clocks are known to ±{brief_time(known)}" if known else ""
        yield f"They began each row at most {brief_time(max(apart))} apart{clocks}."
    yield "Each host's own card: iocast report RUN/hosts/NAME."


def _rows(run: Run, phase: str) -> list[tuple[str, HostRow]]:
    return [(part.name, row) for part in run.hosts if (row := part.row(phase)) is not None]


def _fairness(run: Run, phase: str) -> float | None:
    """None for a row of one host, which shares with nobody."""
    rows = _rows(run, phase)
    return jain_index([row.ios_per_s for _, row in rows]) if len(rows) > 1 else None


def _slow_hosts(run: Run) -> Iterator[str]:
    """Hosts that did clearly less than the median one in most of their rows: in one it may be chance."""
    beside: Counter[str] = Counter()
    behind: dict[str, list[tuple[float, str, float, float]]] = {}
    for record in run.measured:
        rows = _rows(run, record.phase.name)
        if len(rows) < 2:
            continue
        beside.update(name for name, _ in rows)
        for name, row in rows:
            median = statistics.median(other.ios_per_s for whose, other in rows if whose != name)
            if median and row.ios_per_s < (1 - SLOWER) * median:
                less = 1 - row.ios_per_s / median
                behind.setdefault(name, []).append((less, record.phase.name, row.ios_per_s, median))
    for name, slower in sorted(behind.items(), key=lambda item: -max(item[1])[0]):
        less, phase, own, others = max(slower)
        if 2 * len(slower) <= beside[name] or (beside[name] == 1 and less < SLOWER_ONCE):
            continue
        many = f" (and less in {counted(len(slower) - 1, 'more row')})" if len(slower) > 1 else ""
        yield (
            f"{name} did {brief_percent(less)} less than the others: {rate(own)} IOPS where their median is"
            f" {rate(others)}, in {phase}{many}."
        )


def _ramps(run: Run) -> Iterator[str]:
    """From how many hosts on the sum no longer grows, for each row that was made by several numbers of them."""
    rows: dict[tuple[str, Workload], list[tuple[int, float]]] = {}
    for record in run.measured:
        if record.phase.hosts is not None:
            load = replace(record.phase.workload, users=1, arrival=Closed())
            rows.setdefault((record.phase.test, load), []).append((record.phase.hosts, record.measurement.iops))
    for (test, _), points in rows.items():
        if len(points) > 1:
            yield f"{test}: {_grows(sorted(points))}."


def _grows(points: Sequence[tuple[int, float]]) -> str:
    said = ", ".join(f"{rate(value)} IOPS with {counted(count, 'host')}" for count, value in points)
    for (count, value), (more, higher) in itertools.pairwise(points):
        doublings = math.log2(more / count)
        if value and (higher / value) ** (1 / doublings) < DOUBLING_GAINS:
            return f"what the hosts share is the limit from {counted(count, 'host')} on ({said})"
    return f"the sum grows with every host ({said})"
