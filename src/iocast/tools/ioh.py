"""What ioh.sh printed, or its ioh.out: I/O, file system and NFS of a file server, layer by layer, as a tape.

What it is: the screens of ioh.sh one after another, each under its date, or the table alone as its README has it; or
the raw lines that it writes to ioh.out, where a cycle ends with "!".
What is read: MB/s, mean, size and count of each layer, and TCP with its retransmissions. `iocast watch ioh --tape FILE`
prints them again with the answers to its three questions: is the storage slow, do network or client lose time, does
the file system.
What it cannot see: histograms, sizes and files, which are left out; how long a cycle was where there is one alone: a
second is taken, of which the figures are.
What is refused: a file without a whole table; times that go back; figures that are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Run, Sample, Source, Tape
from iocast.model.workload import Closed
from iocast.text import counted
from iocast.tools.foreign_numbers import moment_ns, number, whole
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, Row, run

_TOOL = "ioh.sh"
_MIB: Final = 1 << 20
_HEAD = re.compile(r"[ |]{0,40}MB/s *\| *avg_ms *\| *avg_sz_kb *(?:\| *count *)?!?$")
_DATE = re.compile(r"date: (\d{1,12}) ,")
_TCP = re.compile(
    r"TCP {1,8}out: {0,20}([\d.]{1,20}) MB/s, in: {0,20}([\d.]{1,20}) MB/s(?:, retrans: {0,20}([\d.]{1,20}))?"
)
_LAYER = re.compile(r"([RWC]) {0,8}\| {0,12}([A-Za-z_]{1,12}) {0,4}:\|?([^:]{1,200})$")
_RAW = re.compile(r"(io|zfs[01]|nfs[012])_(ct|sz|tm),([RWC]),(\d{1,20})$")
_RAW_TCP: Final = {
    "tcpOutDataBytes": metrics.TX_BYTES,
    "tcpInDataInorderBytes": metrics.RX_BYTES,
    "tcpInDataUnorderBytes": metrics.RX_BYTES,
    "tcpRetransBytes": metrics.RETRANSMITTED_BYTES,
}
_RAW_NAMES: Final = {"zfs0": "zfs", "zfs1": "zfssync", "nfs0": "nfs", "nfs1": "nfssyncD", "nfs2": "nfssyncF"}
_RAW_METRICS: Final = {"ct": metrics.COUNT, "sz": metrics.BYTES, "tm": metrics.SUM_NS}
_UNSEEN = Blind(metrics.IOH, "histograms, sizes and files of ioh.sh are not read")

_NO_DATE: Final = "no date stands above the table: times count from 1970"

Counts = dict[str, dict[str, float]]  # "R|zfs" → what it did in a second; "tcp" → its bytes


class _Cycle(Struct):
    """What one screen says. `at_s` since 1970; 0 where no date stands above it."""

    line: int
    at_s: int = 0
    counts: Counts = {}


def sniff(head: Head) -> bool:
    """The heads of its table, or a line of its raw figures."""
    return any(_HEAD.match(line.rstrip()) or _RAW.match(line.replace(" ", "")) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """A tape of all cycles. Raises SourceError."""
    cycles = [(path, cycle) for path in paths for cycle in _cycles(path, read_text(path))]
    cycles.sort(key=lambda each: each[1].at_s)
    gaps = [after.at_s - before.at_s for (_, before), (_, after) in pairwise(cycles)]
    for (path, cycle), gap in zip(cycles[1:], gaps, strict=True):
        if gap <= 0:
            raise refuse(path, cycle.line, "its date is not after that of the table before it")
    every_s = round(median(gaps)) if gaps else 1
    dated = cycles[0][1].at_s > every_s
    if not dated:
        cycles[0][1].at_s = 2 * every_s
    moments = tuple(_moments([cycle for _, cycle in cycles], every_s))
    row = Row(
        name=counted(len(cycles), "cycle"),
        test="watch",
        ops=(),
        elapsed_ns=moments[-1].time_ns - moments[0].time_ns,
        arrival=Closed(),
        started_unix_ns=moments[0].time_ns,
        samples=tuple(sample for moment in moments for sample in moment.samples),
        role="probe",
    )
    warnings = () if dated else (f"{cycles[0][0]}: {_NO_DATE}",)
    tape = run(Source(tool=_TOOL, files=paths), [row], warnings=warnings)
    return replace(
        tape,
        plan=replace(tape.plan, target=replace(tape.plan.target, path=_TOOL)),
        tape=Tape(interval_ns=every_s * SECOND_NS, sources=(_TOOL,)),
        blind=(_UNSEEN,),
    )


def _moments(cycles: list[_Cycle], every_s: int) -> Iterator[Moment]:
    """Counters that grow by what each cycle did, from a moment before the first one."""
    began_s = cycles[0].at_s - every_s
    totals: Counts = {}
    yield _moment(
        began_s, {subject: dict.fromkeys(did, 0.0) for each in cycles for subject, did in each.counts.items()}, 0
    )
    for at, cycle in enumerate(cycles, 1):
        length_s = cycle.at_s - (cycles[at - 2].at_s if at > 1 else began_s)
        for subject, did in cycle.counts.items():
            before = totals.setdefault(subject, {})
            for metric, per_s in did.items():
                before[metric] = before.get(metric, 0.0) + per_s * length_s
        yield _moment(cycle.at_s, totals, at)


def _moment(at_s: int, counts: Counts, number_of_it: int) -> Moment:
    at_ns = moment_ns(at_s)
    samples = [
        Sample(at_ns, metrics.IOH, subject, metric, value)
        for subject, counters in counts.items()
        for metric, value in counters.items()
    ]
    return moment_of(at_ns, samples, number_of_it)


def _cycles(path: str, text: str) -> list[_Cycle]:
    raw = any(_RAW.match(line.replace(" ", "")) for line in text.splitlines()[:2000])
    cycles = [each for each in (_raw if raw else _printed)(path, text) if each.counts]
    if not cycles:
        raise refuse(path, 0, "it has no whole table of ioh.sh")
    return cycles


def _printed(path: str, text: str) -> Iterator[_Cycle]:
    """Screens: a cycle begins with its date, or with the heads of a table where none stands above."""
    cycle = _Cycle(1)
    for at, line in enumerate((each.strip().removesuffix("!").rstrip() for each in text.splitlines()), 1):
        if match := _DATE.match(line):
            yield cycle
            cycle = _Cycle(at, whole(path, at, match[1], "a date"), {})
        elif (match := _TCP.match(line)) and not cycle.counts:
            cycle.counts["tcp"] = {
                metric: number(path, at, value, "TCP") * _MIB
                for metric, value in zip(
                    (metrics.TX_BYTES, metrics.RX_BYTES, metrics.RETRANSMITTED_BYTES), match.groups(), strict=True
                )
                if value is not None
            }
        elif (match := _LAYER.match(line)) and (figures := _figures(path, at, match[3])):
            cycle.counts[f"{match[1]}{metrics.PART}{match[2]}"] = figures
    yield cycle


def _figures(path: str, line: int, cells: str) -> dict[str, float]:
    """Of MB/s, mean ms, mean kB and, where it stands there, the count; nothing for a layer that did nothing."""
    values = [cell.strip() for cell in cells.split("|")] if "|" in cells else cells.split()
    if len(values) not in (3, 4) or not all(values[:3]):
        return {}
    throughput, mean_ms, size_kb = (number(path, line, value, "a figure") for value in values[:3])
    moved = throughput * _MIB
    count = (
        number(path, line, values[3], "a count") if len(values) == 4 else moved / (size_kb * 1024) if size_kb else 0.0
    )
    return (
        {metrics.COUNT: count, metrics.SUM_NS: count * mean_ms * 1e6, metrics.BYTES: count * size_kb * 1024}
        if count
        else {}
    )


def _raw(path: str, text: str) -> Iterator[_Cycle]:
    """Lines of ioh.out, per second already: times are microseconds."""
    cycle = _Cycle(1)
    for at, line in enumerate((each.replace(" ", "").strip() for each in text.splitlines()), 1):
        if line == "!":
            yield cycle
            cycle = _Cycle(at + 1, 0, {})
        elif line.startswith("date,"):
            cycle.at_s = whole(path, at, line[5:], "a date") // SECOND_NS
        elif match := _RAW.match(line):
            subject = f"{match[3]}{metrics.PART}{_layer(match[1], match[3])}"
            factor = 1000.0 if match[2] == "tm" else 1.0
            figure = whole(path, at, match[4], "a figure") * factor
            cycle.counts.setdefault(subject, {})[_RAW_METRICS[match[2]]] = figure
        elif line.startswith("tcp,") and len(parts := line.split(",")) == 3 and parts[1] in _RAW_TCP:
            of_tcp = cycle.counts.setdefault("tcp", {})
            of_tcp[_RAW_TCP[parts[1]]] = of_tcp.get(_RAW_TCP[parts[1]], 0.0) + whole(path, at, parts[2], "TCP")


def _layer(name: str, direction: str) -> str:
    return "nfs_c" if name.startswith("nfs") and direction == "C" else _RAW_NAMES.get(name, name)
