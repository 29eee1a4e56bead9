"""Does the load of neighbours on the same drives vary over time?

What it is: one random read every second, which disturbs no other user, for an hour or a day.
Why it matters: shared storage is fast at night and slow in the morning; a test of ten minutes sees only part of
one hour.
How it shows: some stretches of time are slower than others by more than chance.
How to confirm: an analysis of variance between the stretches, on logarithms (p below 0.01), and means that vary by more
than a tenth.
What to change: find out who else uses these drives; measure in the worst hour; give the database dedicated drives.
"""

from __future__ import annotations

import math
from itertools import pairwise

from iocast._core import f_survival
from iocast.analyse.comparison import variation
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_rows import MIB, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.plan import Phase
from iocast.model.results.experiments import StretchRow
from iocast.model.run import Run
from iocast.model.workload import Constant
from iocast.text import brief_percent, brief_time, counted

NAME = "probe"
WRITES = False
DEFAULTS = Defaults(size_bytes=1024 * MIB, seconds=3600.0, rounds=1)
PER_S = 1.0
STRETCHES, LEAST = 24, 10  # at the most; reads in each, at the least
CHANCE, VARIES = 0.01, 0.10  # source row K8, 2


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """One phase; what was seen until it is stopped is kept."""
    load = work("read", setup.block_bytes, arrival=Constant(PER_S), direct=setup.target.direct is not False)
    return (row("probe", 1, load, seconds=setup.seconds),)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Whether stretches of time differ by more than chance."""
    run = runs[0]
    times = [
        (at * each.series.interval_ns, mean / ios)
        for each in run.measured
        for at, (ios, mean) in enumerate(zip(each.series.ios, each.series.response_ns, strict=True))
        if ios
    ]
    stretches = _cut(times)
    rows = tuple(map(_row, stretches))
    if len(stretches) < 3:
        says = f"Too few reads to compare stretches of time: {len(times):,}; run it for longer with --time."
        return Ruling(verdict="undecided", says=says, rows=rows)
    means = [math.fsum(t for _, t in each) / len(each) for each in stretches]
    varies = variation(means) or 0.0
    chance = _chance([[math.log(t) for _, t in each] for each in stretches])
    quick, slow = min(means), max(means)
    said = (
        f"{counted(len(times), 'read')} in {len(stretches)} stretches: means from {brief_time(quick)} to"
        f" {brief_time(slow)}, "
        f"which vary by {brief_percent(varies)} (p {chance:.2g})."
    )
    if chance < CHANCE and varies > VARIES:
        return Ruling(verdict="confirmed", says=f"{said} Other I/O on these drives varies over time.", rows=rows)
    return Ruling(verdict="rejected", says=f"{said} No stretch was slower than others beyond chance.", rows=rows)


Reading = tuple[int, float]


def _cut(times: list[Reading]) -> list[list[Reading]]:
    """Stretches of the same number of reads."""
    number = min(STRETCHES, len(times) // LEAST)
    if not number:
        return [times] if times else []
    edges = [round(at * len(times) / number) for at in range(number + 1)]
    return [times[low:high] for low, high in pairwise(edges)]


def _row(stretch: list[Reading]) -> StretchRow:
    ordered = sorted(t for _, t in stretch)
    return StretchRow(
        from_ns=stretch[0][0],
        reads=len(ordered),
        mean_ns=math.fsum(ordered) / len(ordered),
        p50_ns=ordered[len(ordered) // 2],
        p95_ns=ordered[min(len(ordered) - 1, math.ceil(0.95 * len(ordered)) - 1)],
        max_ns=ordered[-1],
    )


def _chance(groups: list[list[float]]) -> float:
    """How likely means so different are by chance: the F test of groups; 1 where nothing varies."""
    total = [value for group in groups for value in group]
    mean = math.fsum(total) / len(total)
    of = [math.fsum(group) / len(group) for group in groups]
    between = math.fsum(len(group) * (each - mean) ** 2 for group, each in zip(groups, of, strict=True))
    within = math.fsum((value - each) ** 2 for group, each in zip(groups, of, strict=True) for value in group)
    free = (len(groups) - 1, len(total) - len(groups))
    if not within:
        return 0.0 if between else 1.0
    return f_survival((between / free[0]) / (within / free[1]), *free)
