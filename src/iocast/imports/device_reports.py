"""What iostat and sar mean by their columns, and how reports become samples: by name, never by place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from iocast.imports.source_files import LARGEST_NUMBER, refuse
from iocast.imports.stated_rows import Row
from iocast.model.run import Host, Sample
from iocast.model.workload import Closed

KIB, MIB, SECTOR = 1024, 1 << 20, 512
MS_NS = 1_000_000

# Column -> (metric, factor). Their kB and MB are of 1024; a column with 0 is known, and left out.
COLUMNS: Mapping[str, tuple[str, float]] = {
    "tps": ("ios_per_s", 1),
    "r/s": ("reads_per_s", 1),
    "w/s": ("writes_per_s", 1),
    "d/s": ("discards_per_s", 1),
    "f/s": ("flushes_per_s", 1),
    "rtps": ("reads_per_s", 1),
    "wtps": ("writes_per_s", 1),
    "dtps": ("discards_per_s", 1),
    "rrqm/s": ("read_merges_per_s", 1),
    "wrqm/s": ("write_merges_per_s", 1),
    "drqm/s": ("discard_merges_per_s", 1),
    "rqm/s": ("merges_per_s", 1),
    **{
        f"{letter}kB/s": (f"{op}_bytes_per_s", KIB)
        for letter, op in zip("rwd", ("read", "write", "discard"), strict=True)
    },
    **{
        f"{letter}MB/s": (f"{op}_bytes_per_s", MIB)
        for letter, op in zip("rwd", ("read", "write", "discard"), strict=True)
    },
    "rsec/s": ("read_bytes_per_s", SECTOR),
    "wsec/s": ("write_bytes_per_s", SECTOR),
    "rd_sec/s": ("read_bytes_per_s", SECTOR),
    "wr_sec/s": ("write_bytes_per_s", SECTOR),
    "bread/s": ("read_bytes_per_s", SECTOR),
    "bwrtn/s": ("write_bytes_per_s", SECTOR),
    "bdscd/s": ("discard_bytes_per_s", SECTOR),
    "kB/s": ("bytes_per_s", KIB),
    "MB/s": ("bytes_per_s", MIB),
    "sec/s": ("bytes_per_s", SECTOR),
    "kB_read/s": ("read_bytes_per_s", KIB),
    "kB_wrtn/s": ("write_bytes_per_s", KIB),
    "kB_dscd/s": ("discard_bytes_per_s", KIB),
    "MB_read/s": ("read_bytes_per_s", MIB),
    "MB_wrtn/s": ("write_bytes_per_s", MIB),
    "MB_dscd/s": ("discard_bytes_per_s", MIB),
    "Blk_read/s": ("read_bytes_per_s", SECTOR),
    "Blk_wrtn/s": ("write_bytes_per_s", SECTOR),
    "avgrq-sz": ("size_bytes", SECTOR),
    "areq-sz": ("size_bytes", KIB),
    "rareq-sz": ("read_size_bytes", KIB),
    "wareq-sz": ("write_size_bytes", KIB),
    "dareq-sz": ("discard_size_bytes", KIB),
    "avgqu-sz": ("queue_mean", 1),
    "aqu-sz": ("queue_mean", 1),
    "await": ("await_ns", MS_NS),
    "r_await": ("read_await_ns", MS_NS),
    "w_await": ("write_await_ns", MS_NS),
    "d_await": ("discard_await_ns", MS_NS),
    "f_await": ("flush_await_ns", MS_NS),
    "%util": ("util_percent", 1),
    "util": ("util_percent", 1),
    # Totals since boot, shares of merges, and svctm, which never meant what its name says.
    **dict.fromkeys(
        ("kB_read", "kB_wrtn", "kB_dscd", "MB_read", "MB_wrtn", "MB_dscd", "Blk_read", "Blk_wrtn"), ("", 0)
    ),
    **dict.fromkeys(("%rrqm", "%wrqm", "%drqm", "%rqm", "rrqm", "wrqm", "drqm", "svctm"), ("", 0)),
}
_HUMAN = {"k": KIB, "M": MIB, "G": 1 << 30, "T": 1 << 40}
_SYSTEM = re.compile(
    r"^(?P<system>\w+) (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)(?:\s+\S+)?(?:\s+\((?P<cpus>\d+) CPU\))?"
)
LITTLE_SLACK = 0.2  # columns are printed with two decimals
LITTLE_LEAST = 0.1  # requests in the queue; less is all rounding
SYNTHETIC_NS = 1_000_000_000


class Report(Struct, frozen=True):
    """One report: a moment ("" when it is not stated) and, for each device, its metrics."""

    stamp: str
    devices: dict[str, dict[str, float]]


def host_of(line: str) -> Host | None:
    """The machine of the first line of both tools."""
    found = _SYSTEM.match(line)
    if not found:
        return None
    return Host(
        name=found["host"],
        kernel=f"{found['system']} {found['release']}",
        cpus=int(found["cpus"] or 0),
        cpu_model="",
        memory_bytes=0,
    )


def metrics(path: str, at: int, names: Sequence[str], values: Sequence[str]) -> dict[str, float]:
    """The columns of one device. Raises SourceError for a column that is not known or a value that is no number."""
    found = {}
    for name, text in zip(names, values, strict=True):
        if name not in COLUMNS:
            raise refuse(path, at, f'a column "{name}", which is not known')
        metric, factor = COLUMNS[name]
        if factor:
            found[metric] = value_of(path, at, name, text, factor)
    return found


def value_of(path: str, at: int, name: str, text: str, factor: float) -> float:
    """A value with the factor of its column; in --human output the suffix says the unit instead."""
    shown = text.replace(",", ".").removesuffix("%")  # a decimal comma: there are no thousands in these tools
    if shown[-1:] in _HUMAN and factor in (SECTOR, KIB, MIB):
        shown, factor = shown[:-1], _HUMAN[shown[-1:]]
    try:
        value = float(shown)
    except ValueError:
        raise refuse(path, at, f'{name} is "{text[:40]}", not a number') from None
    if not 0 <= value <= LARGEST_NUMBER:
        raise refuse(path, at, f"{name} is {text[:40]}: the counter went back or was reset there")
    return value * factor


def samples(observer: str, reports: Sequence[Report]) -> tuple[tuple[Sample, ...], bool]:
    """The reports as samples; False when their moments are not stated and they are numbered instead."""
    seconds = list(_seconds([report.stamp for report in reports]))
    timed = bool(seconds)
    seconds = seconds or [float(place) for place in range(len(reports))]
    return tuple(
        Sample(round(second * SYNTHETIC_NS), observer, device, metric, value)
        for second, report in zip(seconds, reports, strict=True)
        for device, found in report.devices.items()
        for metric, value in found.items()
    ), timed


_CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)[:.](\d\d)\s*([AP]M)?")


def _seconds(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp: by the time of day, since dates are written as each locale likes."""
    clocks = [_CLOCK.search(stamp) for stamp in stamps]
    if not all(clocks):
        return
    first = previous = days = 0
    for place, found in enumerate(clocks):
        assert found is not None
        hour = int(found[1]) % 12 + (12 if found[4] == "PM" else 0) if found[4] else int(found[1])
        now = hour * 3600 + int(found[2]) * 60 + int(found[3])
        if not place:
            first = previous = now
        days += now < previous
        previous = now
        yield float(now - first + days * 86_400)


