"""Long sequential runs that come again: table scans, backups, a log that is written."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, median, pstdev

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.profiling.characteristics import RUN_POWER, Run
from iocast.model.profiling.profile import Profile

LEAST_BYTES = 1 << 20  # of a run that is a scan [J]
REGULAR = 0.25  # coefficient of variation of the times between starts, up to which they have a period [J]
STARTS = 4  # from which a period is told [J]
ALIKE = 4.0  # runs whose bytes differ by at most this factor are one kind [J]


class Scan(Struct, frozen=True):
    """Runs of one operation on one target, about as long. `period_ns`: between their starts, where it is regular."""

    op: int
    target: int
    runs: int
    bytes: float  # of one, the median
    requests: float
    request_bytes: float
    duration_ns: float | None
    period_ns: float | None
    total_bytes: float  # of all, also of those that are not told one by one
    all_told: bool = True  # False: there are more runs than `runs`


def scans(profile: Profile) -> tuple[Scan, ...]:
    """The scans, those that moved most first."""
    groups: dict[tuple[int, int], list[Run]] = {}
    for run in profile.order.streams.longest:
        if run.bytes >= LEAST_BYTES:
            groups.setdefault((run.op, run.target), []).append(run)
    scan_list = [_scan(alike) for runs in groups.values() for alike in _alike(runs)]
    if not profile.order.streams.all_told:
        scan_list = [_of_more(profile, scan) for scan in scan_list]
    return tuple(sorted(scan_list, key=lambda scan: -scan.total_bytes))


def _of_more(profile: Profile, scan: Scan) -> Scan:
    """A scan of which only the longest runs are told: more of them are like it, and their period is unknown."""
    facts = profile.order.streams.of(scan.op)
    scanned = sum(run.bytes for run in profile.order.streams.longest if run.op == scan.op)
    moved = sum(facts.bytes_by_requests[RUN_POWER:]) if facts else scanned
    total = scan.total_bytes * max(1.0, moved / scanned)
    return replace(scan, period_ns=None, total_bytes=total, all_told=False)


def _alike(runs: list[Run]) -> list[list[Run]]:
    """Runs in groups of about the same length, the longest first."""
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -run.bytes):
        if groups and groups[-1][0].bytes <= ALIKE * run.bytes:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _scan(runs: list[Run]) -> Scan:
    lengths = [run.end_ns - run.start_ns for run in runs if run.start_ns is not None and run.end_ns is not None]
    return Scan(
        op=runs[0].op,
        target=runs[0].target,
        runs=len(runs),
        bytes=median(run.bytes for run in runs),
        requests=median(run.requests for run in runs),
        request_bytes=sum(run.bytes for run in runs) / sum(run.requests for run in runs),
        duration_ns=median(lengths) if lengths else None,
        period_ns=_period(sorted(run.start_ns for run in runs if run.start_ns is not None)),
        total_bytes=sum(run.bytes for run in runs),
    )


def _period(starts: list[int]) -> float | None:
    gaps = [other - one for one, other in pairwise(starts)]
    if len(starts) < STARTS or fmean(gaps) <= 0 or pstdev(gaps) > REGULAR * fmean(gaps):
        return None
    return median(gaps)
