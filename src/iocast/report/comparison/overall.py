"""What a comparison comes to: how its sides are called, what moved most, one overall ratio, how many figures moved."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from iocast import text
from iocast.analyse.comparison import Ratio, ab_ratio, median_of
from iocast.diagnose.comparable import Pair, Side
from iocast.model.report import Cell, Column, Row, Table
from iocast.report.comparison.compared_values import STATISTICS, throughput, values

Way = Literal["better", "worse", "same", "undecided"]
WAYS: tuple[Way, ...] = ("better", "worse", "same", "undecided")
SHOWN = ("throughput", "p99")  # the figures that are counted
NOTE = (
    "Overall: the geometric mean of the throughput ratios of all compared rows (95% interval where there are repeats)."
)


def called(sides: Sequence[Side]) -> tuple[Side, ...]:
    """The sides named by target, or by job, where these tell them apart; else as they are."""
    targets, jobs = [_target(side) for side in sides], [_job(side) for side in sides]
    both = [f"{target}, {job}" for target, job in zip(targets, jobs, strict=True)]
    names = next((each for each in (targets, jobs, both) if len({*each}) == len(each)), None)
    if names is None:
        return tuple(sides)
    return tuple(replace(side, label=name) for side, name in zip(sides, names, strict=True))


def title(sides: Sequence[Side]) -> str:
    """What they have in common, then what they are called: "Comparison · card quick · /mnt/a and /mnt/b"."""
    targets, jobs = {_target(side) for side in sides}, {_job(side) for side in sides}
    job, target = (each.pop() if len(each) == 1 else "" for each in (jobs, targets))
    shared = f"{job} on {target}" if job and target else job or target
    names = [side.label for side in sides]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return " · ".join(filter(None, ("Comparison", shared, listed)))


def _target(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.target.path for run in side.runs))


def _job(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.name for run in side.runs))


def most_moved_first(rows: Iterable[Pair]) -> tuple[Pair, ...]:
    """Rows by how far throughput or p99 moved, the furthest first; those that are not compared last."""
    return tuple(sorted(rows, key=_moved, reverse=True))


def _moved(pair: Pair) -> float:
    if pair.why_not:
        return -1.0
    moves = [0.0]
    for what, figure, _, _ in STATISTICS:
        first, other = values(pair.first, figure), values(pair.other, figure)
        if what in SHOWN and first and other:
            moves.append(abs(math.log(median_of(other) / median_of(first))))
    return max(moves)


def way(found: Ratio, *, more_is_better: bool) -> Way:
    """What a ratio means for the other side."""
    if found.verdict == "equivalent":
        return "same"
    if found.verdict == "inconclusive":
        return "undecided"
    return "better" if (found.ratio > 1) == more_is_better else "worse"


def overall_ratio(rows: Iterable[Pair]) -> Ratio | None:
    """The geometric mean of the throughputs of all compared rows, the other side over the first.

    Each run of a side gives one mean over its rows, so that what rows share, such as a slow hour, is in the interval.
    """
    known = [pair for pair in rows if not pair.why_not]
    first = _means([values(pair.first, throughput) for pair in known])
    other = _means([values(pair.other, throughput) for pair in known])
    return ab_ratio(first, other) if first and other else None


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """One mean a run, of the rows that all have one value of each run."""
    runs = max(map(len, rows), default=0)
    whole = [row for row in rows if len(row) == runs]
    if not runs:
        return []
    return [math.exp(math.fsum(math.log(row[at]) for row in whole) / len(whole)) for at in range(runs)]


def overall_table(ratio: Ratio | None, ways: Counter[Way]) -> Table:
    """The ratio and the counts, in a line."""
    cells: dict[str, Cell] = {
        "ratio": "" if ratio is None else text.ratio(ratio.ratio, ratio.low, ratio.high),
        "ratio_value": None if ratio is None else ratio.ratio,
        "ratio_low": None if ratio is None else ratio.low,
        "ratio_high": None if ratio is None else ratio.high,
        **{each: ways[each] for each in WAYS},
    }
    columns = (Column("ratio", "overall throughput"), *(Column(each, each, "count") for each in WAYS))
    return Table("", columns, (Row(cells),), key="overall", notes=(NOTE,))
