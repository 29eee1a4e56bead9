"""The rows of a named experiment: phases as it asks for them, and their figures over all rounds."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import geometric_mean
from typing import Any

from msgspec import Struct

from iocast.analyse.comparison import median_of
from iocast.analyse.facts import Facts
from iocast.model.histogram import merge
from iocast.model.plan import Length, Phase
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Locality, MixItem, Op, Uniform, Workload

MIB = 1 << 20


def work(op: Op, size_bytes: int, where: Locality | None = None, **changes: Any) -> Workload:
    """A workload of one operation and size, at random places where nothing else is said."""
    return Workload(mix=(MixItem(op, size_bytes),), locality=where or Uniform(), **changes)


def row(
    test: str,
    round_: int | str,
    workload: Workload,
    *,
    seconds: float | None = None,
    moved_bytes: int | None = None,
    ios: int | None = None,
    start: int = 0,
    size: int | None = None,
    **changes: Any,
) -> Phase:
    """One phase of a test, in one round."""
    return Phase(
        name=f"{test} ({round_})",
        test=test,
        workload=workload,
        length=Length(seconds=seconds, bytes=moved_bytes, ios=ios),
        region_start_bytes=start,
        region_size_bytes=size,
        **changes,
    )


def in_turns(tests: Iterable[Phase], rounds: int) -> tuple[Phase, ...]:
    """The same phases in every round, forth and back, so that what drifts falls on all of them."""
    from msgspec.structs import replace

    once = tuple(tests)
    orders = ((once if at % 2 else tuple(reversed(once))) for at in range(1, rounds + 1))
    return tuple(replace(each, name=f"{each.test} ({at})") for at, order in enumerate(orders, 1) for each in order)


class Figures(Struct, frozen=True, kw_only=True):
    """A test over all its rounds: geometric means of the rounds, as they are compared; percentiles of all I/Os."""

    rounds: int
    ios: int
    rate_per_s: float
    bytes_per_s: float
    mean_ns: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    depth_mean: float


def records(run: Run, test: str) -> tuple[PhaseRecord, ...]:
    """The measured phases of a test in which anything was done."""
    return tuple(each for each in run.measured if each.phase.test == test and each.measurement.ios)


def tests(run: Run) -> tuple[str, ...]:
    """The tests that have a result, in the order in which they first ran."""
    return tuple(dict.fromkeys(each.phase.test for each in run.measured if each.measurement.ios))


def figures(run: Run, test: str) -> Figures | None:
    """None when no round of the test has a result."""
    rows = records(run, test)
    if not rows:
        return None
    did = [each.measurement for each in rows]
    times = merge(each.response() for each in did)
    return Figures(
        rounds=len(rows),
        ios=sum(each.ios for each in did),
        rate_per_s=_middle(each.rate_per_s for each in did),
        bytes_per_s=_middle(each.bytes_per_s for each in did),
        mean_ns=_middle(each.response().mean_ns for each in did),
        p50_ns=times.quantile_ns(0.50),
        p95_ns=times.quantile_ns(0.95),
        p99_ns=times.quantile_ns(0.99),
        depth_mean=median_of([each.depth_mean for each in did]),
    )


def every_figures(run: Run) -> dict[str, Figures]:
    """Those of all tests that have a result, in the order in which they first ran."""
    return {test: row_figures for test in tests(run) if (row_figures := figures(run, test)) is not None}


def _middle(values: Iterable[float]) -> float:
    """The geometric mean; 0 where a round has nothing."""
    ordered = list(values)
    return geometric_mean(ordered) if min(ordered) > 0 else 0.0


def device_share(run: Run, test: str, op: Op) -> float | None:
    """Bytes that the device moved over bytes that the test asked for, the median of all rounds; None when unseen."""
    facts = Facts(run)
    rows = map(facts.row, records(run, test))
    shares = [share[0] for each in rows if (share := each.share_of_device(op)) is not None]
    return median_of(shares) if shares else None
