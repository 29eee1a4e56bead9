"""A link, not the storage behind it, limits the throughput.

What it is: a full cable or network between this machine and the storage: Ethernet, Fibre Channel, SAS, PCIe.
Why it matters: the row measures the link. Faster storage changes nothing; a second path doubles the throughput.
How it shows: rows of different I/O sizes, operations or loads reach the same throughput, 90 to 101% of what the link
carries; where the kernel does not report the link, within 2% of what a known kind of link carries. One row alone is
enough where the link is known; on a network file system, and in an import that names no device, if it is within 1% of
what a kind of link carries.
How to confirm: half the I/O size gives the same throughput; where the link was only guessed, reads and writes together
move more than either alone, because a link carries both directions and a device shares its bandwidth.
What to change: report the row as link-bound; add paths, or use a faster link.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose import thresholds as limits
from iocast.diagnose.detectors.limits.round_trip import over_a_network
from iocast.diagnose.evidence import row_of
from iocast.diagnose.limits.links import links_of
from iocast.diagnose.preconditions import ALONE, MEASURED_HERE, Only, applies, rows_for
from iocast.diagnose.same_load import same_place
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, MixItem, Workload
from iocast.text import brief_percent, brief_throughput, capacity, counted, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ALONE,)

CODE: FindingCode = "link_limit"
GUESSED_LOW = 0.98  # of a link that is not known: other limits lie everywhere [J]
LONE = (0.99, 1.005)  # of the same, of one row alone [J]
DEPTH = 16
# MB/s of payload: TCP over Ethernet by (mtu-52)/(mtu+38), serial links by line rate x code (the vectors `link.*`).
KNOWN: dict[str, float] = {
    "gigabit Ethernet": 117.7,
    "gigabit Ethernet with 9,000-byte frames": 123.8,
    "10-gigabit Ethernet": 1176.9,
    "10-gigabit Ethernet with 9,000-byte frames": 1237.6,
    "25-gigabit Ethernet": 2942.1,
    "8 Gb/s Fibre Channel": 850.0,
    "16 Gb/s Fibre Channel": 1700.0,
}

# The same links for a row alone, in MB/s: Ethernet carries more with larger frames.
CARRIES: dict[str, tuple[float, float]] = {
    "gigabit Ethernet": (117.7, 123.8),
    "10-gigabit Ethernet": (1176.9, 1237.6),
    "25-gigabit Ethernet": (2942.1, 3093.9),
    "8 Gb/s Fibre Channel": (850.0, 850.0),
    "16 Gb/s Fibre Channel": (1700.0, 1700.0),
}


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that reach the same throughput near that of a link, or one that fills it alone."""
    target = facts.run.plan.target
    links = links_of(target)
    rows = [row.record for row in rows_for(facts, ONLY) if _bytes_per_s(row.record) and _one_way(row.record)]
    if links is not None:
        name = "its link" if len(links.speeds) == 1 else f"its {len(links.speeds)} paths"
        yield from _plateau(rows, float(links.bytes_per_s), limits.LINK_FULL, name, links.words)
    elif not any(layer.link_bytes_per_s for layer in target.layers):
        limited = [
            each
            for name, speed in KNOWN.items()
            for each in _plateau(rows, speed * 1e6, GUESSED_LOW, name, f"{name} carries")
        ]
        remote = not target.layers and (not applies(facts, (MEASURED_HERE,)) or over_a_network(target))
        yield from limited or (_alone(rows) if remote else [])


def _bytes_per_s(row: PhaseRecord) -> float:
    """Its throughput; nought where an import does not state it."""
    return row.bytes_per_s or 0.0


def _one_way(row: PhaseRecord) -> bool:
    """Of one operation that moves data: a link carries both ways together, and a trim takes none of it."""
    return len(row.phase.workload.mix) == 1 and not row.phase.workload.trims


