"""Which rows of a run a letter may be judged from: their kind, their load, the knee of their curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from iocast.diagnose.evidence import is_open_loop, waits_for_the_device
from iocast.diagnose.pairs import only
from iocast.model.codes import AspectCode, StatisticCode
from iocast.model.grading import Graded
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Sequential, Uniform, Zipf

KIB = 1 << 10
SMALL_FROM, SMALL_TO = 4 * KIB, 16 * KIB  # pages of databases
LARGE_FROM = 128 * KIB  # what scans and backups read at once
KNEE_SLACK = 1.25  # a load this much beyond the knee still counts as at it: loads are measured in steps [J]


def ungraded(
    code: AspectCode, why_not: str, phases: tuple[str, ...] = (), statistic: StatisticCode | None = None
) -> Graded:
    """An aspect without a letter; `why_not` ends with a full stop."""
    says = f"Not graded: {why_not}"
    return Graded(code=code, letter=None, says=says, phases=phases, statistic=statistic, why_not=why_not)


def only_size(record: PhaseRecord) -> int | None:
    """The one size of the row's reads and writes; None when it has several."""
    sizes = {item.size_bytes for item in record.phase.workload.mix if item.size_bytes}
    return sizes.pop() if len(sizes) == 1 else None


def small(record: PhaseRecord) -> bool:
    """True for I/Os of 4 to 16 KiB."""
    size = only_size(record)
    return size is not None and SMALL_FROM <= size <= SMALL_TO


def random_reads(record: PhaseRecord) -> bool:
    """Small random reads in a closed loop, and nothing else."""
    workload = record.phase.workload
    return (
        only(record, "read")
        and small(record)
        and isinstance(workload.locality, (Uniform, Zipf))
        and not is_open_loop(record)
    )


def commits(record: PhaseRecord) -> bool:
    """Small durable appends of a single writer."""
    workload = record.phase.workload
    return (
        waits_for_the_device(record)
        and small(record)
        and isinstance(workload.locality, Sequential)
        and workload.asked_depth == 1
    )


def scans(record: PhaseRecord) -> bool:
    """Large sequential reads."""
    size = only_size(record)
    sequential = isinstance(record.phase.workload.locality, Sequential)
    return only(record, "read") and size is not None and size >= LARGE_FROM and sequential


def by_load(run: Run, kind: Callable[[PhaseRecord], bool]) -> tuple[PhaseRecord, ...]:
    """The rows of a kind that did anything, of the size that has most of them, by load."""
    found = [record for record in run.measured if kind(record) and record.measurement.ios and _is_stated(record)]
    sizes = [only_size(record) for record in found]
    common = max(dict.fromkeys(sizes), key=sizes.count, default=None)
    same = [record for record in found if only_size(record) == common]
    # What ran beside others says less; where nothing ran alone, it is said of the letter.
    apart = [record for record in same if not record.phase.together] or same
    return tuple(sorted(apart, key=lambda record: record.measurement.asked_depth))


def _is_stated(record: PhaseRecord) -> bool:
    """False for an imported row whose source does not say how much was in flight, or how long it took."""
    return {"users", "depth"}.isdisjoint(record.unstated) and not math.isnan(record.measurement.response().mean_ns)


def knee_depth(rows: Iterable[PhaseRecord]) -> float:
    """N* of operational analysis: the most that was ever done a second times the time when alone.

    Up to about this many I/Os in flight the device answers side by side; beyond, they only wait.
    """
    rows = tuple(rows)
    alone = min(rows, key=lambda record: record.measurement.asked_depth).measurement
    most = max(record.measurement.rate_per_s for record in rows)
    return most * alone.response().mean_ns / 1e9


def up_to_knee(rows: tuple[PhaseRecord, ...]) -> tuple[PhaseRecord, ...]:
    """The rows whose load is not beyond the knee, the least load always."""
    knee = knee_depth(rows) * KNEE_SLACK
    return tuple(record for at, record in enumerate(rows) if not at or record.measurement.asked_depth <= knee)


def mixed_thirty(record: PhaseRecord) -> bool:
    """Small random I/O of 70 % reads and 30 % writes (give or take five)."""
    workload = record.phase.workload
    weights = {op: sum(i.weight for i in workload.mix if i.op == op) for op in ("read", "write")}
    all_weights = sum(item.weight for item in workload.mix)
    share = weights["write"] / all_weights if all_weights else 0.0
    return small(record) and 0.25 <= share <= 0.35 and isinstance(workload.locality, (Uniform, Zipf))
