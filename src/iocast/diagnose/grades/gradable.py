"""Which rows of a run a letter may be judged from: their kind, their load, the knee of their curve."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from iocast.analyse.facts import Facts, RowFacts, point
from iocast.analyse.ladder import Curve
from iocast.analyse.load_kind import is_open_loop, only, waits_for_the_device
from iocast.model.codes import AspectCode, StatisticCode
from iocast.model.grading import Graded
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, Sequential, Uniform, Zipf

KIB = 1 << 10
SMALL_FROM, SMALL_TO = 4 * KIB, 16 * KIB  # pages of databases
LARGE_FROM = 128 * KIB  # what scans and backups read in one I/O
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
    """Large sequential reads as fast as they go: a rate that was asked for, or a pause, is not the storage's limit."""
    size, load = only_size(record), record.phase.workload
    sequential = isinstance(load.locality, Sequential) and load.arrival == Closed()
    return only(record, "read") and size is not None and size >= LARGE_FROM and sequential


def by_load(facts: Facts, kind: Callable[[PhaseRecord], bool]) -> Curve:
    """The rows of a kind that did anything, of the size that has most of them and of the largest place of that size, by
    load; repeats are all kept.
    """
    rows = [row for row in facts.rows if kind(row.record) and row.measurement.ios and _is_stated(row)]
    sizes = [only_size(row.record) for row in rows]
    common = max(dict.fromkeys(sizes), key=sizes.count, default=None)
    same = [row for row in rows if only_size(row.record) == common]
    place = max(map(_place, same), default=None)
    same = [row for row in same if _place(row) == place]
    # What ran beside others says less; where nothing ran alone, it is said of the letter.
    apart = [row for row in same if not row.record.phase.together] or same
    return Curve(tuple(point(row) for row in sorted(apart, key=lambda row: row.measurement.asked_depth)))


def _place(row: RowFacts) -> tuple[int, int]:
    """The part of the data that a row goes over, the whole of it above all parts."""
    phase = row.record.phase
    return (phase.region_size_bytes or sys.maxsize, -phase.region_start_bytes)


def _is_stated(row: RowFacts) -> bool:
    """False for an imported row whose source does not say how many I/Os were outstanding, or how long they took."""
    return {"users", "depth"}.isdisjoint(row.record.unstated) and not math.isnan(row.mean_ns)


def up_to_knee(curve: Curve) -> tuple[PhaseRecord, ...]:
    """The rows whose load is not beyond the knee, the least load always."""
    return curve.below(curve.saturation_load * KNEE_SLACK).rows


def mixed_thirty(record: PhaseRecord) -> bool:
    """Small random I/O of 70 % reads and 30 % writes (give or take five)."""
    workload = record.phase.workload
    weights = {op: sum(i.weight for i in workload.mix if i.op == op) for op in ("read", "write")}
    all_weights = sum(item.weight for item in workload.mix)
    share = weights["write"] / all_weights if all_weights else 0.0
    return small(record) and 0.25 <= share <= 0.35 and isinstance(workload.locality, (Uniform, Zipf))