def _plateau(rows: list[PhaseRecord], speed: float, low: float, link: str, carries: str) -> Iterator[Finding]:
    full = [row for row in rows if low <= _bytes_per_s(row) / speed <= limits.LINK_AT_MOST]
    kinds = {(item.op, item.size_bytes) for row in full for item in row.phase.workload.mix}
    beyond = any(_bytes_per_s(row) > limits.LINK_AT_MOST * speed for row in rows)
    # Of one kind of I/O it takes two loads, or a link that is known: more outstanding brought no more bytes.
    loads = {(row.plan.users, row.plan.depth) for row in full}
    guessed = low == GUESSED_LOW
    if not full or beyond or (guessed and len(kinds) < 2 and len(loads) < 2):
        return
    most = max(_bytes_per_s(row) for row in full)
    which = (
        f"{len(full)} rows of {counted(len(kinds), 'kind')} of I/O level off at the same" if full[1:] else "It moves"
    )
    says = f"{which} {brief_throughput(most)}, {brief_percent(most / speed)} of what {carries}."
    for row in reversed(full):  # the last is the one to test
        yield _finding(row, most, speed, link, says, len(full), guessed=guessed)


def _alone(rows: list[PhaseRecord]) -> Iterator[Finding]:
    """The fastest row, where it is as fast as a kind of link."""
    if not rows:
        return
    fastest = max(rows, key=_bytes_per_s)
    most = _bytes_per_s(fastest)
    for link, (least, top) in CARRIES.items():
        if LONE[0] * least * 1e6 <= most <= LONE[1] * top * 1e6:
            frames = f", up to {number(round(top))} MB/s with larger frames" if top > least else ""
            carries = f"{number(round(least))} MB/s{frames}"
            says = f"{number(round(most / 1e6))} MB/s is as much as {link} carries ({carries})."
            yield _finding(fastest, most, least * 1e6, link, says, 1, guessed=True)


def _finding(row: PhaseRecord, most: float, speed: float, link: str, says: str, rows: int, *, guessed: bool) -> Finding:
    these = "these rows" if rows > 1 else "the row"
    return Finding(
        code=CODE,
        severity="note",
        phase=row.phase.name,
        says=says,
        evidence={"bytes_per_s": most, "link_bytes_per_s": speed, "rows": rows, "guessed": float(guessed)},
        remedy=f"Check the speed of the link: if it is full, report {these} as link-bound, and add paths.",
        confirmed_remedy=f"Report {these} as link-bound; add paths or use a faster link.",
        hypothesis=f"{link} {'are' if link.endswith('paths') else 'is'} full",
        confidence=0.6 if rows > 1 or not guessed else 0.4,
        confirm="half the I/O size gives the same throughput; a second path doubles it",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The size of the row and half of it; and both directions together where the link was guessed."""
    record = row_of(run, finding)
    item = record.phase.workload.mix[0]
    half = item.size_bytes // 2
    if half < 4096:
        return None
    place = same_place(record)

    def arm(name: str, op: str, size: int, **more: bool) -> Arm:
        load = Workload(
            mix=(MixItem(op, size),),  # type: ignore[arg-type]
            locality=record.phase.workload.locality,
            arrival=Closed(),
            depth=DEPTH,
            direct=record.phase.workload.direct,
        )
        return Arm(name=name, workload=load, **place, **more)  # type: ignore[arg-type]

    whole = f"{item.op}s of {capacity(item.size_bytes)}"
    halved = f"{item.op}s of {capacity(half)}"
    experiment = Experiment(
        question="Is the throughput the same at half the I/O size?",
        arms=(arm(whole, item.op, item.size_bytes), arm(halved, item.op, half)),
        decision=Decision(statistic="bytes_per_s", first=whole, other=halved, limit=1.05, direction="same"),
        if_confirmed="Link-bound: only bytes count, whatever the I/O size.",
        if_rejected="Not link-bound.",
    )
    if not finding.evidence["guessed"]:
        return experiment
    other = "write" if item.op == "read" else "read"
    beside = f"{item.op}s during {other}s"
    both = (
        arm(f"{other}s during {item.op}s", other, item.size_bytes, together=True),
        arm(beside, item.op, item.size_bytes),
    )
    kept = Decision(statistic="bytes_per_s", first=whole, other=beside, limit=0.8, direction="above")
    return replace(experiment, arms=(*experiment.arms, *both), also=(kept,))
