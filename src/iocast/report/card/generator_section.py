"""What the load generator itself needed of the machine: processor time of each row, and a sentence on the most."""

from __future__ import annotations

from msgspec import Struct

from iocast import text
from iocast.analyse.facts import Facts, RowFacts


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


def sentence(facts: Facts) -> str:
    """The least and the most of all rows, "" where nothing is known."""
    known = [found for row in facts.rows if (found := cost(row))]
    if not known:
        return ""
    least, most = min(each.processors for each in known), max(known, key=lambda each: each.processors)
    spread = f"{text.percent(least)} to " if text.percent(least) != text.percent(most.processors) else ""
    where = f", most on {most.phase}" if len(known) > 1 else ""
    each = f"{text.brief_time(most.ns_per_io)} per I/O"
    return f"Load generation used {spread}{text.percent(most.processors)} of one CPU{where}: {each}."