def observation(name: str, observer: str, reports: Sequence[Report]) -> tuple[Row, list[str]]:
    """A phase without load that holds the samples, and what does not go together in them."""
    found, timed = samples(observer, reports)
    span_ns = max((sample.time_ns for sample in found), default=0)
    warnings = [] if timed else ["The moments of the reports are not stated: they are numbered, a second for each."]
    warnings += _little(reports)
    row = Row(
        name=name,
        test=observer,
        ops=(),
        elapsed_ns=span_ns,
        arrival=Closed(),
        samples=found,
        role="probe",
        derived=() if timed else ("length",),
    )
    return row, warnings


def _little(reports: Sequence[Report]) -> Iterator[str]:
    """Little's law: requests in the queue are rate x await, over all reports."""
    kinds = ("read", "write", "discard", "flush")
    for device in dict.fromkeys(device for report in reports for device in report.devices):
        seen = [report.devices[device] for report in reports if device in report.devices]
        queue = math.fsum(each.get("queue_mean", 0.0) for each in seen) / len(seen)
        if "await_ns" in seen[0] and "ios_per_s" in seen[0]:
            made = math.fsum(each["ios_per_s"] * each["await_ns"] for each in seen)
        elif "read_await_ns" in seen[0] and "reads_per_s" in seen[0]:
            rates = ("reads_per_s", "writes_per_s", "discards_per_s", "flushes_per_s")
            made = math.fsum(
                each.get(rate, 0.0) * each.get(f"{kind}_await_ns", 0.0)
                for each in seen
                for kind, rate in zip(kinds, rates, strict=True)
            )
        else:
            continue
        made /= len(seen) * 1e9
        if max(queue, made) > LITTLE_LEAST and abs(queue - made) > LITTLE_SLACK * max(queue, made):
            yield f"{device}: rate x await makes {made:.2g} requests in the queue, its own column says {queue:.2g}"
