"""The component of trust that asks what many hosts at once can spoil: one that is not to be believed, that was lost,
that began late; a sum that the devices of all did not see."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import RowFacts
from iocast.analyse.load_kind import really_direct
from iocast.diagnose import thresholds as limits
from iocast.model.codes import TrustCode
from iocast.model.finding import GRADES, Grade, TrustComponent
from iocast.model.hosts import HostPart, HostRow
from iocast.text import brief_percent, brief_time, counted

CODE: TrustCode = "hosts"


def host_parts(row: RowFacts) -> TrustComponent:
    """The worst of what is to be said of the hosts of a row."""
    parts = row.run.hosts[: row.record.phase.hosts or len(row.run.hosts)]
    did = [(part, one) for part in parts if (one := part.row(row.name)) is not None]
    every = list(_components(row, parts, did))
    return min(every, key=lambda part: -GRADES.index(part.grade), default=TrustComponent(CODE, "A", "all hosts agree"))


def _components(
    row: RowFacts, parts: tuple[HostPart, ...], did: list[tuple[HostPart, HostRow]]
) -> Iterator[TrustComponent]:
    if len(did) < len(parts):
        lost = [part.name for part in parts if part.row(row.name) is None]
        clause = f"only {len(did)} of {len(parts)} hosts measured it: {', '.join(lost)} did not"
        yield TrustComponent(CODE, "D", clause, {"hosts": len(did), "of": len(parts)})
    for letter in reversed(GRADES):
        alike = [(part, one) for part, one in did if one.trust == letter]
        if alike:
            part, one = alike[0]
            more = f" (and {counted(len(alike) - 1, 'more host')})" if len(alike) > 1 else ""
            yield TrustComponent(CODE, letter, f"host {part.name} alone is {letter}{more}: {_clause(one.reason)}")
            break
    outside, ios = sum(one.outside_ios for _, one in did), max(1, row.measurement.ios)
    if outside:
        share = outside / (outside + ios)
        clause = f"{brief_percent(share)} of the I/Os lie outside the time in which all hosts ran, and are left out"
        yield TrustComponent(CODE, limits.OUTSIDE_WINDOW.grade(share), clause, {"outside": outside})
    elif did:
        late_ns = max(one.started_ns for _, one in did)
        share = late_ns / max(1, row.measurement.elapsed_ns)
        clause = f"the hosts began {brief_time(late_ns)} apart, {brief_percent(share)} of the row"
        yield TrustComponent(CODE, limits.STARTS_APART.grade(share), clause, {"apart_ns": late_ns})
    yield from _against_devices(row)


def _clause(reason: str) -> str:
    """A whole sentence, fit to follow a colon."""
    first = reason.partition(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:] if first[1:2].islower() else first


def _against_devices(row: RowFacts) -> Iterator[TrustComponent]:
    """The bytes that the hosts count against those of the devices of all hosts."""
    device, ours = row.under_filesystem, row.measurement.bytes
    if device is None or not row.only_reads or not really_direct(row.run, row.record) or not ours:
        return
    theirs = (device.read_bytes or 0) + (device.written_bytes or 0)
    off = theirs / ours - 1
    if abs(off) > limits.HOSTS_AGAINST_DEVICES.a:
        more = "more" if off > 0 else "less"
        clause = f"the devices of all hosts moved {brief_percent(abs(off))} {more} than the hosts count"
        letter: Grade = limits.HOSTS_AGAINST_DEVICES.grade(abs(off))
        yield TrustComponent(CODE, letter, clause, {"ratio": theirs / ours})
