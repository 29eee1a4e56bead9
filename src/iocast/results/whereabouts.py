"""Where the time of each row went becomes a result, with what the test itself needed of the processors."""

from __future__ import annotations

import math

from msgspec import Struct

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.time_breakdown import Whereabouts
from iocast.model.results.layers import TimeRow


class Cost(Struct, frozen=True):
    """Processor time of the test's whole process, kernel workers of its ring included, and its observers.

    `processors`: of the row's time, so that 1 is one processor all the time. `together`: the row ran at the same
    time as others, and the figures are those of all of them.
    """

    phase: str
    processors: float
    ns_per_io: float
    together: bool


def cost(row: RowFacts) -> Cost | None:
    """None where it is not known: of a simulated device, of another tool's run, of a row without I/Os."""
    did = row.seen_by_devices.measurement
    spent_ns = did.cpu_user_ns + did.cpu_system_ns
    if row.facts.simulated or row.facts.imported or not spent_ns or not did.ios or not did.elapsed_ns:
        return None
    return Cost(row.name, spent_ns / did.elapsed_ns, spent_ns / did.ios, did.cpu_phases > 1)


def whereabouts(facts: Facts) -> tuple[TimeRow, ...]:
    """One for each operation of a row whose requests were seen at the device."""
    return tuple(_row(each, cost(row)) for row in facts.rows for each in row.whereabouts)


def _row(each: Whereabouts, spent: Cost | None) -> TimeRow:
    return TimeRow(
        phase=each.phase,
        op=each.op,
        response_ns=each.response_ns,
        unsent_ns=each.unsent_ns,
        system_ns=each.system_ns,
        queue_ns=each.queue_ns,
        device_ns=each.device_ns,
        queue_p99_ns=None if math.isnan(each.queue_p99_ns) else each.queue_p99_ns,
        device_p99_ns=each.device_p99_ns,
        generator_share=spent.processors if spent else None,
        cpu_per_io_ns=spent.ns_per_io if spent else None,
        requests=each.requests,
        watched_share=each.watched_share,
        size_ratio=each.size_ratio,
        lost_events=each.lost_events,
        inexact=each.inexact,
        devices=each.devices,
    )
